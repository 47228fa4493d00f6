"""The whole site, kept in JOBDIR; a line of JSON for each page that was parsed.

    python3 -m scrapy runspider scrapy_site.py -a url=URL -s JOBDIR=job -s CONCURRENT_REQUESTS=16 …
"""
import json

import scrapy


class Site(scrapy.Spider):
    name = "site"

    def start_requests(self):
        yield scrapy.Request(self.url)  # not start_urls, whose pages are fetched again at each start

    def parse(self, response):
        print(json.dumps({"url": response.url}), flush=True)
        yield from response.follow_all(css="a")

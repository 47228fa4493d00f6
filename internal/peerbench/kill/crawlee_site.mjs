// The whole site, kept in the folder ./storage; a line of JSON for each page that was handled.
//
//   node crawlee_site.mjs URL CONCURRENCY
import { writeSync } from 'node:fs';
import { CheerioCrawler, Configuration, log } from 'crawlee';

const [url, c] = process.argv.slice(2);
log.setLevel(log.LEVELS.ERROR);
const crawler = new CheerioCrawler({
  minConcurrency: Number(c),
  maxConcurrency: Number(c),
  async requestHandler({ request, enqueueLinks }) {
    await enqueueLinks();
    writeSync(1, `${JSON.stringify({ url: request.url })}\n`);
  },
}, new Configuration({ purgeOnStart: false }));
await crawler.run([url]);

package main

import (
	"errors"
	"fmt"
	"strings"
)

// lowerBound is the kit's row of a bare socket loop with a byte scan and a seen set.
const lowerBound = "crawl:raw+scan+fast"

var points = []point{
	{"first-crawl.2", []step{
		{scenarios: []string{"s1"}, rounds: "7", out: "one"},
		{scenarios: []string{"s1"}, rounds: "7", out: "two", env: []string{"PIN=0", "CLIENTS=seine seine-mid seine-slow"}},
	}, wholeCrawl},
	{"first-crawl.3", []step{
		{scenarios: []string{"exchange"}, rounds: "3", out: "exchange"},
		{scenarios: []string{"s6"}, rounds: "1", out: "links"},
	}, exchangeAndLinks},
	enginePoint,
	extractionPoint,
	durablePoint,
}

// wholeCrawl: every page exactly once, on one core and on two; at most four times the lower bound's CPU.
func wholeCrawl(r results) (string, error) {
	var text strings.Builder
	var faults []error
	for _, cpus := range []string{"pinned", "free"} {
		for _, peer := range []string{"seine", "seine-mid", "seine-slow"} {
			ours, err := r.find("S1", row{"peer": peer, "cpus": cpus})
			if err != nil {
				return text.String(), err
			}
			if ours.num("exactly_once_min") != 1 || ours.num("duplicates_max") != 0 || ours.num("errors_max") != 0 {
				faults = append(faults, fmt.Errorf("%s, %s: not every page exactly once", peer, cpus))
			}
		}
	}
	low, err := r.find("S1", row{"peer": lowerBound, "cpus": "pinned"})
	if err != nil {
		return "", err
	}
	ours, _ := r.find("S1", row{"peer": "seine", "cpus": "pinned"})
	ratio := ours.num("cpu_us_per_page") / low.num("cpu_us_per_page")
	fmt.Fprintf(&text, "every page exactly once on one core and on two; %.1f µs a page and %.0f allocations, %.2f × the lower bound (%.1f µs)",
		ours.num("cpu_us_per_page"), ours.num("allocs_per_page"), ratio, low.num("cpu_us_per_page"))
	for _, pair := range [][2]string{{"seine-mid", "colly"}, {"seine-mid", "wget2"}, {"seine-slow", "scrapy"}, {"seine-slow", "crawlee-http"}} {
		ours, _ := r.find("S1", row{"peer": pair[0], "cpus": "pinned"})
		if peer, err := r.find("S1", row{"peer": pair[1], "cpus": "pinned"}); err == nil {
			fmt.Fprintf(&text, "; 1/%.1f of %s (%.0f µs)", peer.num("cpu_us_per_page")/ours.num("cpu_us_per_page"), pair[1], peer.num("cpu_us_per_page"))
		}
	}
	if ratio > 4 {
		faults = append(faults, fmt.Errorf("more than 4 × the lower bound"))
	}
	return text.String(), errors.Join(faults...)
}

// mostOfTokenizer is the bar of the link pass, 15 µs where the tokenizer takes 121, as a ratio: machines differ.
const mostOfTokenizer = 15.0 / 121

// exchangeAndLinks: an exchange beside net/http, the link pass beside the tokenizer.
func exchangeAndLinks(r results) (string, error) {
	var text strings.Builder
	var faults []error
	for _, size := range []int{2048, 20480} {
		ours, err := r.find("exchange", row{"client": "seine", "bytes": size})
		if err != nil {
			return "", err
		}
		std, err := r.find("exchange", row{"client": "nethttp", "bytes": size})
		if err != nil {
			return "", err
		}
		user, total := ours.num("user_us")/std.num("user_us"), ours.num("cpu_us")/std.num("cpu_us")
		fmt.Fprintf(&text, "%d KB: user %.1f µs = %.2f, total %.1f µs = %.2f of net/http, %.0f allocations; ",
			size>>10, ours.num("user_us"), user, ours.num("cpu_us"), total, ours.num("allocs"))
		if user > 0.6 || total > 0.75 || ours.num("allocs") > 20 {
			faults = append(faults, fmt.Errorf("%d bytes: beyond 0.6 of the user time, 0.75 of the total, or 20 allocations", size))
		}
	}
	ours, err := r.find("S6b", row{"case": "seine links"})
	if err != nil {
		return text.String(), err
	}
	tok, err := r.find("S6b", row{"case": "tokenizer, all attributes"})
	if err != nil {
		return text.String(), err
	}
	ratio := ours.num("us_per_page") / tok.num("us_per_page")
	fmt.Fprintf(&text, "link pass %.1f µs and %.0f allocations, %.3f of the tokenizer's %.1f µs",
		ours.num("us_per_page"), ours.num("allocs"), ratio, tok.num("us_per_page"))
	if ratio > mostOfTokenizer {
		faults = append(faults, fmt.Errorf("the link pass takes more than %.3f of the tokenizer's time", mostOfTokenizer))
	}
	return text.String(), errors.Join(faults...)
}

package main

import (
	"errors"
	"fmt"
	"strings"
)

// goqueryLoop is the kit's row of net/http and goquery in a bare loop that takes five fields of each page.
const goqueryLoop = "crawl:nethttp+goquery+fields"

var extractionPoint = point{"extraction.3", []step{
	{scenarios: []string{"s1x"}, rounds: "7", out: "fields", env: []string{"CLIENTS=" + goqueryLoop + " seine colly seine-mid"}},
}, crawlWithFields}

// crawlWithFields: a crawl that takes five fields of each page, beside the same by hand. The kit compares the values with
// those of its site: a row in which some are missing or wrong has no figures.
func crawlWithFields(r results) (string, error) {
	var text []string
	var faults []error
	for _, b := range []struct {
		ours, peer string
		most       float64
	}{{"seine", goqueryLoop, 1.25}, {"seine-mid", "colly", 0.5}} {
		ours, err := r.find("S1x", row{"peer": b.ours})
		if err != nil {
			return strings.Join(text, "; "), err
		}
		peer, err := r.find("S1x", row{"peer": b.peer})
		if err != nil {
			return strings.Join(text, "; "), err
		}
		mine, theirs := ours.num("cpu_us_per_page"), peer.num("cpu_us_per_page")
		text = append(text, fmt.Sprintf("%s %.0f µs and %.0f allocations a page = %.2f of %s (%.0f µs, %.0f)",
			b.ours, mine, ours.num("allocs_per_page"), mine/theirs, b.peer, theirs, peer.num("allocs_per_page")))
		for _, one := range []row{ours, peer} {
			if why, _ := one["note"].(string); why != "" || one.num("cpu_us_per_page") == 0 {
				faults = append(faults, fmt.Errorf("%v: %s", one["peer"], why))
			}
		}
		if ours.num("exactly_once_min") != 1 {
			faults = append(faults, fmt.Errorf("%s: not every page exactly once", b.ours))
		}
		if mine > b.most*theirs {
			faults = append(faults, fmt.Errorf("%s takes more than %.2f of %s", b.ours, b.most, b.peer))
		}
	}
	return strings.Join(text, "; "), errors.Join(faults...)
}

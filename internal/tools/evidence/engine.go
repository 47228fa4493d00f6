package main

import (
	"errors"
	"fmt"
	"strings"
)

var enginePoint = point{"engine.2", []step{
	{scenarios: []string{"s1"}, rounds: "7", out: "s1"},
	{scenarios: []string{"s2", "s2b", "s2p"}, rounds: "3", out: "s2"},
	{scenarios: []string{"s2a"}, rounds: "1", out: "s2a"},
	{scenarios: []string{"s4", "s5"}, rounds: "1", out: "parts"},
}, engineBars}

// bar is what a figure of ours must not pass.
type bar struct {
	scenario    string
	ours, peer  row // whose figures are compared; without a peer it is the figure itself
	field, name string
	most        float64 // of ours / peer, or of ours
	least       float64
}

// Bars are ratios to a row of the same run, since absolute figures are those of one machine: where the budgets state an
// absolute figure, it is divided by the one of the row it stands beside there.
var engineRows = []bar{
	{scenario: "S1", ours: row{"peer": "seine"}, peer: row{"peer": lowerBound}, field: "cpu_us_per_page", name: "CPU beside the lower bound", most: 2.4},
	{scenario: "S1", ours: row{"peer": "seine-mid"}, peer: row{"peer": "colly"}, field: "cpu_us_per_page", name: "CPU beside colly", most: 1.0 / 15},
	{scenario: "S1", ours: row{"peer": "seine"}, field: "allocs_per_page", name: "allocations a page", most: 120},
	{scenario: "S2", ours: row{"peer": "seine"}, peer: row{"peer": "reference-go"}, field: "efficiency", name: "S2 efficiency beside the reference", least: 1},
	{scenario: "S2", ours: row{"peer": "seine"}, peer: row{"peer": "reference-go"}, field: "cpu_us_per_page", name: "S2 CPU beside the reference", most: 70.0 / 160},
	{scenario: "S2b", ours: row{"peer": "seine"}, peer: row{"peer": "reference-go"}, field: "efficiency", name: "S2b efficiency beside the reference", least: 1},
	{scenario: "S2a", ours: row{"peer": "seine"}, peer: row{"peer": "reference-go"}, field: "efficiency", name: "S2a efficiency beside the reference", least: 0.85 / 0.925},
	{scenario: "S2p", ours: row{"peer": "seine"}, field: "efficiency", name: "S2p ideal / time", least: 1 / 1.05},
	{scenario: "S2p", ours: row{"peer": "seine"}, field: "gaps_below_max", name: "S2p gaps below", most: 0.5},
	{scenario: "S4", ours: row{"kind": "seine"}, field: "rss_b_per_url", name: "S4 bytes a queued URL at the peak", most: 90},
	{scenario: "S5", ours: row{"kind": "seine"}, field: "heap_b_per_url", name: "S5 bytes a seen URL", most: 14},
	{scenario: "S5", ours: row{"kind": "seine"}, field: "peak_rss_b_per_url", name: "S5 bytes a seen URL at the peak", most: 20},
	{scenario: "S5", ours: row{"kind": "seine"}, peer: row{"kind": "map-uint64"}, field: "add_ns", name: "S5 time to add beside a map", most: 250.0 / 402},
}

// engineBars judges each bar, and says which are not kept.
func engineBars(r results) (string, error) {
	var text []string
	var faults []error
	for _, b := range engineRows {
		ours, err := r.find(b.scenario, b.ours)
		if err != nil {
			return strings.Join(text, "; "), err
		}
		value := ours.num(b.field)
		if b.peer != nil {
			peer, err := r.find(b.scenario, b.peer)
			if err != nil {
				return strings.Join(text, "; "), err
			}
			value /= peer.num(b.field)
		}
		text = append(text, fmt.Sprintf("%s %.3g", b.name, value))
		if b.most > 0 && value > b.most || b.least > 0 && value < b.least {
			faults = append(faults, fmt.Errorf("%s is %.3g, beyond the bar of %.3g", b.name, value, max(b.most, b.least)))
		}
	}
	return strings.Join(text, "; "), errors.Join(faults...)
}

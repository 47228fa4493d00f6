package main

import (
	"errors"
	"fmt"
	"strings"
)

var durablePoint = point{"durable.4", []step{
	{scenarios: []string{"s1"}, rounds: "7", out: "s1", env: []string{"SEINE_DURABLE=1", "CLIENTS=seine seine-durable"}},
	{scenarios: []string{"s7"}, rounds: "3", out: "s7"},
}, durableCost}

// What a durable frontier may add to the CPU time of a page, in µs.
const (
	mostDurable = 15.0
	goalDurable = 8.0
)

// durableCost: every page exactly once on both frontiers, what keeping it in a file adds, and what bare queues take.
func durableCost(r results) (string, error) {
	var cost [2]float64
	var texts [2]string
	var faults []error
	for i, peer := range []string{"seine", "seine-durable"} {
		ours, err := r.find("S1", row{"peer": peer})
		if err != nil {
			return "", err
		}
		if ours.num("exactly_once_min") != 1 || ours.num("duplicates_max") != 0 || ours.num("errors_max") != 0 {
			faults = append(faults, fmt.Errorf("%s: not every page exactly once", peer))
		}
		cost[i] = ours.num("cpu_us_per_page")
		texts[i] = fmt.Sprintf("%.1f (%.1f to %.1f)", cost[i], ours.num("cpu_us_per_page_min"), ours.num("cpu_us_per_page_max"))
	}
	added := cost[1] - cost[0]
	if added > mostDurable {
		faults = append(faults, fmt.Errorf("keeping a page adds %.1f µs, more than %.0f", added, mostDurable))
	}
	queues, err := bareQueues(r)
	text := fmt.Sprintf("CPU a page in µs, median and range of the rounds: %s in memory, %s in a file, %.1f more of at most %.0f (goal %.0f); bare queues, time of a full cycle one by one and by 100: %s",
		texts[0], texts[1], added, mostDurable, goalDurable, queues)
	return text, errors.Join(append(faults, err)...)
}

// bareQueues tells what it takes to enqueue, claim and acknowledge one item.
func bareQueues(r results) (string, error) {
	var text []string
	for _, kind := range []string{"sqlite", "sqlite-full", "bbolt", "bbolt-nosync", "pebble", "pebble-nosync"} {
		var us [2]float64
		for i, batch := range []int{1, 100} {
			q, err := r.find("S7", row{"kind": kind, "batch": batch})
			if err != nil {
				return strings.Join(text, ", "), err
			}
			us[i] = 1e6 / q.num("cycle_items_per_s")
		}
		text = append(text, fmt.Sprintf("%s %.0f and %.1f µs", kind, us[0], us[1]))
	}
	return strings.Join(text, ", "), nil
}

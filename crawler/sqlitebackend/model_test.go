package sqlitebackend

import (
	"fmt"
	"testing"

	"github.com/seine-go/seine/crawler/frontiertest"
)

func TestFrontierEqualsModel(t *testing.T) {
	n := 1500
	if long() {
		n = 50_000
	}
	frontiertest.RunModel(t, func(t *testing.T) frontiertest.Harness { return harness(t) }, frontiertest.ModelOptions{Ops: n, Seed: *seed})
	if !t.Failed() {
		fmt.Printf("shown durable.1: %d random operations on SQLite equal the model that memory equals too\n", n)
	}
}

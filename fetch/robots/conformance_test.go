package robots

import (
	"fmt"
	"testing"

	"github.com/seine-go/seine/internal/conformance"
)

func TestConformanceRules(t *testing.T) {
	type ruleCase struct {
		Robots  string
		Agent   string
		URL     string
		Allowed bool
	}
	cases := conformance.Load[ruleCase](t, "robots/cases.json")
	conformance.Show(t, "first-crawl.4", "robots", cases, func(c ruleCase) error {
		if rule, allowed := Parse([]byte(c.Robots)).Agent(c.Agent).Match(c.URL); allowed != c.Allowed {
			return fmt.Errorf("%s for %s: allowed %v by %v, want %v", c.URL, c.Agent, allowed, rule, c.Allowed)
		}
		return nil
	})
}

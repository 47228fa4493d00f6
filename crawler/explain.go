package crawler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seine-go/seine/fetch/robots"
	"github.com/seine-go/seine/internal/weburl"
)

// Explanation is what an engine would do with a URL that a page links to, and why.
type Explanation struct {
	URL string // as it would be fetched
	Key string // what has the same is fetched once
	// Refusals are all reasons for which it would not be fetched: ErrOutOfScope, a *TrapError, ErrRobotsDisallowed (with
	// the line that says so), a *RobotsError, a *BudgetError. errors.Is and errors.As tell them apart.
	Refusals []error
	// Unknown is what could not be told: robots.txt that was not asked for yet, hosts of seeds that no run has named, a
	// frontier that does not tell.
	Unknown []string
	// Robots is the line of robots.txt that decides, "" for none; CrawlDelay what the host asks for there.
	Robots     string
	CrawlDelay time.Duration
	// Inspection is what the frontier knows of the request and its host.
	Inspection
}

// Explain tells what the engine would do with a URL, on the way or before a run. It asks nothing of the network: of
// robots.txt it knows what is in memory. It may be called at any time, by any goroutine. An error says that the URL is
// none that can be fetched, or comes from the frontier.
func (e *Engine) Explain(ctx context.Context, url string) (*Explanation, error) {
	req, err := e.seed(&Request{URL: url})
	if err != nil {
		return nil, err
	}
	x := &Explanation{URL: req.URL, Key: req.key()}
	u, _ := weburl.Split(req.URL)
	e.mu.Lock()
	scope, run := e.scope, e.run
	e.mu.Unlock()
	if scope == nil {
		scope = &e.cfg.Scope
	}
	switch {
	case scope.isZero():
		x.unknown("scope: no run has named the hosts of its seeds")
	case !scope.holdsURL(u):
		x.refuse(scope.refuse(req.URL))
	}
	if rule := e.cfg.Traps.check(u); rule != "" {
		x.refuse(&TrapError{URL: req.URL, Rule: rule})
	}
	x.askRobots(e)
	if run != nil {
		x.refuse(run.spent.peekHost(e.cfg.HostBudget, u.Host(), x.Key))
	}
	inspector, ok := e.cfg.Frontier.(Inspector)
	if !ok {
		x.unknown("frontier: it does not tell what it knows of a request")
		return x, nil
	}
	x.Inspection, err = inspector.Inspect(ctx, x.Key, u.Host())
	return x, err
}

func (x *Explanation) unknown(what string) { x.Unknown = append(x.Unknown, what) }

func (x *Explanation) refuse(err error) {
	if err != nil {
		x.Refusals = append(x.Refusals, err)
	}
}

// askRobots asks what is in memory of robots.txt.
func (x *Explanation) askRobots(e *Engine) {
	if e.robots == nil {
		return
	}
	d, known := e.robots.Peek(x.URL)
	if !known {
		x.unknown("robots.txt: not asked for yet")
		return
	}
	x.CrawlDelay = d.CrawlDelay
	if d.Rule.Line > 0 {
		x.Robots = d.Rule.String()
	}
	if !d.Allowed {
		if d.Err != nil && d.Source == robots.SourceDisallowAll {
			u, _ := weburl.Split(x.URL)
			x.refuse(&RobotsError{Host: u.Host(), Err: d.Err})
			return
		}
		x.refuse(&robotsError{rule: d.Rule.String()})
	}
}

// Verdict says in a few words what became of the URL, or would become of it.
func (x *Explanation) Verdict() string {
	switch {
	case x.State == StateDone:
		return "done: not fetched again"
	case x.State == StateFailed:
		return fmt.Sprintf("failed after %d tries: %s", x.Attempts, x.Reason)
	case x.State == StateLeased:
		return fmt.Sprintf("being fetched, try %d", x.Attempts)
	case len(x.Refusals) > 0:
		return "refused: " + strings.TrimPrefix(errors.Join(x.Refusals...).Error(), "seine: ")
	case x.State == StateDelayed:
		return "queued, due in " + x.Due.Round(time.Millisecond).String()
	}
	wait := ""
	switch {
	case x.InFlight > 0 && x.InFlight >= x.Places:
		wait = fmt.Sprintf("; its host has %d of %d places taken", x.InFlight, x.Places)
	case x.Opens > 0:
		wait = "; its host may be visited in " + x.Opens.Round(time.Millisecond).String()
	}
	if x.State == StateReady {
		return fmt.Sprintf("queued, among %d of its host%s", x.Queued, wait)
	}
	return "not seen: a link to it would be queued" + wait
}

// String returns the verdict, and what speaks for it, a line each.
func (x *Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", weburl.Redact(x.URL), x.Verdict())
	if x.Key != x.URL {
		b.WriteString("\n  key: " + x.Key)
	}
	for _, err := range x.Refusals {
		b.WriteString("\n  against: " + strings.TrimPrefix(err.Error(), "seine: "))
	}
	if x.Robots != "" {
		b.WriteString("\n  robots.txt: " + x.Robots)
	}
	if x.CrawlDelay > 0 {
		fmt.Fprintf(&b, "\n  crawl-delay: %v", x.CrawlDelay)
	}
	for _, what := range x.Unknown {
		b.WriteString("\n  unknown: " + what)
	}
	return b.String()
}

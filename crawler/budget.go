package crawler

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// Budget is what a run may spend on a host. A field that is zero or negative means no limit. Requests of a host whose
// budget is spent are refused with a *BudgetError, and the frontier lists them as failed, so that a DeadLister can drive
// them again.
type Budget struct {
	Pages int64         // asked for; each counts once, for the host that its request names
	Bytes int64         // of bodies, as they come over the wire, as far as they are known before a page is asked for
	Time  time.Duration // since its first page was asked for
}

func (b Budget) withDefaults() Budget {
	return Budget{
		Pages: orDefault(max(b.Pages, 0), math.MaxInt64, 0), Bytes: orDefault(max(b.Bytes, 0), math.MaxInt64, 0),
		Time: orDefault(max(b.Time, 0), math.MaxInt64, 0),
	}
}

var noBudget = Budget{}.withDefaults()

// BudgetError says that a request was not sent because the budget of its host is spent. errors.Is finds ErrBudget in it.
type BudgetError struct {
	Host  string
	Field string // of the Config
}

// Error names the host and the field.
func (e *BudgetError) Error() string {
	return ErrBudget.Error() + ": " + weburl.Redact(e.Host) + ": " + e.Field
}

// Is reports whether target is ErrBudget.
func (e *BudgetError) Is(target error) bool { return target == ErrBudget }

// maxBudgetHosts bounds the hosts of a run whose spending is known. Hosts beyond are refused.
const maxBudgetHosts = 1 << 20

// spending is what a run has spent.
type spending struct {
	mu    sync.Mutex
	total Budget
	start time.Time
	most  int // of hosts
	hosts map[string]*hostSpending
	// asked holds the keys of pages that were asked for and are to be asked for again, so that each counts once. It is
	// kept only where pages are counted.
	asked map[string]struct{}
}

type hostSpending struct {
	pages, bytes int64
	since        time.Time // its first page was asked for
}

func newSpending() *spending {
	return &spending{start: time.Now(), most: maxBudgetHosts, hosts: map[string]*hostSpending{}, asked: map[string]struct{}{}}
}

// spend takes the page of a visit from the budgets. It returns errReleased when that of the run is spent, and has ended
// the run then, and a *BudgetError when that of the host is.
func (r *run) spend(v *visit) error {
	spent, err := r.spent.take(&r.e.cfg, v)
	if spent != "" {
		r.endSpent(spent)
	}
	return err
}

// lookBack notes that a run whose budget was spent has finished all the same: what it had no budget for was passed by a
// redirect, or done by others.
func (r *run) lookBack() {
	r.mu.Lock()
	look := r.err == nil && r.ranOut != "" && !r.leftSeeds
	r.mu.Unlock()
	if !look {
		return
	}
	ctx, cancel := context.WithTimeout(r.after, r.e.cfg.Grace)
	defer cancel()
	err := r.bounded(ctx, func() error {
		s, err := r.frontierStats(ctx)
		if err != nil || !s.Finished {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.finished, r.ranOut = true, ""
		return nil
	})
	if errors.As(err, new(*PanicError)) { // another error is no reason to call the run failed
		r.end(err, false)
	}
}

// take is spend without its consequences. It names the budget of the run that is spent.
func (s *spending) take(c *Config, v *visit) (spent string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, counted := s.asked[v.lease.Key]
	counted = counted || v.req.Hops > 0 // it goes on with a page that was
	switch {
	case s.total.Bytes >= c.MaxBytes:
		return "MaxBytes", errReleased
	case time.Since(s.start) >= c.MaxTime:
		return "MaxTime", errReleased
	case !counted && s.total.Pages >= c.MaxPages:
		return "MaxPages", errReleased
	}
	if err := s.takeHost(c.HostBudget, v.host, counted); err != nil {
		return "", err
	}
	if !counted {
		s.total.Pages++
	}
	v.spent = true
	return "", nil
}

// takeHost takes a page from the budget of a host. s.mu is held.
func (s *spending) takeHost(b Budget, host string, counted bool) error {
	if b == noBudget {
		return nil
	}
	h := s.host(host)
	if h == nil {
		return &BudgetError{Host: host, Field: "HostBudget: the bound of hosts whose spending is known is reached"}
	}
	if h.since.IsZero() {
		h.since = time.Now()
	}
	if field := h.over(b, counted); field != "" {
		return &BudgetError{Host: host, Field: field}
	}
	if !counted {
		h.pages++
	}
	return nil
}

// peekHost tells whether the budget of a host is spent for the page of a key.
func (s *spending) peekHost(b Budget, host, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, counted := s.asked[key]
	if h := s.hosts[host]; h != nil && !h.since.IsZero() {
		if field := h.over(b, counted); field != "" {
			return &BudgetError{Host: host, Field: field}
		}
	}
	return nil
}

// host returns what is known of a host; nil if there is no room for it. s.mu is held.
func (s *spending) host(name string) *hostSpending {
	h := s.hosts[name]
	if h == nil && len(s.hosts) < s.most {
		h = new(hostSpending)
		s.hosts[name] = h
	}
	return h
}

// over names the field of a budget that is spent.
func (h *hostSpending) over(b Budget, counted bool) string {
	switch {
	case !counted && h.pages >= b.Pages:
		return "HostBudget.Pages"
	case h.bytes >= b.Bytes:
		return "HostBudget.Bytes"
	case time.Since(h.since) >= b.Time:
		return "HostBudget.Time"
	}
	return ""
}

// received counts an exchange and the bytes of its body.
func (r *run) received(host string, n int64) {
	r.e.count.requests.Add(1)
	r.e.count.bytes.Add(n)
	s := r.spent
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total.Bytes += n
	if r.e.cfg.HostBudget == noBudget {
		return
	}
	if h := s.host(host); h != nil {
		h.bytes += n
	}
}

// over forgets a page that was asked for, or remembers it when it is to be asked for again.
func (s *spending) over(c *Config, v *visit, o Outcome) {
	if c.MaxPages == math.MaxInt64 && c.HostBudget.Pages == math.MaxInt64 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o == Retry || o == Released {
		if v.spent {
			s.asked[v.lease.Key] = struct{}{}
		}
		return
	}
	delete(s.asked, v.lease.Key)
}

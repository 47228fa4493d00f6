package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/seine-go/seine/fetch"
)

// RetryClass tells tries that failed apart by what they failed of.
type RetryClass uint8

// The classes.
const (
	RetryOther   RetryClass = iota // of a kind that nobody knows
	RetryHandler                   // the handler returned an error
	RetryStatus                    // an answer that asks to come again: 408, 425, 429, most of 5xx
	RetryConnect                   // no name, no connection, or a proxy that has none
	RetryTimeout                   // no answer in time
	RetryClosed                    // the connection ended before an answer
	RetryBody                      // the body of an idempotent request broke off, or came too slowly; after the last try the page is done with what came
	RetryRobots                    // robots.txt cannot be had; no rule is for it: see Config.RobotsPatience
)

var retryNames = [...]string{"other", "handler", "status", "connect", "timeout", "closed", "body", "robots"}

// String returns the name of the class.
func (c RetryClass) String() string { return name(retryNames[:], int(c)) }

// RetryRule says how tries of a class are repeated. A field that is zero is left to the default rule.
type RetryRule struct {
	// Attempts is how often a page is tried at most, also where the host or the handler says when to come again. Zero means
	// Config.MaxAttempts, negative 1.
	Attempts int
	// Wait is how long to wait after the first try; it doubles with each, up to MaxWait, and half to one and a half of it
	// is waited. Zero means 5 s where the host gave no answer at all (connect, timeout), else 1 s. Longer waits that the
	// host asked for are kept.
	Wait time.Duration
	// MaxWait bounds Wait. Zero means 5 minutes.
	MaxWait time.Duration
}

// RetryPolicy says what is done about tries that failed. The zero value is the good default.
type RetryPolicy struct {
	// Rules are used in place of the default rules.
	Rules map[RetryClass]RetryRule
	// HostMin retries of a host are made in a run in any case, and HostShare more for each of its pages that came through
	// since the first of them. So a host that is down is not asked for everything several times, and one that is flaky
	// loses nothing. Zero means 100 of HostMin and 2 of HostShare; negative means none of HostMin, and no bound by HostShare. What is not tried again has failed. Tries that a
	// handler put off by RetryAfter are not counted.
	HostMin   int
	HostShare float64
}

// check refuses rules for classes that do not exist.
func (p RetryPolicy) check() error {
	for class := range p.Rules {
		if int(class) >= len(retryNames) {
			return &ConfigError{Field: "Retry.Rules", Reason: fmt.Sprintf("%d is no class", uint8(class))}
		}
	}
	if _, there := p.Rules[RetryRobots]; there {
		return &ConfigError{Field: "Retry.Rules", Reason: "has one for robots.txt, of which RobotsPatience decides"}
	}
	if math.IsNaN(p.HostShare) {
		return &ConfigError{Field: "Retry.HostShare", Reason: "is not a number"}
	}
	return nil
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	rules := map[RetryClass]RetryRule{}
	for class := range RetryClass(len(retryNames)) {
		rule := p.Rules[class]
		wait := time.Second
		if class == RetryConnect || class == RetryTimeout {
			wait = 5 * time.Second
		}
		rule.Attempts = orDefault(rule.Attempts, 0, 1)
		rule.Wait = orDefault(rule.Wait, wait, wait)
		rule.MaxWait = orDefault(rule.MaxWait, 5*time.Minute, 5*time.Minute)
		rules[class] = rule
	}
	p.Rules = rules
	switch {
	case p.HostShare == 0:
		p.HostShare = 2
	case p.HostShare < 0:
		p.HostShare = math.Inf(1)
	}
	p.HostMin = orDefault(p.HostMin, 100, 0)
	return p
}

// classOf returns the class of a try that failed.
func classOf(err error) RetryClass {
	var robots *RobotsError
	var h *handlerError
	var status *fetch.StatusError
	switch {
	case errors.As(err, &h):
		return RetryHandler
	case errors.As(err, &robots):
		return RetryRobots
	case errors.As(err, &status):
		return RetryStatus
	}
	switch fetch.KindOf(err) {
	case fetch.ErrDNS, fetch.ErrConnect, fetch.ErrTLS, fetch.ErrProxy:
		return RetryConnect
	case fetch.ErrTimeout:
		return RetryTimeout
	case fetch.ErrClosed:
		return RetryClosed
	case fetch.ErrTruncated, fetch.ErrTooSlow:
		return RetryBody
	}
	return RetryOther
}

// temporary reports whether another try may help.
func temporary(err error) bool {
	var h *handlerError
	var crash *CrashError
	var status *fetch.StatusError
	var failure *fetch.Error
	switch {
	case errors.As(err, &h):
		return !h.permanent
	case errors.As(err, &crash):
		return false
	case errors.Is(err, ErrTooManyHops):
		return false
	case errors.As(err, &failure) && failure.Final:
		return false
	case errors.As(err, &status):
		return temporaryStatus(status.Status)
	case failure != nil:
		return failure.Temporary()
	}
	return true
}

func temporaryStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return status >= 520 && status <= 530 // what gateways make of a dead origin
}

// backoff is how long to wait after a try: the wait of the rule, doubled with each, half to one and a half of it.
func (r RetryRule) backoff(attempt int) time.Duration {
	d := r.Wait
	for i := 1; i < attempt && d < r.MaxWait; i++ {
		d *= 2
	}
	d = min(d, r.MaxWait)
	return d/2 + rand.N(d)
}

// retries are the shares of retries of the hosts.
type retries struct {
	mu    sync.Mutex
	hosts map[string]*hostRetries // that had any
}

type hostRetries struct{ through, retries int }

// maxRetryHosts bounds the hosts whose retries are counted. Beyond it all are counted anew.
const maxRetryHosts = 100_000

// through counts a page that came through.
func (r *retries) through(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.hosts[host]; h != nil {
		h.through++
	}
}

// take takes a retry from the share of a host, and reports whether there was one left.
func (r *retries) take(p *RetryPolicy, host string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hosts[host]
	if h == nil {
		if r.hosts == nil || len(r.hosts) >= maxRetryHosts {
			r.hosts = map[string]*hostRetries{}
		}
		h = new(hostRetries)
		r.hosts[host] = h
	}
	if h.retries >= p.HostMin && float64(h.retries-p.HostMin) >= p.HostShare*float64(h.through) {
		return false
	}
	h.retries++
	return true
}

// retry has the page tried again after an error, and tells why not if that cannot be.
func (v *visit) retry(s *Settlement, err error) error {
	if denied := v.retryable(err); denied != nil {
		s.Outcome = Failed
		return denied
	}
	s.Outcome, s.Delay = Retry, v.e.cfg.Retry.Rules[classOf(err)].backoff(v.lease.Attempt)
	var status *fetch.StatusError
	if errors.As(err, &status) {
		s.Delay = max(s.Delay, s.Report.RetryAfter)
	}
	return err
}

// retryable returns nil if the page may be tried again after an error, else the error with the reason. The share of the
// host pays once for a visit.
func (v *visit) retryable(err error) error {
	if v.lease.Attempt >= v.e.attempts(classOf(err)) {
		return err
	}
	if stall := v.stalled(); stall != nil {
		return fmt.Errorf("%w; not tried again: %w", err, stall)
	}
	if !v.paid && !v.r.retries.take(&v.e.cfg.Retry, v.host) {
		return fmt.Errorf("%w; not tried again: the host has had its share of retries", err)
	}
	v.paid = true
	return nil
}

// attempts is how often a page may be tried.
func (e *Engine) attempts(c RetryClass) int {
	return cmp.Or(e.cfg.Retry.Rules[c].Attempts, e.cfg.MaxAttempts)
}

// stalled returns the *ratelimit.StallError of a host that has not answered properly for long, if the frontier tells.
func (v *visit) stalled() error {
	inspector, ok := v.e.cfg.Frontier.(Inspector)
	if !ok {
		return nil
	}
	i, err := inspector.Inspect(v.lasting(v.ctx), "", v.host)
	if err != nil {
		return nil // it is no reason to give a page up
	}
	return i.Stalled
}

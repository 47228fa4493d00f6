package frontiertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
)

// recorder is a testing.TB that notes failures instead of failing.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(string, ...any) { runtime.Goexit() }

// broken is a memory frontier that breaks a rule. Nil fields leave a method as it is.
type broken struct {
	*crawler.Memory
	add      func(m *crawler.Memory, reqs []*crawler.Request) ([]crawler.AddStatus, error)
	lease    func(m *crawler.Memory, want crawler.LeaseRequest) (crawler.LeaseBatch, error)
	settle   func(m *crawler.Memory, s []crawler.Settlement) error
	extend   func(m *crawler.Memory, ttl time.Duration, l []crawler.Lease) error
	stats    func(m *crawler.Memory) (crawler.FrontierStats, error)
	setHost  func(m *crawler.Memory, host string, p crawler.HostPolicy) error
	reserve  func(m *crawler.Memory, r crawler.ReserveRequest) (crawler.HostReservation, error)
	producer func() error
	inspect  func(m *crawler.Memory, key, host string) (crawler.Inspection, error)
	restart  func() error
}

func (b *broken) Add(ctx context.Context, reqs ...*crawler.Request) ([]crawler.AddStatus, error) {
	if b.add == nil || ctx.Err() != nil {
		return b.Memory.Add(ctx, reqs...)
	}
	return b.add(b.Memory, reqs)
}

func (b *broken) Lease(ctx context.Context, want crawler.LeaseRequest) (crawler.LeaseBatch, error) {
	if b.lease == nil || ctx.Err() != nil {
		return b.Memory.Lease(ctx, want)
	}
	return b.lease(b.Memory, want)
}

func (b *broken) Settle(ctx context.Context, s ...crawler.Settlement) error {
	if b.settle == nil || ctx.Err() != nil {
		return b.Memory.Settle(ctx, s...)
	}
	return b.settle(b.Memory, s)
}

func (b *broken) Extend(ctx context.Context, ttl time.Duration, l ...crawler.Lease) error {
	if b.extend == nil || ctx.Err() != nil {
		return b.Memory.Extend(ctx, ttl, l...)
	}
	return b.extend(b.Memory, ttl, l)
}

func (b *broken) Stats(ctx context.Context) (crawler.FrontierStats, error) {
	if b.stats == nil || ctx.Err() != nil {
		return b.Memory.Stats(ctx)
	}
	return b.stats(b.Memory)
}

func (b *broken) SetHost(ctx context.Context, host string, p crawler.HostPolicy) error {
	if b.setHost == nil || ctx.Err() != nil {
		return b.Memory.SetHost(ctx, host, p)
	}
	return b.setHost(b.Memory, host, p)
}

func (b *broken) ReserveHost(ctx context.Context, r crawler.ReserveRequest) (crawler.HostReservation, error) {
	if b.reserve == nil || ctx.Err() != nil {
		return b.Memory.ReserveHost(ctx, r)
	}
	return b.reserve(b.Memory, r)
}

func (b *broken) OpenProducer(ctx context.Context, name string, ttl time.Duration) (func(context.Context) error, error) {
	if b.producer == nil {
		return b.Memory.OpenProducer(ctx, name, ttl)
	}
	return func(context.Context) error { return nil }, b.producer()
}

func (b *broken) Inspect(ctx context.Context, key, host string) (crawler.Inspection, error) {
	if b.inspect == nil {
		return b.Memory.Inspect(ctx, key, host)
	}
	return b.inspect(b.Memory, key, host)
}

func (b *broken) Restart(ctx context.Context) error {
	if b.restart == nil {
		return b.Memory.Restart(ctx)
	}
	return b.restart()
}

// changed breaks Settle by changing what is told.
func changed(change func(s *crawler.Settlement)) func(m *crawler.Memory, s []crawler.Settlement) error {
	return func(m *crawler.Memory, s []crawler.Settlement) error {
		s = slices.Clone(s)
		for i := range s {
			change(&s[i])
		}
		return m.Settle(context.Background(), s...)
	}
}

// faults are frontiers that break one rule each.
func faults() map[string]struct {
	rule string
	opt  func(o *crawler.MemoryOptions)
	with broken
} {
	ctx := context.Background()
	type fault = struct {
		rule string
		opt  func(o *crawler.MemoryOptions)
		with broken
	}
	return map[string]fault{
		"check and mark are two steps": {rule: "R1", with: broken{add: func(m *crawler.Memory, reqs []*crawler.Request) ([]crawler.AddStatus, error) {
			s, err := m.Add(ctx, reqs...)
			for i := range s {
				if s[i] == crawler.Duplicate {
					s[i] = crawler.Added
				}
			}
			return s, err
		}}},
		"seen but not queued": {rule: "R1", with: broken{add: func(m *crawler.Memory, reqs []*crawler.Request) ([]crawler.AddStatus, error) {
			s, err := m.Add(ctx, reqs...)
			if b, _ := m.Lease(ctx, crawler.LeaseRequest{Owner: "thief", Max: 1}); len(b.Leases) == 1 && len(s) > 0 {
				return s, m.Settle(ctx, crawler.Settlement{Lease: b.Leases[0], Outcome: crawler.Done})
			}
			return s, err
		}}},
		"leases end early": {rule: "R2", with: broken{lease: func(m *crawler.Memory, want crawler.LeaseRequest) (crawler.LeaseBatch, error) {
			ttl := want.TTL
			want.TTL /= 2
			b, err := m.Lease(ctx, want)
			for i := range b.Leases {
				b.Leases[i].TTL = ttl
			}
			return b, err
		}}},
		"lost leases are not told": {rule: "R3", with: broken{settle: func(m *crawler.Memory, s []crawler.Settlement) error {
			var lost *crawler.LeaseLostError
			if err := m.Settle(ctx, s...); !errors.As(err, &lost) {
				return err
			}
			return nil
		}}},
		"extending steals": {rule: "R3", with: broken{extend: func(m *crawler.Memory, ttl time.Duration, l []crawler.Lease) error {
			_ = m.Extend(ctx, ttl, l...)
			return nil
		}}},
		"a stale settlement adds its links": {rule: "R3", with: broken{settle: func(m *crawler.Memory, s []crawler.Settlement) error {
			for _, s := range s {
				if _, err := m.Add(ctx, s.Links...); err != nil {
					return err
				}
			}
			return m.Settle(ctx, s...)
		}}},
		"passed keys are forgotten": {rule: "R4", with: broken{settle: changed(func(s *crawler.Settlement) { s.Seen = nil })}},
		"links are forgotten":       {rule: "R4", with: broken{settle: changed(func(s *crawler.Settlement) { s.Links = nil })}},
		"next visits are forgotten": {rule: "R4", with: broken{settle: changed(func(s *crawler.Settlement) { s.Revisit = 0 })}},
		"a release counts as a try": {rule: "R5", with: broken{settle: changed(func(s *crawler.Settlement) {
			if s.Outcome == crawler.Released {
				s.Outcome = crawler.Retry
			}
		})}},
		"restarts are not noticed": {rule: "R6", with: broken{lease: func(m *crawler.Memory, want crawler.LeaseRequest) (crawler.LeaseBatch, error) {
			want.Boot = 0
			return m.Lease(ctx, want)
		}}},
		"deaths are not counted": {rule: "R8", opt: func(o *crawler.MemoryOptions) { o.MaxCrashes = -1 }},
		"one death is enough":    {rule: "R8", opt: func(o *crawler.MemoryOptions) { o.MaxCrashes = 1 }},
		"reports are ignored": {rule: "R10", with: broken{settle: changed(func(s *crawler.Settlement) {
			s.Report = crawler.HostReport{}
		})}},
		"a pace adapts though it should not": {rule: "R10", with: broken{setHost: func(m *crawler.Memory, host string, p crawler.HostPolicy) error {
			p.Adapt = crawler.SwitchOn
			return m.SetHost(context.Background(), host, p)
		}}},
		"policies are ignored": {rule: "R10", with: broken{setHost: func(*crawler.Memory, string, crawler.HostPolicy) error { return nil }}},
		"every place is free": {rule: "R10", with: broken{reserve: func(_ *crawler.Memory, r crawler.ReserveRequest) (crawler.HostReservation, error) {
			return crawler.HostReservation{Host: r.Host}, nil
		}}},
		"priorities are ignored": {rule: "R11", with: broken{add: func(m *crawler.Memory, reqs []*crawler.Request) ([]crawler.AddStatus, error) {
			var flat []*crawler.Request
			for _, r := range reqs {
				c := *r
				c.Priority = 0
				flat = append(flat, &c)
			}
			return m.Add(ctx, flat...)
		}}},
		"requests do not age":  {rule: "R11", opt: func(o *crawler.MemoryOptions) { o.AgeStep = 0 }},
		"delays are forgotten": {rule: "R12", with: broken{settle: changed(func(s *crawler.Settlement) { s.Delay = 0 })}},
		"waiting is too long": {rule: "R12", with: broken{lease: func(m *crawler.Memory, want crawler.LeaseRequest) (crawler.LeaseBatch, error) {
			b, err := m.Lease(ctx, want)
			b.Next *= 2
			return b, err
		}}},
		"nothing is bounded": {rule: "R13", opt: func(o *crawler.MemoryOptions) { o.MaxPending = 0 }},
		"one too many":       {rule: "R13", opt: func(o *crawler.MemoryOptions) { o.MaxPending += min(o.MaxPending, 1) }},
		"idle is finished": {rule: "R14", with: broken{lease: func(m *crawler.Memory, want crawler.LeaseRequest) (crawler.LeaseBatch, error) {
			b, err := m.Lease(ctx, want)
			b.Finished = len(b.Leases) == 0
			return b, err
		}}},
		"counts are read one after another": {rule: "R14", with: broken{stats: func(m *crawler.Memory) (crawler.FrontierStats, error) {
			s, err := m.Stats(ctx)
			s.Finished = s.Ready+s.Delayed == 0
			return s, err
		}}},
		"what is leased passes for queued": {rule: "R7", with: broken{inspect: func(m *crawler.Memory, key, host string) (crawler.Inspection, error) {
			i, err := m.Inspect(ctx, key, host)
			if i.State == crawler.StateLeased {
				i.State = crawler.StateReady
			}
			return i, err
		}}},
		"a new beginning forgets nothing": {rule: "R1", with: broken{restart: func() error { return nil }}},
		"producers are ignored":           {rule: "R14", with: broken{producer: func() error { return nil }}},
	}
}

// The suite finds each broken rule and names it, and finds none in a frontier that keeps all.
func TestSuiteFindsBrokenRules(t *testing.T) {
	t.Parallel()
	all := faults()
	all["none"] = faults()["none"]
	for name, fault := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(t testing.TB, o Options) crawler.Frontier {
				opt := crawler.MemoryOptions{MaxPending: o.MaxPending, MaxCrashes: o.MaxCrashes, CrashPause: o.CrashPause, LeaseTTL: o.LeaseTTL, AgeStep: o.AgeStep}
				if fault.opt != nil {
					fault.opt(&opt)
				}
				b := fault.with
				b.Memory = crawler.NewMemory(opt)
				if err := b.Memory.SetHost(t.Context(), "", o.Pace); err != nil {
					t.Fatal(err)
				}
				return &b
			}
			var found []string
			for _, c := range tests() {
				if fault.rule != "" && c.rule != fault.rule {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					r := &recorder{TB: t}
					end := make(chan struct{})
					go func() {
						defer close(end)
						c.run(newEnv(r, c.rule, Harness{Virtual: true, Open: open}))
					}()
					<-end
					found = append(found, r.failures...)
				})
			}
			if (len(found) > 0) != (fault.rule != "") {
				t.Fatalf("the suite found %q", found)
			}
			for _, f := range found {
				if !strings.HasPrefix(f, fault.rule+": ") {
					t.Errorf("the failure %q does not name %s", f, fault.rule)
				}
			}
		})
	}
}

package sqlitebackend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/ratelimit"
)

// frontier is all that both frontiers can do.
type frontier interface {
	crawler.Frontier
	crawler.HostSetter
	crawler.HostReserver
	crawler.Producers
	crawler.DeadLister
	crawler.Lister
	crawler.Inspector
	crawler.CrawlKeeper
	crawler.Restarter
}

// beside is one history that happens to a crawl in memory and to one in a file, at the same times.
type beside struct {
	*testing.T
	r      *rand.Rand
	start  time.Time
	w      *world
	opt    crawler.MemoryOptions
	plain  *crawler.Memory
	values crawler.MemoryStore
	db     *DB

	pages  int
	leases []tried // that may be held
	booked []crawler.HostReservation
	open   []producer
	last   crawler.Settlement // that took effect
	boot   uint64
	step   int
	met    map[string]int // what the history had
}

// tried is a lease, and whether it may have been settled with others.
type tried struct {
	crawler.Lease
	until   time.Duration
	settled bool
	old     bool // of before the file was opened again
}

// producer is open on both.
type producer [2]func(context.Context) error

func newBeside(t *testing.T, seed uint64) *beside {
	b := &beside{T: t, r: rand.New(rand.NewPCG(seed, 4)), start: time.Now(), w: newWorld(t), boot: 1, met: map[string]int{}}
	b.pages = []int{30, 120, 400}[b.r.IntN(3)]
	b.opt = crawler.MemoryOptions{
		MaxPending: []int{6, 60, 1000}[b.r.IntN(3)], MaxCrashes: []int{0, 1, -1, 2}[b.r.IntN(4)], MaxDead: []int{3, 0}[b.r.IntN(2)],
		AgeStep: []time.Duration{0, 0, 150 * time.Millisecond}[b.r.IntN(3)], LeaseTTL: time.Second, SpillBytes: 1 << 10, SeenBytes: 1,
	}
	b.opt.CrashPause = []time.Duration{-1, 300 * time.Millisecond, 3 * time.Second}[b.r.IntN(3)]
	inMemory := b.opt
	inMemory.SpillDir = []string{"", b.w.dir}[b.r.IntN(2)]
	b.plain = crawler.NewMemory(inMemory)
	t.Cleanup(func() {
		if _ = b.plain.Close(); t.Failed() {
			t.Logf("again with -seed %d: step %d", seed, b.step)
		}
	})
	b.db = b.w.open(t, b.w.path(), Options{Frontier: b.opt, hurry: true})
	return b
}

func (b *beside) failf(format string, args ...any) {
	b.Helper()
	b.Fatalf("at %v: %s", time.Since(b.start), fmt.Sprintf(format, args...))
}

func (b *beside) chance(n int) bool { return b.r.IntN(n) == 0 }

func (b *beside) millis(n int) time.Duration { return time.Duration(b.r.IntN(n)) * time.Millisecond }

// pass has time go on for both.
func (b *beside) pass(d time.Duration) {
	time.Sleep(d)
	b.w.clock.Store(int64(time.Since(b.start)))
}

// both makes a call of both frontiers, and compares what they answer.
func both[T any](b *beside, what string, call func(f frontier) (T, error)) (T, error) {
	b.Helper()
	got, err := call(b.plain)
	same, errToo := call(b.db.Frontier())
	if !reflect.DeepEqual(got, same) || fmt.Sprint(err) != fmt.Sprint(errToo) {
		b.failf("%s: in memory %+v, %v; in a file %+v, %v", what, got, err, same, errToo)
	}
	return got, err
}

// bothDo is for calls that answer an error alone.
func bothDo(b *beside, what string, call func(f frontier) error) error {
	b.Helper()
	_, err := both(b, what, func(f frontier) (any, error) { return nil, call(f) })
	return err
}

const besideHosts = 6

func (b *beside) host() string { return fmt.Sprintf("h%d.example", b.r.IntN(besideHosts)) }

func (b *beside) request() *crawler.Request {
	n := b.r.IntN(b.pages)
	r := &crawler.Request{URL: fmt.Sprintf("https://h%d.example/page/%d/of/a/site", n%besideHosts, n), Priority: b.r.IntN(3), Depth: n % 5}
	switch b.r.IntN(12) {
	case 0:
		r.Priority = 1000 - 2000*b.r.IntN(2)
	case 1:
		r.Key = fmt.Sprint("key of ", n)
	case 2:
		r.Data, r.Label, r.Session = []byte(`{"a":1}`), "labelled", "s"
	case 3:
		r.Method, r.Body, r.Header = "POST", []byte{0, 255, byte(n)}, map[string][]string{"X-A": {"1", "2"}}
	}
	return r
}

func (b *beside) key() string {
	if n := b.r.IntN(b.pages); b.chance(12) {
		return fmt.Sprint("key of ", n)
	} else {
		return fmt.Sprintf("https://h%d.example/page/%d/of/a/site", n%besideHosts, n)
	}
}

func (b *beside) requests(most int) (all []*crawler.Request) {
	for range b.r.IntN(most + 1) {
		all = append(all, b.request())
	}
	return all
}

func (b *beside) report() crawler.HostReport {
	if b.chance(5) {
		return crawler.HostReport{}
	}
	r := crawler.HostReport{Class: ratelimit.OK, Status: 200, Exchanges: 1 + b.r.IntN(2), Latency: b.millis(50), Since: b.millis(3)}
	switch b.r.IntN(8) {
	case 0:
		r.Class, r.Status, r.RetryAfter = ratelimit.Throttle, 429, time.Duration(b.r.IntN(3))*time.Second
	case 1:
		r.Class, r.Status = ratelimit.ServerError, 503
	}
	r.Elapsed, r.Sent = 2*r.Latency, r.Latency
	return r
}

func (b *beside) add() {
	reqs := b.requests(12)
	_, err := both(b, "Add", func(f frontier) ([]crawler.AddStatus, error) { return f.Add(b.Context(), reqs...) })
	if errors.Is(err, crawler.ErrFull) {
		b.met["full"]++
	}
}

func (b *beside) lease() {
	if b.chance(40) {
		b.boot++
	}
	want := crawler.LeaseRequest{Owner: fmt.Sprint("owner", b.r.IntN(3)), Boot: b.boot, Max: b.r.IntN(5), TTL: b.millis(2000)}
	now := time.Since(b.start)
	got, _ := both(b, "Lease", func(f frontier) (crawler.LeaseBatch, error) { return f.Lease(b.Context(), want) })
	for _, l := range got.Leases {
		b.leases = append(b.leases, tried{Lease: l, until: now + l.TTL})
		if l.Suspect {
			b.met["suspects"]++
		}
	}
}

// settlement makes one of a lease.
func (b *beside) settlement(l tried) crawler.Settlement {
	s := crawler.Settlement{Lease: l.Lease, Outcome: crawler.Outcome(1 + b.r.IntN(4)), Report: b.report()}
	if b.chance(2) || l.old { // a release is told again where the file was closed and the other was not
		s.Outcome = crawler.Done
	}
	switch s.Outcome {
	case crawler.Done:
		s.Links = b.requests(8)
		for range b.r.IntN(3) {
			s.Seen = append(s.Seen, b.key())
		}
		if b.chance(8) {
			s.Revisit = 1 + b.millis(1500)
		}
	case crawler.Failed:
		s.Reason = fmt.Sprint("it failed at step ", b.step)
	case crawler.Retry, crawler.Released:
		s.Delay = max(0, b.millis(1500)-500*time.Millisecond)
	}
	return s
}

// settle ends a lease, with items if its page is done. A store in memory is given them when that took effect.
func (b *beside) settle() {
	if len(b.leases) == 0 {
		return
	}
	i := b.r.IntN(len(b.leases))
	s := b.settlement(b.leases[i])
	var items []crawler.Item
	if s.Outcome == crawler.Done && !b.leases[i].settled { // else this may be a repeat
		for range b.r.IntN(3) {
			items = append(items, crawler.Item{Key: fmt.Sprint("item/", b.r.IntN(20)), Value: []byte(s.Lease.Key)[:b.r.IntN(len(s.Lease.Key))]})
		}
	}
	err := b.settled("Settle", s, items)
	var lost *crawler.LeaseLostError
	switch {
	case err == nil:
		if b.last = s; len(items) > 0 {
			b.last.Items = items
		}
		for _, item := range items {
			b.put(item.Key, item.Value)
		}
		b.met[s.Outcome.String()]++
	case errors.As(err, &lost):
		b.met["late"]++
	default: // there is no room
		return
	}
	b.leases = slices.Delete(b.leases, i, i+1)
}

func (b *beside) settled(what string, s crawler.Settlement, items []crawler.Item) error {
	b.Helper()
	return bothDo(b, what, func(f frontier) error {
		if s.Items = items; f == frontier(b.plain) {
			s.Items = nil
		}
		return f.Settle(b.Context(), s)
	})
}

// repeat tells the settlement again that took effect last: its items are not stored again.
func (b *beside) repeat() {
	if b.last.Outcome == 0 {
		return
	}
	if b.chance(2) {
		b.storeItem()
	}
	if err := b.settled("a repeated Settle", b.last, b.last.Items); err != nil {
		b.failf("the exact repeat of a settlement: %v", err)
	}
	b.met["repeats"]++
}

// settleSome settles several leases at once, some of them twice.
func (b *beside) settleSome() {
	var all []crawler.Settlement
	for range min(4, len(b.leases)) {
		l := &b.leases[b.r.IntN(len(b.leases))]
		l.settled = true
		all = append(all, b.settlement(*l))
	}
	_ = bothDo(b, "Settle of some", func(f frontier) error { return f.Settle(b.Context(), all...) })
	b.last = crawler.Settlement{} // which of them took effect is not known
}

func (b *beside) extend() {
	if n := len(b.leases); n > 0 {
		l, ttl, now := &b.leases[b.r.IntN(n)], 1+b.millis(3000), time.Since(b.start)
		if bothDo(b, "Extend", func(f frontier) error { return f.Extend(b.Context(), ttl, l.Lease) }) == nil {
			l.until = now + ttl
		}
	}
}

func (b *beside) reserve() {
	r := crawler.ReserveRequest{Host: b.host(), Late: b.chance(2), Since: b.millis(4), Sent: b.millis(4), TTL: b.millis(1000)}
	if n := len(b.leases); n > 0 && b.chance(2) {
		r.Under = b.leases[b.r.IntN(n)].Lease
	}
	if n := len(b.booked); n > 0 && b.chance(3) {
		r.Held = b.booked[b.r.IntN(n)]
	}
	got, err := both(b, "ReserveHost", func(f frontier) (crawler.HostReservation, error) { return f.ReserveHost(b.Context(), r) })
	if err == nil && got.ID != 0 {
		b.booked = append(b.booked, got)
	}
}

func (b *beside) release(report crawler.HostReport) {
	if n := len(b.booked); n > 0 {
		i := b.r.IntN(n)
		_ = bothDo(b, "ReleaseHost", func(f frontier) error { return f.ReleaseHost(b.Context(), b.booked[i], report) })
		b.booked = slices.Delete(b.booked, i, i+1)
	}
}

func (b *beside) setHost() {
	host := b.host()
	p := crawler.HostPolicy{
		Delay: b.millis(300) - 150*time.Millisecond, Spacing: b.millis(150) - 50*time.Millisecond, MaxInFlight: b.r.IntN(5) - 1, InFlight: b.r.IntN(3),
		Adapt: crawler.Switch(b.r.IntN(3) - 1),
	}
	if b.chance(2) {
		p.Delay = -1
	}
	switch b.r.IntN(4) {
	case 0:
		host = ""
	case 1:
		p = crawler.HostPolicy{Block: b.millis(2000)} // paused
	}
	_ = bothDo(b, "SetHost", func(f frontier) error { return f.SetHost(b.Context(), host, p) })
}

// again drives failed requests again, or the whole crawl if it is finished.
func (b *beside) again() {
	if b.chance(4) {
		_ = bothDo(b, "Restart", func(f frontier) error { return f.Restart(b.Context()) })
		return
	}
	keys := []string{b.key(), b.key(), b.key()}
	for d, err := range b.plain.Dead(b.Context()) {
		if err == nil && b.chance(3) {
			keys = append(keys, d.Key)
		}
	}
	n, _ := both(b, "Redrive", func(f frontier) (int, error) { return f.Redrive(b.Context(), keys...) })
	b.met["driven again"] += n
}

func (b *beside) keep() {
	id := crawler.CrawlID{Name: cmp.Or(fmt.Sprint(b.r.IntN(3)), "x"), Canonical: "c"}
	_, _ = both(b, "KeepCrawl", func(f frontier) (crawler.CrawlID, error) { return f.KeepCrawl(b.Context(), id) })
}

// cancelled makes calls whose context has ended: nothing of them takes effect.
func (b *beside) cancelled() {
	ctx, end := context.WithCancel(b.Context())
	end()
	r := b.request()
	_, _ = both(b, "Add, cancelled", func(f frontier) ([]crawler.AddStatus, error) { return f.Add(ctx, r) })
	_, _ = both(b, "Lease, cancelled", func(f frontier) (crawler.LeaseBatch, error) {
		return f.Lease(ctx, crawler.LeaseRequest{Owner: "owner1", Boot: 1 << 40, Max: 2})
	})
}

// act does one thing of a history.
func (b *beside) act() {
	b.pass(b.millis(30))
	switch p := b.r.IntN(100); {
	case p < 12:
		b.add()
	case p < 40:
		b.lease()
	case p < 62:
		b.settle()
	case p < 65:
		b.settleSome()
	case p < 67:
		b.repeat()
	case p < 70:
		b.extend()
	case p < 74:
		b.setHost()
	case p < 78:
		b.reserve()
	case p < 80:
		b.release(b.report())
	case p < 82:
		b.produce()
	case p < 85:
		b.again()
	case p < 86:
		b.keep()
	case p < 87:
		b.cancelled()
	case p < 93:
		b.storeItem()
	case p < 97:
		b.pass(b.millis(1500))
	default:
		b.compareLists()
	}
}

// The same history ends in the same state, whether it happens to a crawl in memory, which never ends, or to one in a file,
// whose process is killed or ends in order again and again while the clock of the machine jumps.
func TestHistoryEqualsMemory(t *testing.T) {
	seeds, steps := uint64(12), 250
	if long() {
		seeds, steps = 400, 600
	}
	if (testing.Short() || raceEnabled) && !long() {
		seeds = 3
	}
	met := map[string]int{}
	for i := range seeds {
		synctest.Test(t, func(t *testing.T) {
			b := newBeside(t, *seed+i)
			b.met = met
			for b.step = range steps {
				if b.act(); b.chance(60) {
					b.reopen()
				}
			}
			b.end()
		})
		if t.Failed() {
			return
		}
	}
	for _, what := range []string{"full", "suspects", "done", "retry", "failed", "released", "late", "repeats", "driven again", "deaths", "closings", "jumps"} {
		if met[what] == 0 {
			t.Errorf("%s: no history had that", what)
		}
	}
	if !t.Failed() {
		fmt.Printf("shown durable.1: %d random histories of %d calls, with %d deaths, %d closings and %d jumps of the clock: on memory and on SQLite each answer is the same, and so are requests, hosts, seen keys and items at the end\n",
			seeds, steps, met["deaths"], met["closings"], met["jumps"])
	}
}

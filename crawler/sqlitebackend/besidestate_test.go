package sqlitebackend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seine-go/seine/crawler"
)

// reopen ends the crawl in the file and opens it again. The one in memory is told what that means there: who held something
// is dead, or has released it; producers are gone, and what was settled last is known no longer.
func (b *beside) reopen() {
	for len(b.open) > 0 {
		b.closeProducer(0)
	}
	away := []time.Duration{1, 1 + b.millis(400), 1 + b.millis(4000)}[b.r.IntN(3)]
	jump := time.Duration(0) // back
	if b.chance(3) {
		jump = away + b.millis(4000)
		b.met["jumps"]++
	}
	if b.chance(3) { // while it goes on, where it counts for nothing once something is written
		b.w.machine.Add(int64(b.millis(4000) - 2*time.Second))
		b.met["jumps"]++
	}
	held, err := b.plain.Stats(b.Context())
	if err != nil {
		b.failf("Stats: %v", err)
	}
	if b.chance(3) || held.Leased == 0 { // of the death of a process that holds nothing a frontier in memory hears nothing
		b.leave(away, jump)
	} else {
		b.die(away, jump)
	}
	b.last = crawler.Settlement{}
	old := b.leases[:0]
	for _, l := range b.leases {
		if !l.settled && len(old) < 4 {
			l.old = true
			old = append(old, l)
		}
	}
	b.leases = old
	b.compare()
}

// leave closes the file.
func (b *beside) leave(away, jump time.Duration) {
	b.mark()
	slices.SortFunc(b.leases, func(l, m tried) int { return cmp.Compare(l.Epoch, m.Epoch) })
	for _, l := range b.leases {
		_ = b.plain.Settle(b.Context(), crawler.Settlement{Lease: l.Lease, Outcome: crawler.Released, Report: crawler.HostReport{Exchanges: 1}}) // if it is held
	}
	b.releaseAll()
	if err := b.db.Close(); err != nil {
		b.failf("Close: %v", err)
	}
	if b.w.machine.Add(-int64(jump)); jump == 0 {
		b.pass(away)
	}
	b.db = b.w.open(b.T, b.db.path, b.db.opt)
	if r := b.db.Recovery(); r != (Recovery{}) {
		b.failf("after it was closed: %v", r)
	}
	b.met["closings"]++
}

// die has the process die. In memory what it holds expires when the file is opened again, if not before. After a jump of its
// clock the file knows of no time that passed, so that none may pass then.
func (b *beside) die(away, jump time.Duration) {
	b.mark()
	until := time.Since(b.start) + away
	for _, l := range b.leases {
		if l.until > until {
			_ = b.plain.Extend(b.Context(), away, l.Lease) // if it is held
		}
	}
	if jump > 0 {
		b.pass(away)
		b.mark()
	}
	dead := b.db
	b.db = b.w.die(b.T, dead, func(string) {
		if b.w.machine.Add(-int64(jump)); jump == 0 {
			b.pass(away)
		}
		b.releaseAll()
	})
	if r := b.db.Recovery(); !r.Unclosed || r.LogMissing || r.Unreplayed != 0 {
		b.failf("after a death: %v", r)
	}
	if err := dead.Close(); err != nil {
		b.failf("Close: %v", err)
	}
	b.met["deaths"]++
}

// mark writes something down, so that the file knows the time.
func (b *beside) mark() {
	b.Helper()
	if err := bothDo(b, "SetHost", func(f frontier) error {
		return f.SetHost(b.Context(), "mark.example", crawler.HostPolicy{MaxInFlight: 2})
	}); err != nil {
		b.failf("SetHost: %v", err)
	}
}

// releaseAll ends what is reserved in memory, as if it had been used until now.
func (b *beside) releaseAll() {
	for _, r := range b.booked {
		if err := b.plain.ReleaseHost(b.Context(), r, crawler.HostReport{Exchanges: 1}); err != nil {
			b.failf("ReleaseHost: %v", err)
		}
	}
	b.booked = nil
	if _, err := b.plain.Stats(b.Context()); err != nil { // what has expired is taken back
		b.failf("Stats: %v", err)
	}
}

// produce opens a producer, or closes one.
func (b *beside) produce() {
	if n := len(b.open); n > 0 && b.chance(2) {
		b.closeProducer(b.r.IntN(n))
		return
	}
	name, ttl := fmt.Sprint("producer", b.r.IntN(3)), 1+b.millis(3000)
	var p producer
	for i, f := range []frontier{b.plain, b.db.Frontier()} {
		end, err := f.OpenProducer(b.Context(), name, ttl)
		if err != nil {
			b.failf("OpenProducer: %v", err)
		}
		p[i] = end
	}
	b.open = append(b.open, p)
}

func (b *beside) closeProducer(i int) {
	for _, end := range b.open[i] {
		if err := end(b.Context()); err != nil {
			b.failf("a producer cannot be closed: %v", err)
		}
	}
	b.open = slices.Delete(b.open, i, i+1)
}

// put stores a value in memory alone.
func (b *beside) put(key string, value []byte) {
	if err := b.values.Put(b.Context(), key, value); err != nil {
		b.failf("Put: %v", err)
	}
}

// storeItem reads or writes a value of both stores.
func (b *beside) storeItem() {
	type store interface {
		crawler.Store
		crawler.Updater
	}
	key, value := fmt.Sprint("item/", b.r.IntN(20)), []byte(strings.Repeat("v", b.r.IntN(300)))
	call := [...]func(s store) ([]byte, error){
		func(s store) ([]byte, error) { return s.Get(b.Context(), key) },
		func(s store) ([]byte, error) { return nil, s.Put(b.Context(), key, value) },
		func(s store) ([]byte, error) { return nil, s.Delete(b.Context(), key) },
		func(s store) ([]byte, error) {
			return nil, s.Update(b.Context(), key, func(old []byte) ([]byte, error) { return append(old, value...), nil })
		},
	}[b.r.IntN(4)]
	got, err := call(&b.values)
	same, errToo := call(b.db.Store())
	if string(got) != string(same) || (got == nil) != (same == nil) || fmt.Sprint(err) != fmt.Sprint(errToo) {
		b.failf("the store: in memory %q, %v; in a file %q, %v", got, err, same, errToo)
	}
}

// list gathers what is told one by one.
func list[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

// byKey sorts requests, which are listed in no order.
func byKey(all []crawler.PendingRequest, err error) ([]crawler.PendingRequest, error) {
	slices.SortFunc(all, func(p, q crawler.PendingRequest) int { return strings.Compare(p.Key, q.Key) })
	return all, err
}

// compare compares all that both can tell.
func (b *beside) compare() {
	b.Helper()
	b.compareLists()
	for n := range b.pages {
		for _, key := range []string{fmt.Sprintf("https://h%d.example/page/%d/of/a/site", n%besideHosts, n), fmt.Sprint("key of ", n)} {
			_, _ = both(b, "Inspect "+key, func(f frontier) (crawler.Inspection, error) { return f.Inspect(b.Context(), key, "h1.example") })
		}
	}
	b.compareStores(&b.values, b.db.Store())
}

// compareLists compares what is counted and listed.
func (b *beside) compareLists() {
	b.Helper()
	ctx := b.Context()
	// Hosts that need not be remembered are forgotten by who leases.
	_, _ = both(b, "Lease of none", func(f frontier) (crawler.LeaseBatch, error) { return f.Lease(ctx, crawler.LeaseRequest{Owner: "none"}) })
	_, _ = both(b, "Stats", func(f frontier) (crawler.FrontierStats, error) {
		s, err := f.Stats(ctx)
		s.Changes = 0 // says whether something changed, not how much
		return s, err
	})
	pending, _ := both(b, "Pending", func(f frontier) ([]crawler.PendingRequest, error) { return byKey(list(f.Pending(ctx))) })
	_, _ = both(b, "Dead", func(f frontier) ([]crawler.DeadRequest, error) { return list(f.Dead(ctx)) })
	_, _ = both(b, "Hosts", func(f frontier) ([]crawler.HostInspection, error) { return list(f.Hosts(ctx)) })
	b.counted(pending)
}

// counted compares what is listed with what is counted.
func (b *beside) counted(pending []crawler.PendingRequest) {
	b.Helper()
	s, err := b.db.Frontier().Stats(b.Context())
	n := map[crawler.RequestState]int64{}
	for _, p := range pending {
		n[p.State]++
	}
	if err != nil || n[crawler.StateReady] != s.Ready || n[crawler.StateDelayed] != s.Delayed || n[crawler.StateLeased] != s.Leased {
		b.failf("%v are listed of %+v, %v", n, s, err)
	}
}

func (b *beside) compareStores(plain, file crawler.Store) {
	b.Helper()
	want, err := list(plain.Scan(b.Context(), ""))
	got, errToo := list(file.Scan(b.Context(), ""))
	if fmt.Sprint(got) != fmt.Sprint(want) || err != nil || errToo != nil {
		b.failf("the store: in memory %q, %v; in a file %q, %v", want, err, got, errToo)
	}
}

// exported returns what ExportFrontier writes, in an order of its own.
func (b *beside) exported(f crawler.Lister) string {
	b.Helper()
	var out strings.Builder
	if err := crawler.ExportFrontier(b.Context(), &out, f); err != nil {
		b.failf("ExportFrontier: %v", err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// end looks at what is in the file beside the process that has it, opens it once more, works off what is left, and begins
// anew.
func (b *beside) end() {
	b.compare()
	b.mark()
	view := b.w.open(b.T, b.db.path, Options{ReadOnly: true})
	if want, got := b.exported(b.plain), b.exported(view.Frontier()); got != want {
		b.failf("exported: in memory\n%s\nin the file\n%s", want, got)
	}
	b.compareStores(&b.values, view.Store())
	if err := errors.Join(view.Close(), b.db.Check(b.Context())); err != nil {
		b.failf("%v", err)
	}
	b.reopen()
	for b.step = 0; !b.workOff(); b.step++ {
		if b.step > 50_000 {
			b.failf("the crawl does not end")
		}
	}
	b.compare()
	if err := bothDo(b, "Restart", func(f frontier) error { return f.Restart(b.Context()) }); err != nil {
		b.failf("Restart: %v", err)
	}
	for range 30 {
		b.act()
	}
	b.reopen()
}

// workOff does what is there to be done now. It reports whether all is.
func (b *beside) workOff() bool {
	want := crawler.LeaseRequest{Owner: "last", Boot: 1, Max: 20}
	got, err := both(b, "Lease", func(f frontier) (crawler.LeaseBatch, error) { return f.Lease(context.Background(), want) })
	if err != nil {
		b.failf("Lease: %v", err)
	}
	for _, l := range got.Leases {
		if err := b.settled("Settle", crawler.Settlement{Lease: l, Outcome: crawler.Done, Report: b.report()}, nil); err != nil {
			b.failf("Settle: %v", err)
		}
	}
	if !got.Finished && len(got.Leases) == 0 {
		b.pass(max(got.Next, 1))
	}
	return got.Finished
}

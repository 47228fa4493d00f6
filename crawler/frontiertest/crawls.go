package frontiertest

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
)

// RunCrawls runs n random crawls of small graphs and checks after each step that the frontier is finished exactly when
// nothing is left to do. Engines are slow and die, requests are retried, and producers add at the last moment. The same
// seed makes the same crawls.
func RunCrawls(t *testing.T, harness func(t *testing.T) Harness, n int, seed uint64) {
	h := harness(t)
	if !h.Virtual {
		runCrawls(newEnv(t, "R14", h), n, seed)
		return
	}
	synctest.Test(t, func(t *testing.T) { runCrawls(newEnv(t, "R14", h), n, seed) })
}

func runCrawls(e *env, n int, seed uint64) {
	for i := range n {
		c := newCrawl(e, seed, uint64(i))
		c.run()
	}
}

// crawl is one crawl as a list of events. Times are in units.
type crawl struct {
	e         *env
	name      string
	r         *rand.Rand
	now       int
	events    events
	pages     [][]int      // links of each page, to later ones
	known     map[int]bool // whether done
	open      int          // pages that are known and not done
	producers int
}

// event happens at a time; those of one time in the order of luck.
type event struct {
	at, luck int
	do       func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].luck < q[j].luck
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *events) Push(x any) { *q = append(*q, x.(event)) }

// Pop implements heap.Interface.
func (q *events) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

const crawlTTL = 20 // units

func newCrawl(e *env, seed, i uint64) *crawl {
	c := &crawl{e: e, name: fmt.Sprintf("crawl %d of seed %d", i, seed), r: rand.New(rand.NewPCG(seed, i)), known: map[int]bool{}}
	paces := []crawler.HostPolicy{free, {Delay: e.unit}, {Spacing: 2 * e.unit, MaxInFlight: 2}, {Spacing: -1, MaxInFlight: 1}}
	e.open(Options{Pace: paces[c.r.IntN(len(paces))], MaxCrashes: -1 + 1001*c.r.IntN(2)}) // no page kills anybody
	c.pages = make([][]int, 1+c.r.IntN(20))
	for i := range c.pages {
		for range c.r.IntN(4) {
			if i+1 < len(c.pages) {
				c.pages[i] = append(c.pages[i], i+1+c.r.IntN(len(c.pages)-i-1))
			}
		}
	}
	return c
}

func (c *crawl) url(i int) string { return page(fmt.Sprint("h", i%3), i) }

func (c *crawl) in(units int, do func()) {
	heap.Push(&c.events, event{at: c.now + units, luck: c.r.IntN(1 << 30), do: do})
}

func (c *crawl) run() {
	c.startProducers()
	for i := range 1 + c.r.IntN(4) {
		c.in(c.r.IntN(3), func() { c.work(fmt.Sprint("engine ", i), 1) })
	}
	for steps := 0; len(c.events) > 0; steps++ {
		next := heap.Pop(&c.events).(event)
		if next.at > c.now {
			c.e.pass(time.Duration(next.at-c.now) * c.e.unit)
			c.now = next.at
		}
		next.do()
		c.check()
		if steps > 100_000 {
			c.e.failf("%s has no end", c.name)
		}
	}
	if c.open != 0 || c.producers != 0 {
		c.e.failf("%s: the engines stopped with %d pages and %d producers open", c.name, c.open, c.producers)
	}
	if s := c.e.stats(); int(s.Done) != len(c.known) {
		c.e.failf("%s: %d pages are done, not %d", c.name, s.Done, len(c.known))
	}
}

// check compares what the frontier says of the end with the truth.
func (c *crawl) check() {
	s, err := c.e.f.Stats(c.e.ctx())
	c.e.must(err)
	if want := c.open == 0 && c.producers == 0; s.Finished != want {
		c.e.failf("%s at %d: finished is %v with %d pages and %d producers open; %+v", c.name, c.now, s.Finished, c.open, c.producers, s)
	}
}

func (c *crawl) learn(page int) {
	if _, known := c.known[page]; !known {
		c.known[page] = false
		c.open++
	}
}

func (c *crawl) add(page int) {
	_, err := c.e.f.Add(c.e.ctx(), request(c.url(page)))
	c.e.must(err)
	c.learn(page)
}

// startProducers lets some producers add pages over time; the last one in the moment before it closes.
func (c *crawl) startProducers() {
	p, is := c.e.f.(crawler.Producers)
	if !is {
		c.add(0)
		return
	}
	for i := range 1 + c.r.IntN(3) {
		end, err := p.OpenProducer(c.e.ctx(), fmt.Sprint("producer ", i), 1_000_000*c.e.unit)
		c.e.must(err)
		c.producers++
		for range c.r.IntN(3) {
			c.in(c.r.IntN(40), func() {
				if c.producers > 0 {
					c.add(c.r.IntN(len(c.pages)))
				}
			})
		}
		c.in(40+c.r.IntN(20), func() { c.produceLast(end) })
	}
}

func (c *crawl) produceLast(end func(context.Context) error) {
	if c.r.IntN(2) == 0 {
		c.add(c.r.IntN(len(c.pages)))
	}
	c.check()
	c.e.must(end(c.e.ctx()))
	c.producers--
}

// work leases some pages and settles each after a while, or dies.
func (c *crawl) work(owner string, boot uint64) {
	b := c.e.request(crawler.LeaseRequest{Owner: owner, Boot: boot, Max: 1 + c.r.IntN(3), TTL: crawlTTL * c.e.unit})
	if len(b.Leases) == 0 {
		if b.Finished {
			return
		}
		wait := 1
		if b.Next > 0 {
			wait = max(1, int((b.Next+c.e.unit-1)/c.e.unit))
		}
		c.in(min(wait, 50), func() { c.work(owner, boot) })
		return
	}
	if c.r.IntN(12) == 0 {
		c.in(c.r.IntN(2*crawlTTL), func() { c.work(owner, boot+1) })
		return
	}
	last := 0
	for _, l := range b.Leases {
		took := c.r.IntN(crawlTTL + 3) // a few are too slow
		last = max(last, took)
		c.in(took, func() { c.settle(l) })
	}
	c.in(last, func() { c.work(owner, boot) })
}

func (c *crawl) settle(l crawler.Lease) {
	var host, page int
	if _, err := fmt.Sscanf(l.Key, "https://h%d.example/%d", &host, &page); err != nil {
		c.e.failf("%s: odd key %q", c.name, l.Key)
	}
	s := done(l, crawler.Done)
	if c.r.IntN(8) == 0 {
		s = done(l, crawler.Retry+2*crawler.Outcome(c.r.IntN(2))) // or released
		s.Delay = time.Duration(c.r.IntN(5)) * c.e.unit
	} else {
		for _, to := range c.pages[page] {
			s.Links = append(s.Links, request(c.url(to)))
		}
	}
	err := c.e.f.Settle(c.e.ctx(), s)
	var lost *crawler.LeaseLostError
	if errors.As(err, &lost) {
		return
	}
	c.e.must(err)
	if s.Outcome != crawler.Done {
		return
	}
	if c.known[page] {
		c.e.failf("%s: %s was done twice", c.name, l.Key)
	}
	c.known[page] = true
	c.open--
	for _, to := range c.pages[page] {
		c.learn(to)
	}
}

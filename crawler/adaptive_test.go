package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
)

// origin is a host of bounded strength, asked by the whole engine through its frontier in virtual time.
type origin struct {
	web
	rtt    time.Duration
	answer func(o *origin) (wait time.Duration, status int) // under mu

	mu        sync.Mutex
	rand      *rand.Rand
	start     time.Time
	good      []int // answers, for each second
	refused   []int
	latencies []time.Duration
	busy      int
	most      []int // requests under way at most, for each second
}

const originHost = "films.example"

func (o *origin) second() int { return int(time.Since(o.start) / time.Second) }

// jitter is a time around d, 0.8 to 1.3 of it.
func (o *origin) jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.5*o.rand.Float64()))
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	o.mu.Lock()
	there := o.jitter(o.rtt * 15 / 100)
	o.busy++
	o.most[o.second()] = max(o.most[o.second()], o.busy)
	o.mu.Unlock()
	time.Sleep(there)
	o.mu.Lock()
	wait, status := o.answer(o)
	o.mu.Unlock()
	time.Sleep(wait)
	o.mu.Lock()
	o.busy--
	if status == http.StatusOK {
		o.good[o.second()]++
		o.latencies = append(o.latencies, time.Since(arrived))
	} else {
		o.refused[o.second()]++
	}
	o.mu.Unlock()
	if status != http.StatusOK {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<a href="%s0">next</a>`, r.URL.Path)
}

// crawl asks the origin for so long, within a pace; each second is told what the frontier has found out.
func (o *origin) crawl(t *testing.T, pace crawler.HostPolicy, seconds int, each func(second int, p crawler.Inspection)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.start, o.rand = time.Now(), rand.New(rand.NewPCG(uint64(seconds), 1))
		o.good, o.refused, o.most = make([]int, seconds+60), make([]int, seconds+60), make([]int, seconds+60)
		o.serve(t, originHost, o.ServeHTTP)
		f := crawler.NewMemory(crawler.MemoryOptions{})
		if err := f.SetHost(t.Context(), originHost, pace); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
		defer cancel()
		var watcher sync.WaitGroup
		defer watcher.Wait()
		watcher.Go(func() {
			for second := 1; ctx.Err() == nil; second++ {
				time.Sleep(time.Second)
				p, err := f.Inspect(ctx, "", originHost)
				if err == nil && each != nil {
					o.mu.Lock()
					each(second, p)
					o.mu.Unlock()
				}
			}
		})
		var seeds []string
		for i := range 600 { // each page leads to one more
			seeds = append(seeds, fmt.Sprintf("http://%s/%d", originHost, i))
		}
		tr := o.transport()
		defer tr.Close()
		e, err := crawler.New(crawler.Config{
			Fetcher: tr, Frontier: f, IgnoreRobots: true, Concurrency: 256, MaxAttempts: 1000, Traps: crawler.Traps{MaxURL: -1},
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
				p.FollowLinks()
				return nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if stats, err := e.Run(ctx, seeds...); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", stats, err)
		}
		time.Sleep(30 * time.Second) // what the origin still works on
		o.mu.Lock()
		defer o.mu.Unlock()
		o.good, o.refused, o.most = o.good[:seconds], o.refused[:seconds], o.most[:seconds]
	})
}

// rejecting admits by a token bucket of a tenth of a second and answers 429 to the rest.
func rejecting(capacity *float64) func(o *origin) (time.Duration, int) {
	var tokens float64
	var last time.Time
	return func(o *origin) (time.Duration, int) {
		tokens = min(tokens+time.Since(last).Seconds()**capacity, max(1, *capacity/10))
		last = time.Now()
		if tokens < 1 {
			return o.jitter(o.rtt * 15 / 100), http.StatusTooManyRequests
		}
		tokens--
		return o.jitter(o.rtt * 85 / 100), http.StatusOK
	}
}

func notUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("a measurement of many exchanges, for a run without the race detector")
	}
}

func sum(v []int) (n int) {
	for _, x := range v {
		n += x
	}
	return n
}

// settledAfter is the first second from which three together are within 15 % of the capacity.
func settledAfter(perSecond []int, capacity float64) int {
	for i := 0; i+3 <= len(perSecond); i++ {
		if m := float64(sum(perSecond[i:i+3])) / 3; m >= 0.85*capacity && m <= 1.15*capacity {
			return i
		}
	}
	return len(perSecond)
}

func refusedShare(o *origin, from, to int) float64 {
	refused, good := sum(o.refused[from:to]), sum(o.good[from:to])
	return 100 * float64(refused) / float64(max(refused+good, 1))
}

// wideOpen leaves the pace to the controller.
func wideOpen(first, most int) crawler.HostPolicy {
	return crawler.HostPolicy{Spacing: -1, InFlight: first, MaxInFlight: most}
}

func TestEngineFollowsCapacity(t *testing.T) {
	t.Parallel()
	notUnderRace(t)
	for _, c := range []struct {
		rtt           time.Duration
		first, within int
	}{{50 * time.Millisecond, 2, 20}, {50 * time.Millisecond, 256, 20}, {500 * time.Millisecond, 2, 40}} {
		capacity := 100.0
		o := &origin{rtt: c.rtt, answer: rejecting(&capacity)}
		const part = 100
		o.crawl(t, wideOpen(c.first, 256), 3*part, func(second int, _ crawler.Inspection) {
			capacity = []float64{100, 20, 100, 100}[second/part]
		})
		var took [3]int
		most := 0.0
		for i, capacity := range []float64{100, 20, 100} {
			took[i] = settledAfter(o.good[i*part:(i+1)*part], capacity)
			most = max(most, refusedShare(o, i*part+c.within, (i+1)*part))
		}
		if slices.Max(took[:]) > c.within || most > 1 {
			t.Errorf("RTT %v, from %d in flight: settled after %v s, want %d; 429s %.2f %%", c.rtt, c.first, took, c.within, most)
		}
		if !t.Failed() {
			fmt.Printf("shown engine.4: through engine and frontier, capacity 100, 20, 100 req/s, RTT %v, from %d in flight: within 15 %% after %d, %d, %d s (bar %d); 429s in steady state %.2f %% (bar 1)\n",
				c.rtt, c.first, took[0], took[1], took[2], c.within, most)
		}
	}
}

func TestEngineBearsRejection(t *testing.T) {
	t.Parallel()
	notUnderRace(t)
	for _, c := range []struct{ capacity, share float64 }{{2, .75}, {20, .9}} {
		o := &origin{rtt: 50 * time.Millisecond, answer: rejecting(&c.capacity)}
		const warm, length = 300, 600
		o.crawl(t, wideOpen(2, 256), warm+length, nil)
		used := float64(sum(o.good[warm:])) / length / c.capacity
		refused := refusedShare(o, warm, warm+length)
		if used < c.share || refused > 1.25 || refused > 1 && c.capacity >= 20 {
			t.Errorf("rejecting above %v req/s: %.0f %% of it used, 429s %.2f %%", c.capacity, 100*used, refused)
		}
		if !t.Failed() {
			fmt.Printf("shown engine.4: through engine and frontier, rejecting above %v req/s, RTT 50 ms: %.0f %% of it used, 429s %.2f %%\n", c.capacity, 100*used, refused)
		}
	}
}

func TestEngineDoesNotDrift(t *testing.T) {
	t.Parallel()
	notUnderRace(t)
	const capacity, seconds = 20.0, 1800
	var free time.Time
	o := &origin{rtt: 50 * time.Millisecond}
	o.answer = func(o *origin) (time.Duration, int) {
		if now := time.Now(); free.Before(now) {
			free = now
		}
		free = free.Add(time.Duration(float64(time.Second) / capacity))
		return time.Until(free) + o.jitter(o.rtt*85/100), http.StatusOK
	}
	o.crawl(t, wideOpen(2, 256), seconds, nil)
	n := len(o.latencies)
	all, first, last := mean(o.latencies), mean(o.latencies[n/6:n/3]), mean(o.latencies[n-n/6:])
	unloaded := o.rtt + time.Duration(float64(time.Second)/capacity)
	rate := float64(n) / seconds
	if all > 6*unloaded || last > first*5/4 || rate < 19 {
		t.Errorf("latency %v, %v to %v, of %v unloaded; %.1f req/s", all, first, last, unloaded, rate)
	}
	if !t.Failed() {
		fmt.Printf("shown engine.4: through engine and frontier, queueing, 20 req/s, RTT 50 ms, 30 min: %.1f req/s, latency %v = %.1f × unloaded (bar 6), first part to last %v to %v\n",
			rate, all.Round(time.Millisecond), float64(all)/float64(unloaded), first.Round(time.Millisecond), last.Round(time.Millisecond))
	}
}

func mean(v []time.Duration) time.Duration {
	var total time.Duration
	for _, d := range v {
		total += d
	}
	return total / time.Duration(max(len(v), 1))
}

func TestEngineBearsSlowHosts(t *testing.T) {
	t.Parallel()
	o := &origin{rtt: 1200 * time.Millisecond, answer: func(o *origin) (time.Duration, int) { return o.jitter(o.rtt * 85 / 100), http.StatusOK }}
	reached := 0
	o.crawl(t, wideOpen(2, 64), 200, func(second int, p crawler.Inspection) {
		if p.Places == 64 && reached == 0 {
			reached = second
		}
		if reached > 0 && p.Places < 64 {
			t.Errorf("only %d places after %d s", p.Places, second)
		}
	})
	if reached == 0 || reached > 60 || slices.Max(o.most) != 64 {
		t.Errorf("all places were there after %d s; %d were used", reached, slices.Max(o.most))
	}
	if !t.Failed() {
		fmt.Printf("shown engine.4: through engine and frontier, constant 1.2 s: 64 places of 64 after %d s, and kept\n", reached)
	}
}

func TestEngineBearsASpike(t *testing.T) {
	t.Parallel()
	notUnderRace(t)
	o := &origin{rtt: 200 * time.Millisecond}
	const at, length = 100 * time.Second, time.Second
	o.answer = func(o *origin) (time.Duration, int) {
		wait := o.jitter(o.rtt * 85 / 100)
		if since := time.Since(o.start); since >= at && since < at+length {
			wait += at + length - since
		}
		return wait, http.StatusOK
	}
	cuts, least, last := 0, 60, 0
	o.crawl(t, wideOpen(2, 60), 130, func(second int, p crawler.Inspection) {
		if second < 100 {
			last = p.Places
			return
		}
		if p.Places < last {
			cuts++
		}
		least, last = min(least, p.Places), p.Places
	})
	if cuts > 1 || last != 60 || o.most[99] != 60 {
		t.Errorf("%d cuts, down to %d places, at last %d; %d were used before", cuts, least, last, o.most[99])
	}
	if !t.Failed() {
		fmt.Printf("shown engine.4: through engine and frontier, 60 in flight, one 1 s spike: %d cuts (bar 1), at least %d places\n", cuts, least)
	}
}

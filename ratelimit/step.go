package ratelimit

import (
	"math"
	"net/http"
	"time"
)

// Constants of the controller.
const (
	minEpoch  = time.Second
	slowEpoch = 10 * time.Second // that an epoch lasts at most for the sake of L results, or of enoughFor
	enoughFor = 10               // results, to raise a rate near the known one

	blockedBy = 3 // exits that must be blocked before the host slows
	blockedIn = 5 * time.Minute

	baseOf     = 20 // samples of the first baseline
	probeOf    = 5  // samples of a later one
	probeEvery = time.Minute

	foundLimit = 256 // L beyond it holds only while half of it is used

	minWindow = 20          // results that a rate is measured by
	maxWindow = time.Minute // the same, where results come slowly
	manyOf    = 8           // results that are enough for a majority, under a ceiling

	keepShare  = 0.9      // of the rate that the host bore, after a cut
	floorRate  = 1.0 / 60 // a second: nothing is cut further
	firstRaise = 0.05     // of the rate; twice as much each time
	maxRaise   = 1.5
	maxRaises  = 8 // in a row that are counted

	minHold  = 8 * time.Second
	maxHold  = 10 * time.Minute
	holdGood = 100 // successes that a hold lasts where the capacity is known: one refusal in so many

	idleAfter = 5 * time.Second // and two intervals: older counts say nothing of the pace
	stallGap  = 2 * time.Minute // between two answers that count for a stall
)

// Bounds of what a report can say.
const (
	maxTime      = 24 * time.Hour // Elapsed and Since
	maxBusy      = time.Hour      // Latency, and of Elapsed what counts for the load
	maxExchanges = 64
)

// Step returns the state after a report that came at the time now. Reports of the class None change nothing. Latency is
// to be that of the host: who knows how much slower an exit is than others divides by it first.
//
// Reports are gathered in epochs of at least a second and L results, or ten seconds; when most of those are refusals, or
// one is while a higher ceiling is on trial, the epoch ends at once. Then the first rule that applies does:
//
//  1. A probe of the baseline has its samples: the baseline is their tenth percentile.
//  2. The host throttled a request that was begun after the last cut: the ceiling falls to 0.9 of what the host bore, that
//     is the rate of its good answers of late, the highest ceiling that went well since the last cut if a higher one was
//     on trial, and not less than half of what it was. Three exits blocked within five minutes count as throttling.
//  3. More than a fifth failed: L falls to 0.7 of itself.
//  4. Otherwise L follows the gradient of the latency, in slow start by a quarter up each time; a ceiling whose hold is over
//     rises, first to the rate of the last cut, then by 5 %, 10 %, 20 %, 40 %, 50 % …
//
// A hold lasts 8 s, and where a trial has only confirmed the known rate twice as long as the last one, up to a hundred good
// answers. Only answers of status 2xx and 304 raise anything.
func (p Policy) Step(s State, r Report, now time.Duration) State {
	if r.Class == None || r.Class > NetError {
		return s
	}
	clamp(&r)
	now = max(min(now, anyTime), s.last, -anyTime)
	dispatched := now - r.Since - r.Elapsed
	switch {
	case !s.begun:
		s.begun, s.limit = true, p.first()
		s.epoch.start, s.last = dispatched, dispatched
	case dispatched-max(s.last, s.blocked) > idleAfter+2*s.interval():
		s.epoch = epoch{start: dispatched}
		s.recent, s.before = window{}, window{}
	}
	s.limit = min(s.limit, p.most())
	s.count(&r, dispatched, now)
	if s.over(now) {
		p.turn(&s, now)
	}
	s.last = now
	return s
}

func clamp(r *Report) {
	r.Latency = min(max(r.Latency, 0), maxBusy)
	r.Elapsed = min(max(r.Elapsed, r.Latency), maxTime)
	r.Since = min(max(r.Since, 0), maxTime)
	r.RetryAfter = min(max(r.RetryAfter, 0), MaxRetryAfter)
	r.Exchanges = min(max(r.Exchanges, 1), maxExchanges)
}

// count adds a report to the epoch.
func (s *State) count(r *Report, dispatched, now time.Duration) {
	if r.Class == OK {
		s.failing = 0
	} else {
		s.failing = min(s.failing+min(max(now-max(s.last, s.blocked), 0), stallGap), anyTime)
	}
	if r.RetryAfter > 0 && (r.Class == Throttle || r.Class == ServerError) {
		s.blocked = max(s.blocked, now+r.RetryAfter)
	}
	if r.Class == Throttle && s.cuts > 0 && dispatched < s.freshFrom {
		return // of an event that was answered already
	}
	e := &s.epoch
	e.results += uint32(r.Exchanges)
	e.busy = min(e.busy+min(r.Elapsed, maxBusy), anyTime)
	switch r.Class {
	case OK:
		if good(r.Status) {
			e.good += uint32(r.Exchanges)
			s.sample(r.Latency, dispatched)
		}
	case Throttle:
		e.throttles++
	case Block:
		e.blocked = s.refuse(r.Proxy, now) || e.blocked
	case ServerError, NetError:
		e.failures++
	}
}

// good reports whether an answer shows that the host does its work. Other answers are quick to give and prove nothing.
func good(status int) bool { return status/100 == 2 || status == http.StatusNotModified }

// sample takes a latency into the mean, and into the baseline that is being measured.
func (s *State) sample(latency, dispatched time.Duration) {
	if s.smooth == 0 {
		s.smooth = latency
	} else {
		weight := 2 / (max(5, s.limit) + 1)
		s.smooth += time.Duration(weight * float64(latency-s.smooth))
	}
	if s.base != 0 && (!s.probing || dispatched < s.probeAt) {
		return
	}
	switch {
	case s.samples == 0:
		s.lows = [2]time.Duration{latency, latency}
	case latency < s.lows[0]:
		s.lows = [2]time.Duration{latency, s.lows[0]}
	case latency < s.lows[1] || s.samples == 1:
		s.lows[1] = latency
	}
	s.samples++
}

// tenth returns the tenth percentile of the samples: they are few, so it is the first or the second.
func (s *State) tenth() time.Duration {
	if s.samples > 10 {
		return max(s.lows[1], 1)
	}
	return max(s.lows[0], 1)
}

// refuse notes that an exit was blocked and reports whether it is the last of blockedBy different ones within blockedIn.
func (s *State) refuse(exit string, now time.Duration) bool {
	id, at, live := hash(exit), 0, 0
	for i, f := range s.refusals {
		switch fresh := f.set && now-f.at <= blockedIn; {
		case fresh && f.exit == id:
			s.refusals[i].at = now
			return false
		case fresh:
			live++
		default:
			at = i
		}
	}
	if live == len(s.refusals) {
		s.refusals = [blockedBy - 1]refusal{}
		return true
	}
	s.refusals[at] = refusal{id, true, now}
	return false
}

// hash is FNV-1a of 32 bits.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// over reports whether the epoch has ended.
func (s *State) over(now time.Duration) bool {
	e := &s.epoch
	if e.throttles > 0 && s.onTrial() {
		return true // it is known what to fall back to
	}
	if float64(e.results) < math.Floor(s.limit) && now-e.start < slowEpoch {
		return false
	}
	least := max(minEpoch, 2*s.smooth)
	if s.rate >= s.top && s.rate > 0 && s.rate < 1.25*s.top && e.throttles == 0 {
		least = max(least, min(enoughFor*s.interval(), slowEpoch))
	}
	many := s.rate == 0 || e.results >= manyOf
	return now-e.start >= least || many && e.throttles > e.results/2 || e.blocked
}

// inFlight is how many exchanges were under way at a time, on average.
func (e *epoch) inFlight(now time.Duration) float64 {
	return float64(e.busy) / float64(max(now-e.start, 1))
}

// onTrial reports whether the ceiling is above one that went well.
func (s *State) onTrial() bool { return s.clean > 0 && s.rate > s.clean }

// turn ends an epoch and acts on it.
func (p Policy) turn(s *State, now time.Duration) {
	e := s.epoch
	length := max(now-e.start, 1)
	s.recent = s.recent.add(window{length, e.results, e.good})
	if s.base == 0 && s.samples >= baseOf {
		s.base, s.probeAt = s.tenth(), now+probeEvery
	}
	if s.limit > foundLimit { // it was given, not found: what nobody used says nothing
		s.limit = max(foundLimit, min(s.limit, 2*e.inFlight(now)))
	}
	switch {
	case s.probing && float64(s.samples) >= min(probeOf, probeCap(s.limit)):
		s.base, s.smooth = s.tenth(), 0
		s.probing, s.probeAt = false, now+probeEvery
	case e.throttles > 0 || e.blocked:
		s.cut(now)
	case e.failures > e.results/5:
		s.limit, s.settled = max(1, 0.7*s.limit), true
	default:
		p.steer(s, &e, length, now)
	}
	if s.recent.results >= minWindow || s.recent.length >= maxWindow {
		s.before, s.recent = s.recent, window{}
	}
	s.number++
	s.epoch = epoch{start: max(now, s.blocked)}
}

// cut lowers the ceiling to a share of what the host bore.
func (s *State) cut(now time.Duration) {
	w := s.recent
	if w.results < minWindow {
		w = w.add(s.before)
	}
	rate, known, trial := s.rate, s.top, s.onTrial()
	if rate == 0 {
		rate = w.rate(w.results)
	}
	bore := w.rate(w.good)
	if trial {
		bore = max(bore, s.clean)
	}
	s.top = min(max(bore, rate/2, floorRate), highRate)
	s.rate = keepShare * s.top
	s.raises = 0
	if bore < s.top {
		s.raises = maxRaises // it was guessed, not measured, and can be far too low
	}
	if trial && rate < 1.25*known {
		s.hold = max(minHold, min(2*s.hold, holdGood*s.interval(), maxHold))
	} else {
		s.hold = minHold
	}
	s.holdUntil = max(now+s.hold, s.blocked)
	s.limit = max(1, min(s.limit, math.Ceil(1.5*s.rate*s.smooth.Seconds())+1))
	s.clean, s.settled = 0, true
	s.freshFrom = now + s.interval()
	if s.cuts < math.MaxUint32 {
		s.cuts++ // that there were any is remembered
	}
	s.recent, s.before = window{}, window{}
}

// steer lets L follow the latency and the ceiling the good answers.
func (p Policy) steer(s *State, e *epoch, length, now time.Duration) {
	gradient := 1.0
	if s.base > 0 && s.smooth > 0 {
		gradient = min(max(2*float64(s.base)/float64(s.smooth), 0.5), 1)
	}
	// Below half of L the crawl is the limit, not the host.
	if float64(e.busy) >= s.limit/2*float64(length) && 2*e.good >= e.results {
		s.settled = s.settled || gradient < 1
		if s.settled {
			s.limit = 0.8*s.limit + 0.2*(s.limit*gradient+math.Sqrt(s.limit))
		} else {
			s.limit *= 1.25
		}
	}
	if s.rate > 0 && float64(e.good) >= 0.8*s.rate*length.Seconds() {
		s.clean = max(s.clean, s.rate)
		if now >= s.holdUntil {
			s.raise()
			if gradient == 1 {
				s.limit = max(s.limit, 1.5*s.rate*s.smooth.Seconds()) // so that L is not what holds the rate
			}
		}
	}
	s.limit = min(max(s.limit, 1), p.most())
	if !s.probing && s.base > 0 && float64(s.smooth) > 1.5*float64(s.base) && now >= s.probeAt {
		s.probing, s.probeAt, s.samples = true, now, 0
	}
}

func (s *State) raise() {
	if s.rate < s.top {
		s.rate = s.top
		return
	}
	s.rate *= min(maxRaise, 1+firstRaise*float64(uint(1)<<s.raises))
	s.rate = min(s.rate, highRate)
	s.raises = min(s.raises+1, maxRaises)
}

package crawler

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

// Frontier holds what is to be fetched and decides which host may be visited when.
//
// An implementation obeys these rules; frontiertest checks them by number.
//
//   - R1: Add dedupes and enqueues in one atomic step. Of concurrent Adds of one key exactly one is Added. What failed
//     is seen too; a DeadLister drives it again.
//   - R2: a lease is exclusive until its TTL has passed on the frontier's own clock. Clients get durations, never times.
//   - R3: every lease has an epoch. A stale epoch in Settle or Extend has no effect and is listed in a *LeaseLostError.
//     An exact repeat of a settlement that took effect is answered without error.
//   - R4: Settle is one transaction: state, links, host report and next visit take effect together or not at all. The
//     keys in Settlement.Seen become seen in it; a queued request of such a key is dropped, a leased one is left to its
//     holder and does not come back, whether that gives it back, has it tried again or dies.
//   - R5: delivery is at least once; the effect inside the frontier is exactly once.
//   - R6: any Lease call takes back the leases that have expired. An owner that comes back under its name takes back its
//     own at once.
//   - R7: state and expiry are one record.
//   - R8: a request whose holder died comes back as a suspect. Suspects are leased apart from all others: alone, or
//     where a holder died that had many, first in groups of an eighth of those. Only a death while alone counts.
//     MaxCrashes of those give it up: it is leased once more to be settled as failed, with Lease.GivenUp, so that
//     somebody knows. While a suspect may be leased, an engine that holds something gets nothing more but suspects of
//     its group. Those that most is counted against are leased first. Before the death that would be the last, a suspect
//     is kept apart, and the others go on; the death of a holder that had no suspect, meanwhile or at another time, wipes
//     out what is counted.
//   - R9: after the loss of a suffix of the log the state is an earlier one: work is redone, never lost.
//   - R10: a host with a delay has one request in flight and its next slot is the end of the last exchange plus the
//     delay; any other has a cap of requests in flight and a spacing from start to start, counted from
//     when a request was written where reports tell. The slot of a lease whose
//     report tells of no exchange is free again. Where the pace adapts, reports may make it slower than that.
//   - R11: within a host: priority, then due time, then order of arrival. Across hosts: earliest allowed first.
//   - R12: delays and retries are kept by the frontier.
//   - R13: everything is bounded. A full frontier answers ErrFull.
//   - R14: Finished means that nothing is ready, delayed or leased and no producer is open, in one atomic read.
//
// All methods are safe for concurrent use and return soon after ctx ends. Requests given are copied, never kept.
// Batches are for speed: each member is atomic by itself.
type Frontier interface {
	// Add enqueues requests that were never seen. It answers a status for each, in order; on ErrFull those that were
	// not taken are Refused.
	Add(ctx context.Context, reqs ...*Request) ([]AddStatus, error)
	// Lease hands out requests of hosts that may be visited now, each with the next slot of its host and a place in
	// flight.
	Lease(ctx context.Context, want LeaseRequest) (LeaseBatch, error)
	// Settle ends leases. A settlement whose links do not fit has no effect and gives ErrFull; it can be told again, or
	// the lease be released.
	Settle(ctx context.Context, s ...Settlement) error
	// Extend makes leases last ttl from now. It never takes a lease from another owner.
	Extend(ctx context.Context, ttl time.Duration, leases ...Lease) error
	// Stats answers one consistent snapshot.
	Stats(ctx context.Context) (FrontierStats, error)
}

// AddStatus is what became of a request that was added.
type AddStatus uint8

// The statuses of added requests.
const (
	Refused   AddStatus = iota // not taken: the frontier is full
	Added                      // new, and queued
	Duplicate                  // seen before
	Raised                     // queued before with a lower priority, and never tried: the new request takes its place
)

var addNames = [...]string{"refused", "added", "duplicate", "raised"}

// String returns the name of the status.
func (s AddStatus) String() string { return name(addNames[:], int(s)) }

// LeaseRequest says who wants how much.
type LeaseRequest struct {
	Owner string        // stable name of the engine
	Boot  uint64        // differs at each start of the owner; what it held before is taken back at once
	Max   int           // at most so many; what is leased should start now
	TTL   time.Duration // zero: the frontier's default
}

// Lease is the right to work on a request until its TTL has passed.
type Lease struct {
	Key     string // of the request
	Owner   string
	Epoch   uint64
	TTL     time.Duration // counted from the Lease or Extend call
	Attempt int           // counted from 1; releases do not count
	Suspect bool          // the request's holder died before; its owner has suspects only
	Crashes int           // deaths of holders that had nothing else
	GivenUp bool          // those are too many: settle it as Failed, and do nothing else with it
	Request *Request      // belongs to the lease's holder
}

// LeaseBatch is the answer to a LeaseRequest.
type LeaseBatch struct {
	Leases []Lease
	// Next is how long it takes at most until a lease may be had, if nobody calls and no lease is extended; zero if that
	// takes a settlement or an Add. It is told when there are fewer leases than were asked for.
	Next     time.Duration
	Finished bool // as R14 says
}

// Outcome is how a lease ends.
type Outcome uint8

// The outcomes.
const (
	Done     Outcome = iota + 1 // the request is finished
	Retry                       // again after Settlement.Delay; the attempt counts
	Failed                      // given up, and listed
	Released                    // handed back untouched; the attempt does not count
)

var outcomeNames = [...]string{"", "done", "retry", "failed", "released"}

// String returns the name of the outcome.
func (o Outcome) String() string { return name(outcomeNames[:], int(o)) }

// Settlement ends a lease, with all that came of it.
type Settlement struct {
	Lease   Lease
	Outcome Outcome
	Delay   time.Duration // for Retry, and for Released
	Revisit time.Duration // with Done: due again after it; zero never
	Reason  string        // why it was retried or has failed
	Links   []*Request    // added in the same transaction; only with Done
	Items   []Item        // stored in the same transaction, where the frontier is an ItemSettler
	Seen    []string      // keys of the URLs that redirects went through
	Report  HostReport    // what the exchanges with the lease's host told
}

// HostReport is what exchanges tell about a host.
type HostReport = ratelimit.Report

// Item is a value that a page yielded.
type Item struct {
	Key   string
	Value []byte
}

// FrontierStats counts requests by state.
type FrontierStats struct {
	Ready, Delayed, Leased, Done, Failed int64

	Hosts     int // with work, or remembered for their pace
	Producers int // open ones
	Changes   uint64
	Finished  bool
}

// HostPolicy is the pace of a host. A zero field leaves what the host has.
type HostPolicy struct {
	Delay       time.Duration // from the end of an exchange to the start of the next, with one in flight; negative none
	Spacing     time.Duration // from start to start; negative none
	MaxInFlight int           // negative: no cap
	InFlight    int           // at first, where the pace adapts; a MaxInFlight told without it is there from the first
	Adapt       Switch        // the pace follows what the host bears, never beyond the above
	Block       time.Duration // nothing is leased for so long
}

// Switch is a setting whose zero value leaves it as it is.
type Switch int8

// The positions of a Switch.
const (
	SwitchOff Switch = iota - 1
	SwitchUnset
	SwitchOn
)

// HostSetter is a Frontier whose hosts' pace can be changed while it works. The host "" stands for all that have no
// policy of their own.
type HostSetter interface {
	SetHost(ctx context.Context, host string, p HostPolicy) error
}

// HostReserver is a Frontier that books exchanges that no lease of the host covers.
type HostReserver interface {
	// ReserveHost books the next slot of the host and a place in flight. ErrBusy says that there is no place; nothing is
	// booked then. With a lease of that very host, or a reservation, the place is theirs and only the slot is booked.
	ReserveHost(ctx context.Context, r ReserveRequest) (HostReservation, error)
	// ReleaseHost ends a reservation.
	ReleaseHost(ctx context.Context, r HostReservation, report HostReport) error
}

// ReserveRequest asks for an exchange with a host.
type ReserveRequest struct {
	Host  string
	Under Lease           // that causes it
	Since time.Duration   // since the end of the last exchange under that lease
	Sent  time.Duration   // since its request was written; 0 if that is not known
	Held  HostReservation // a reservation of that host under the lease: its place serves, only the slot is booked
	Late  bool            // the exchange that the place's own slot was for has not begun: the slot is moved to now if nobody has one after it
	TTL   time.Duration   // of the reservation; zero: the frontier's default for leases
}

// HostReservation is a slot and a place on a host.
type HostReservation struct {
	Host string
	ID   uint64        // 0: the place is the lease's; ReleaseHost has no effect
	Wait time.Duration // until the slot
}

// ItemSettler is a Frontier that keeps items too. SettlesItemsOf tells whether it does so for the given store: then
// items go into the transaction of the settlement.
type ItemSettler interface {
	SettlesItemsOf(s Store) bool
}

// Producers is a Frontier that knows who still adds requests, so that it is not finished while one may. Without it a
// frontier serves one engine, which counts its own.
type Producers interface {
	// OpenProducer holds the frontier open until close is called, or ttl has passed without a call of OpenProducer
	// under the same name. A producer that goes on calls it again in time, and closes what it opened before then.
	OpenProducer(ctx context.Context, name string, ttl time.Duration) (close func(context.Context) error, err error)
}

// DeadLister is a Frontier that keeps the requests that failed for good.
type DeadLister interface {
	// Dead lists them in the order in which they failed. The frontier may be used meanwhile.
	Dead(ctx context.Context) iter.Seq2[DeadRequest, error]
	// Redrive makes those of the keys that are listed ready again, their attempts not counted, and answers how many. On
	// ErrFull it stops.
	Redrive(ctx context.Context, keys ...string) (int, error)
}

// DeadRequest is a request that failed for good.
type DeadRequest struct {
	Key      string
	Request  *Request
	Attempts int // that counted
	Crashes  int // deaths of holders that had nothing else
	Reason   string
}

// Errors of a frontier.
var (
	ErrFull   = errors.New("seine: the frontier is full")
	ErrBusy   = errors.New("seine: the host has no free place")
	ErrClosed = errors.New("seine: the frontier is closed")
)

// LeaseLostError lists the keys whose leases were not the caller's any more. What concerned other leases has taken
// effect.
type LeaseLostError struct{ Keys []string }

// Error names the first key.
func (e *LeaseLostError) Error() string {
	switch len(e.Keys) {
	case 0:
		return "seine: lease lost"
	case 1:
		return "seine: lease lost: " + e.Keys[0]
	}
	return fmt.Sprintf("seine: %d leases lost: %s …", len(e.Keys), e.Keys[0])
}

func name(names []string, i int) string {
	if i > 0 && i < len(names) || i == 0 && names[0] != "" {
		return names[i]
	}
	return "unknown"
}

package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

func ExampleNewTokenBucket() {
	limits, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{
		{Match: "*", Rate: ratelimit.Every(2 * time.Second)},
		{Match: "api.films.example", Rate: ratelimit.PerSecond(20), Burst: 3, MaxWait: 10 * time.Millisecond},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for range 4 {
		err = limits.Wait(ctx, "api.films.example:8080", 1)
		var late *ratelimit.WaitError
		fmt.Println(err == nil, errors.As(err, &late))
	}
	// Output:
	// true false
	// true false
	// true false
	// false true
}

// A rule that can match no key is an error, so that no limit is lost to a slip of the pen.
func ExampleRuleError() {
	_, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{
		{Match: "https://films.example/", Rate: ratelimit.PerSecond(1)},
	}})
	fmt.Println(err)
	// Output:
	// seine: rule for "https://films.example/": no key has '/' there: hosts stand without scheme and path, in ASCII
}

// One limit for each host, and one for all of them together.
func ExampleAll() {
	hosts, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{{Match: "*", Rate: ratelimit.PerSecond(1)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	whole, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{{Match: "*", Rate: ratelimit.PerSecond(50), Burst: 2, Shared: true}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	limits := ratelimit.All{hosts, whole}
	for _, host := range []string{"a.example", "b.example", "c.example"} {
		r, err := limits.Reserve(context.Background(), host, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(host, r.Delay().Round(20*time.Millisecond))
	}
	// Output:
	// a.example 0s
	// b.example 0s
	// c.example 20ms
}

// A body that comes no faster than 1 MB a second.
func ExampleNewReader() {
	bandwidth, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{
		{Match: "*", Rate: ratelimit.PerSecond(1_000_000), Burst: ratelimit.ReadBuffer, MaxWait: -1},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	body := ratelimit.NewReader(context.Background(), strings.NewReader("a body"), bandwidth, "films.example")
	data, err := io.ReadAll(body)
	fmt.Println(string(data), err)
	// Output:
	// a body <nil>
}

func ExampleTraffic() {
	rule := func(r ratelimit.Rate, burst int64) ratelimit.BucketConfig {
		return ratelimit.BucketConfig{Rules: []ratelimit.Rule{{Match: "*", Rate: r, Burst: burst}}}
	}
	requests, err := ratelimit.NewTokenBucket(rule(ratelimit.PerSecond(10), 5))
	if err != nil {
		fmt.Println(err)
		return
	}
	bytes, err := ratelimit.NewTokenBucket(rule(ratelimit.PerSecond(100_000), 100_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	limits, ctx := ratelimit.Traffic{Requests: requests, Bytes: bytes}, context.Background()
	fmt.Println(limits.Wait(ctx, "films.example", 1))
	fmt.Println(limits.BookBytes(ctx, "films.example", 400_000))
	next, err := limits.Reserve(ctx, "films.example", 1)
	fmt.Println(next.Delay().Round(time.Second), err)
	// Output:
	// <nil>
	// <nil>
	// 3s <nil>
}

// The pace of a host by what its answers tell. The state belongs into the record that is kept of the host.
func ExamplePolicy() {
	policy := ratelimit.Policy{} // one at a time, later up to four, two a second
	var state ratelimit.State
	fmt.Println(policy.Places(&state), policy.Pause(&state))

	now := time.Duration(0)
	for range 40 { // a host that takes 2.2 s for each page
		now += 550 * time.Millisecond
		state = policy.Step(state, ratelimit.Report{Class: ratelimit.OK, Status: 200, Latency: 2200 * time.Millisecond, Elapsed: 2200 * time.Millisecond}, now)
	}
	fmt.Println(policy.Places(&state), policy.Pause(&state))

	state = policy.Step(state, ratelimit.Report{Class: ratelimit.Throttle, Status: 429, Elapsed: 300 * time.Millisecond, RetryAfter: 30 * time.Second}, now)
	fmt.Println(state.BlockedUntil() - now)
	// Output:
	// 1 500ms
	// 3 500ms
	// 30s
}

// A state is kept as bytes, for instance in the row of its host.
func ExampleState_MarshalBinary() {
	var policy ratelimit.Policy
	var state, again ratelimit.State
	state = policy.Step(state, ratelimit.Report{Class: ratelimit.Throttle, Status: 429, RetryAfter: time.Minute}, time.Hour)
	row, err := state.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	err = again.UnmarshalBinary(row)
	fmt.Println(again == state, again.BlockedUntil(), err)
	// Output:
	// true 1h1m0s <nil>
}

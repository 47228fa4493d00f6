package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/crawltest/demosite"
	"github.com/seine-go/seine/ratelimit"
)

// The loop of the hello world, on a site of our own: hence AllowPrivate and no spacing.
func ExampleEngine_Pages() {
	site := demosite.New(demosite.Options{Films: 3})
	if err := site.Start(); err != nil {
		log.Fatal(err)
	}
	defer site.Close()
	eng, err := crawler.New(crawler.Config{AllowPrivate: true, Spacing: -1, MaxDepth: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	var films []string
	for page, err := range eng.Pages(context.Background(), site.URL()+"films") {
		if err != nil {
			fmt.Println(err)
			continue
		}
		if strings.Contains(page.URL, "/film/") {
			films = append(films, page.Text("h1.title")+", "+page.Text(".year"))
		}
		page.Follow("li.film a.title")
	}
	slices.Sort(films)
	fmt.Println(len(films), "films")
	// Output: 3 films
}

// Handlers by pattern, in parallel, with what they save in the Store.
func ExampleEngine_Run() {
	site := demosite.New(demosite.Options{Films: 3})
	if err := site.Start(); err != nil {
		log.Fatal(err)
	}
	defer site.Close()

	var mux crawler.Mux
	mux.HandleFunc("/films", func(_ context.Context, p *crawler.Page) error {
		p.Follow("li.film a.title, a[rel=next]")
		return nil
	})
	mux.HandleFunc("/film/{id}", func(_ context.Context, p *crawler.Page) error {
		return p.Save("film/"+p.PathValue("id"), map[string]string{"title": p.Text("h1.title")})
	})
	store := &crawler.MemoryStore{}
	eng, err := crawler.New(crawler.Config{Handler: &mux, Store: store, AllowPrivate: true, Spacing: -1, PerHost: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	stats, err := eng.Run(context.Background(), site.URL()+"films")
	if err != nil {
		log.Fatal(err)
	}
	saved := 0
	for _, err := range store.Scan(context.Background(), "film/") {
		if err == nil {
			saved++
		}
	}
	fmt.Println(stats.Pages, "pages,", saved, "films saved")
	// Output: 4 pages, 3 films saved
}

// What fails is told to a hook; robots.txt counts as a refusal, not as a failure.
func ExampleHooks() {
	site := demosite.New(demosite.Options{Films: 1})
	if err := site.Start(); err != nil {
		log.Fatal(err)
	}
	defer site.Close()
	var mu sync.Mutex
	eng, err := crawler.New(crawler.Config{
		AllowPrivate: true, Spacing: -1,
		Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil }),
		Hooks: crawler.Hooks{Failed: func(_ context.Context, err *crawler.PageError) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Println(strings.ReplaceAll(err.Error(), site.URL(), "/"))
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	if _, err := eng.Run(context.Background(), site.URL()+"no/such/page"); err != nil {
		log.Fatal(err)
	}
	// Output: seine: status 404 (Not Found) from /no/such/page (attempt 1)
}

func ExampleMux() {
	var mux crawler.Mux
	mux.HandleFunc("films.example/title/{id}", func(context.Context, *crawler.Page) error { return nil })
	mux.HandleFunc("*.films.example/", func(context.Context, *crawler.Page) error { return nil })
	mux.HandleFunc("/title/{id", func(context.Context, *crawler.Page) error { return nil })
	fmt.Println(mux.Check())
	// Output: seine: mux: pattern "/title/{id": segment "{id" is neither text nor a wildcard
}

func ExampleNewMemory() {
	ctx := context.Background()
	f := crawler.NewMemory(crawler.MemoryOptions{})
	statuses, err := f.Add(ctx, &crawler.Request{URL: "https://films.example/"}, &crawler.Request{URL: "https://films.example/"})
	fmt.Println(statuses, err)
	batch, err := f.Lease(ctx, crawler.LeaseRequest{Owner: "me", Max: 10})
	fmt.Println(len(batch.Leases), err)
	err = f.Settle(ctx, crawler.Settlement{Lease: batch.Leases[0], Outcome: crawler.Done})
	s, _ := f.Stats(ctx)
	fmt.Println(s.Done, s.Finished, err)
	// Output:
	// [added duplicate] <nil>
	// 1 <nil>
	// 1 true <nil>
}

// A budget for the run and one for each host: what ended the run is told, what a host was spared is listed.
func ExampleBudget() {
	site := demosite.New(demosite.Options{Films: 30})
	if err := site.Start(); err != nil {
		log.Fatal(err)
	}
	defer site.Close()
	eng, err := crawler.New(crawler.Config{
		AllowPrivate: true, Spacing: -1,
		MaxPages: 10, MaxTime: time.Hour,
		HostBudget: crawler.Budget{Pages: 100, Bytes: 10 << 20},
		Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	stats, err := eng.Run(context.Background(), site.URL())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Pages, "pages,", stats.Spent, "is spent")
	// Output: 10 pages, MaxPages is spent
}

// Time-outs are waited out for longer and tried more often; a host that is down is asked again a few times in all.
func ExampleRetryPolicy() {
	_, err := crawler.New(crawler.Config{
		MaxAttempts: 3,
		Retry: crawler.RetryPolicy{
			Rules:   map[crawler.RetryClass]crawler.RetryRule{crawler.RetryTimeout: {Attempts: 5, Wait: time.Minute}},
			HostMin: 20, // and two for each page that came through
		},
	})
	fmt.Println(err)
	// Output: <nil>
}

// Why a URL is, or is not, fetched.
func ExampleEngine_Explain() {
	eng, err := crawler.New(crawler.Config{
		IgnoreRobots: true,
		Scope:        crawler.Scope{Domains: []string{"films.example"}, Exclude: []string{"/login"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, url := range []string{"https://films.example/title/1", "https://films.example/login?to=/", "https://books.example/"} {
		x, err := eng.Explain(context.Background(), url)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(x.Verdict())
	}
	// Output:
	// not seen: a link to it would be queued
	// refused: out of scope: https://films.example/login?to=/: Scope.Exclude has "/login"
	// refused: out of scope: https://books.example/: its host is to be named in Scope.Hosts as "books.example", or its domain in Scope.Domains
}

// Hooks round the stages of a request: the context of each goes on to what it stands round.
func ExampleHooks_stages() {
	site := demosite.New(demosite.Options{Films: 1})
	if err := site.Start(); err != nil {
		log.Fatal(err)
	}
	defer site.Close()
	type span struct{}
	stage := func(name string) crawler.StageHook {
		return func(ctx context.Context, _ crawler.Stage) (context.Context, func(crawler.StageEnd)) {
			path, _ := ctx.Value(span{}).(string)
			path += "/" + name
			return context.WithValue(ctx, span{}, path), func(crawler.StageEnd) { fmt.Println(path, "ends") }
		}
	}
	eng, err := crawler.New(crawler.Config{
		AllowPrivate: true, Spacing: -1,
		Hooks: crawler.Hooks{Visit: stage("visit"), Fetch: stage("fetch"), Handle: stage("handle"), Settle: stage("settle")},
		Handler: crawler.HandlerFunc(func(ctx context.Context, _ *crawler.Page) error {
			fmt.Println("the handler is in", ctx.Value(span{}))
			return nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	if _, err := eng.Run(context.Background(), site.URL()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// /visit/fetch ends
	// the handler is in /visit/handle
	// /visit/handle ends
	// /visit/settle ends
	// /visit ends
}

// A crawl that is finished can be told to begin anew; by default it fetches nothing again, and says so.
func ExampleResume() {
	site := demosite.New(demosite.Options{Films: 3})
	if err := site.Start(); err != nil {
		log.Fatal(err)
	}
	defer site.Close()
	frontier, store := crawler.NewMemory(crawler.MemoryOptions{}), &crawler.MemoryStore{}
	for _, mode := range []crawler.Resume{crawler.ResumeContinue, crawler.ResumeContinue, crawler.ResumeAgain} {
		eng, err := crawler.New(crawler.Config{
			Frontier: frontier, Store: store, Resume: mode, AllowPrivate: true, Spacing: -1,
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
				p.Follow("li.film a.title")
				return nil
			}),
		})
		if err != nil {
			log.Fatal(err)
		}
		stats, err := eng.Run(context.Background(), site.URL()+"films")
		fmt.Println(stats.Pages, "pages, finished before:", errors.Is(err, crawler.ErrFinished))
		eng.Close()
	}
	// Output:
	// 4 pages, finished before: false
	// 0 pages, finished before: true
	// 4 pages, finished before: false
}

// Limits beside the pace of hosts: ten requests a second over all, one in two seconds to the hosts of a slow site.
func ExampleConfig_limits() {
	all, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{{Match: "*", Rate: ratelimit.PerSecond(10)}}})
	if err != nil {
		log.Fatal(err)
	}
	hosts, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{
		{Match: "*.slow.example", Rate: ratelimit.Every(2 * time.Second)},
	}})
	if err != nil {
		log.Fatal(err)
	}
	eng, err := crawler.New(crawler.Config{Limiter: all, HostLimiter: hosts, Address: crawler.HostPolicy{MaxInFlight: 2}})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	// Later, while it runs:
	err = hosts.SetRules(ratelimit.Rule{Match: "*.slow.example", Rate: ratelimit.PerSecond(5), Burst: 10})
	fmt.Println(err)
	// Output: <nil>
}

// The scope can be replaced at any time, also while a run goes on.
func ExampleEngine_SetScope() {
	ctx := context.Background()
	eng, err := crawler.New(crawler.Config{IgnoreRobots: true, Scope: crawler.Scope{Domains: []string{"films.example"}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(eng.SetScope(ctx, crawler.Scope{Domains: []string{"co.uk"}}))
	if err := eng.SetScope(ctx, crawler.Scope{Domains: []string{"films.example"}, Exclude: []string{"/forum/"}}); err != nil {
		log.Fatal(err)
	}
	x, err := eng.Explain(ctx, "https://films.example/forum/1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Verdict())
	// Output:
	// seine: config: Scope.Domains: "co.uk" is a public suffix, under which anybody has a site
	// refused: out of scope: https://films.example/forum/1: Scope.Exclude has "/forum/"
}

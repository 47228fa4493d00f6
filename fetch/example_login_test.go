package fetch_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/cookie"
)

// A session logs in once, by the form of the site, before its first request.
func ExampleLogin() {
	site := demosite.New(demosite.Options{Films: 1})
	if err := site.Start(); err != nil {
		panic(err)
	}
	defer site.Close()
	tr := &fetch.Transport{Cookies: new(cookie.Jars).Open, AllowPrivate: true}
	defer tr.Close()
	login := func(ctx context.Context, f fetch.Fetcher, session string) error {
		page, err := f.Fetch(ctx, &fetch.Request{URL: site.URL() + "login"})
		if err != nil {
			return err
		}
		form, err := extract.NewDocument(page.Body, extract.DocumentOptions{URL: page.URL, Header: page.Header}).Form("form[action='/login']")
		if err != nil {
			return err
		}
		if err := form.Set("user", demosite.User); err != nil {
			return err
		}
		if err := form.Set("password", demosite.Password); err != nil {
			return err
		}
		sent, err := form.Submit("")
		if err != nil {
			return err
		}
		resp, err := f.Fetch(ctx, &fetch.Request{
			URL: sent.URL, Method: sent.Method, Body: sent.Body, Header: http.Header{"Content-Type": {sent.ContentType}},
		})
		if err != nil {
			return err
		}
		return resp.StatusErr()
	}
	f := fetch.Chain(tr, fetch.Login(fetch.LoginPolicy{
		Login: login,
		Out:   func(r *fetch.Response) bool { return len(r.Redirects) > 0 }, // to the login
	}))
	for range 2 {
		resp, err := f.Fetch(context.Background(), &fetch.Request{URL: site.URL() + "members/", Route: fetch.Route{Session: "ann"}})
		if err != nil {
			panic(err)
		}
		fmt.Println(resp.Status, len(resp.Redirects))
	}
	// Output:
	// 200 0
	// 200 0
}

package crawler_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// searchSite has a form, which it answers to by what was sent.
func searchSite() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<!doctype html><form action=/search method=post><input name=q><select name=year><option>2023<option>2024</select><button name=go value=1>`)
		case "/search":
			fmt.Fprintf(w, "<!doctype html><p>%s %s %s</p>", r.Method, r.Header.Get("Content-Type"), body)
		default:
			http.NotFound(w, r)
		}
	}))
}

func ExamplePage_Submit() {
	site := searchSite()
	defer site.Close()
	eng, err := crawler.New(crawler.Config{AllowPrivate: true, Spacing: -1, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
		if p.Depth > 0 {
			fmt.Println(p.Text("p"))
			return nil
		}
		form, err := p.Form("form")
		if err != nil {
			return err
		}
		if err := form.Set("q", "长江 图"); err != nil {
			return err
		}
		if err := form.Set("year", "2024"); err != nil {
			return err
		}
		return p.Submit(form, "go")
	})})
	if err != nil {
		panic(err)
	}
	defer eng.Close()
	if _, err := eng.Run(context.Background(), site.URL); err != nil {
		panic(err)
	}
	// Output: POST application/x-www-form-urlencoded q=%E9%95%BF%E6%B1%9F+%E5%9B%BE&year=2024&go=1
}

// Submissions that differ in what they send are different requests, and equal ones are one.
func TestSubmissionsAreRequests(t *testing.T) {
	t.Parallel()
	site := searchSite()
	defer site.Close()
	eng, err := crawler.New(crawler.Config{AllowPrivate: true, IgnoreRobots: true, Spacing: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	answers := map[string]int{}
	for page, err := range eng.Pages(t.Context(), site.URL) {
		if err != nil {
			t.Fatal(err)
		}
		if page.Depth > 0 {
			answers[page.Text("p")]++
			continue
		}
		for _, q := range []string{"a", "b", "a"} {
			form, err := page.Form("form")
			if err != nil {
				t.Fatal(err)
			}
			if err := form.Set("q", q); err != nil {
				t.Fatal(err)
			}
			if err := page.Submit(form, ""); err != nil {
				t.Fatal(err)
			}
		}
		if form, _ := page.Form("form"); page.Submit(form, "none") == nil {
			t.Error("a button that is not there")
		}
		if _, err := page.Form("#none"); err == nil {
			t.Error("a form that is not there")
		}
	}
	if len(answers) != 2 {
		t.Errorf("%v", answers)
	}
}

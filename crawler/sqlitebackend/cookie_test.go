package sqlitebackend_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/sqlitebackend"
	"github.com/seine-go/seine/fetch/cookie"
)

// club lets in who has logged in, which can be done once.
type club struct {
	mu     sync.Mutex
	logins int
	inside func() // before a member's page is served
	faults []string
}

func (c *club) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	if r.URL.Path == "/login" {
		c.logins++
		http.SetCookie(w, &http.Cookie{Name: "member", Value: fmt.Sprint(c.logins), Path: "/"})
		fmt.Fprint(w, `<a href="/members/1">one</a> <a href="/members/2">two</a>`)
		return
	}
	if m, err := r.Cookie("member"); err != nil || m.Value != "1" {
		c.faults = append(c.faults, fmt.Sprint(r.URL.Path, " is asked for with ", r.Header.Get("Cookie")))
	}
	if c.inside != nil {
		c.inside()
	}
	fmt.Fprint(w, "films")
}

// visitClub crawls it. The jars are in the file of the crawl: a cookie is in it before the page that set it is settled.
func visitClub(ctx context.Context, path, url string) error {
	db, err := sqlitebackend.Open(ctx, path, sqlitebackend.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	jars := &cookie.Jars{Store: db.Store()}
	eng, err := crawler.New(crawler.Config{
		Name: "club", Frontier: db.Frontier(), Store: db.Store(), Cookies: jars.Open,
		IgnoreRobots: true, AllowPrivate: true, Spacing: -1, Concurrency: 1,
		Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return nil
		}),
		Hooks: crawler.Hooks{Settle: func(ctx context.Context, _ crawler.Stage) (context.Context, func(crawler.StageEnd)) {
			if err := jars.Save(ctx); err != nil {
				log.Print(err)
			}
			return ctx, nil
		}},
	})
	if err != nil {
		return err
	}
	defer eng.Close()
	_, err = eng.Run(ctx, url+"/login")
	return errors.Join(err, jars.Save(ctx))
}

// clubVar and fileVar tell a process what it is to crawl, and where to.
const (
	clubVar = "SEINE_TEST_CLUB"
	fileVar = "SEINE_TEST_FILE"
)

// A process that has logged in is killed; the one that goes on is still logged in.
func TestCookiesSurviveKills(t *testing.T) {
	if url := os.Getenv(clubVar); url != "" {
		if err := visitClub(t.Context(), os.Getenv(fileVar), url); err != nil {
			t.Fatal(err)
		}
		return
	}
	c := new(club)
	site := httptest.NewServer(c)
	defer site.Close()
	path := filepath.Join(t.TempDir(), "club.db")
	cmd := exec.Command(os.Args[0], "-test.run=^TestCookiesSurviveKills$")
	cmd.Env = append(os.Environ(), clubVar+"="+site.URL, fileVar+"="+path)
	killed := false
	c.mu.Lock() // it is served no page before that is set
	c.inside = func() {
		killed = true
		_ = cmd.Process.Kill()
	}
	err := cmd.Start()
	c.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	c.mu.Lock()
	c.inside = nil
	if err == nil || !killed {
		t.Error("the process was not killed: ", err)
	}
	c.mu.Unlock()
	if err := visitClub(t.Context(), path, site.URL); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logins != 1 || len(c.faults) > 0 {
		t.Errorf("%d logins, %v", c.logins, c.faults)
	}
}

// Cookies are kept in the file of the crawl, beside its frontier and its items.
func ExampleDB_Store_cookies() {
	site := httptest.NewServer(new(club))
	defer site.Close()
	dir, err := os.MkdirTemp("", "club")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "club.db")
	if err := visitClub(ctx, path, site.URL); err != nil {
		log.Fatal(err)
	}
	db, err := sqlitebackend.Open(ctx, path, sqlitebackend.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	jars := &cookie.Jars{Store: db.Store()}
	jar, err := jars.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(jar.Header(cookie.Exchange{URL: site.URL}))
	// Output: member=1
}

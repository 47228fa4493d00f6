package cookie

import (
	"fmt"
	"testing"
	"time"

	"github.com/seine-go/seine/internal/conformance"
	"github.com/seine-go/seine/internal/weburl"
)

func TestConformanceCookies(t *testing.T) {
	type cookieCase struct {
		URL         string    `json:"url"`
		SetCookie   []string  `json:"set_cookie"`
		ThenRequest string    `json:"then_request"`
		Cookie      string    `json:"cookie"`
		Now         time.Time `json:"now"`
	}
	cases := conformance.Load[cookieCase](t, "cookies/http-state.json")
	passed, total := conformance.Run(t, "cookies", cases, func(c cookieCase) error {
		now := c.Now
		if now.IsZero() {
			now = time.Now()
		}
		u, err := weburl.Parse(c.URL)
		if err != nil {
			return err
		}
		then, err := u.Resolve(c.ThenRequest)
		if err != nil {
			return err
		}
		jar := New(Options{Now: func() time.Time { return now }})
		jar.Set(Exchange{URL: c.URL}, c.SetCookie...)
		if got := jar.Header(Exchange{URL: then.Href()}); got != c.Cookie {
			return fmt.Errorf("sent %q, want %q", got, c.Cookie)
		}
		return nil
	})
	if passed == total && total > 0 {
		fmt.Printf("shown fetch.1: %d of %d cases of cookies\n", passed, total)
	}
}

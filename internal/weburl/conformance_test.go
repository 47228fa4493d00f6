package weburl

import (
	"fmt"
	"testing"

	"github.com/seine-go/seine/internal/conformance"
)

type urlCase struct {
	Input   string
	Base    *string
	Failure bool
	Href    string

	Protocol, Username, Password, Host, Hostname, Port, Pathname, Search, Hash string
	Origin                                                                     *string
}

func (c urlCase) parse() (URL, error) {
	if c.Base == nil {
		return Parse(c.Input)
	}
	base, err := Parse(*c.Base)
	if err != nil {
		return URL{}, err
	}
	return base.Resolve(c.Input)
}

func TestConformanceURL(t *testing.T) {
	cases := conformance.Load[urlCase](t, "url/urltestdata.json")
	conformance.Show(t, "first-crawl.4", "url", cases, func(c urlCase) error {
		u, err := c.parse()
		switch {
		case c.Failure && err == nil:
			return fmt.Errorf("%q must be refused, not become %q", c.Input, u.Href())
		case c.Failure:
			return nil
		case err != nil:
			return err
		case u.Href() != c.Href:
			return fmt.Errorf("%q becomes %q, not %q", c.Input, u.Href(), c.Href)
		}
		return nil
	})
}

func TestConformanceToASCII(t *testing.T) {
	type hostCase struct {
		Input  string
		Output *string
	}
	cases := conformance.Load[hostCase](t, "url/toascii.json")
	conformance.Show(t, "first-crawl.4", "toascii", cases, func(c hostCase) error {
		u, err := Parse("https://" + c.Input + "/x")
		switch {
		case c.Output == nil && err == nil:
			return fmt.Errorf("%q must be refused, not become %q", c.Input, u.Hostname())
		case c.Output == nil:
			return nil
		case err != nil:
			return err
		case u.Hostname() != *c.Output:
			return fmt.Errorf("%q becomes %q, not %q", c.Input, u.Hostname(), *c.Output)
		}
		return nil
	})
}

// The parts that the cases state beside the href, read through Parse and through Split.
func TestPartsOfSuite(t *testing.T) {
	for _, c := range conformance.Load[urlCase](t, "url/urltestdata.json") {
		u, err := c.Data.parse()
		if c.Data.Failure || err != nil {
			continue
		}
		split, ok := Split(u.Href())
		if !ok || split != u {
			t.Errorf("%s: Split(%q) = %+v, %v, not %+v", c.ID, u.Href(), split, ok, u)
		}
		search, hash := "", ""
		if u.Query() != "" {
			search = "?" + u.Query()
		}
		if u.Fragment() != "" {
			hash = "#" + u.Fragment()
		}
		got := [...]string{u.Scheme() + ":", u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), u.Path(), search, hash}
		d := c.Data
		want := [...]string{d.Protocol, d.Username, d.Password, d.Host, d.Hostname, d.Port, d.Pathname, d.Search, d.Hash}
		if got != want {
			t.Errorf("%s: %q has the parts %q, not %q", c.ID, d.Input, got, want)
		}
		if d.Origin != nil && u.Origin() != *d.Origin {
			t.Errorf("%s: %q has the origin %q, not %q", c.ID, d.Input, u.Origin(), *d.Origin)
		}
	}
}

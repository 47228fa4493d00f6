package dedupe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/conformance"
)

type canonCase struct {
	Profile     string
	Input       string
	InputBase64 string `json:"input_base64"`
	Expected    *string
	Options     struct {
		KeepFragments       bool     `json:"keep_fragments"`
		QuerySeparator      string   `json:"query_separator"`
		Encoding            string   `json:"encoding"`
		QueryParamsToRemove []string `json:"queryParamsToRemove"`
		Form                string   `json:"form"`
		Scheme              bool     `json:"scheme"`
		TrailingComma       bool     `json:"trailing_comma"`
	}
}

func (c canonCase) canonicalizer() (*Canonicalizer, error) {
	profile, err := ParseProfile(c.Profile)
	if err != nil {
		return nil, err
	}
	options := Options{
		KeepFragments: c.Options.KeepFragments, QuerySeparator: c.Options.QuerySeparator, Encoding: c.Options.Encoding,
		QueryParamsToRemove: c.Options.QueryParamsToRemove,
	}
	switch c.Options.Form {
	case "":
	case "ssurt":
		options.Form = SortedSURT
	case "surt":
		options.OmitScheme, options.OmitTrailingComma = !c.Options.Scheme, !c.Options.TrailingComma
	default:
		return nil, fmt.Errorf("unknown form %q", c.Options.Form)
	}
	return New(profile, options)
}

func (c canonCase) input() (string, error) {
	if c.InputBase64 == "" {
		return c.Input, nil
	}
	raw, err := conformance.Base64(c.InputBase64)
	return string(raw), err
}

func (c canonCase) run() error {
	canonicalizer, err := c.canonicalizer()
	if err != nil {
		return err
	}
	input, err := c.input()
	if err != nil {
		return err
	}
	key, err := canonicalizer.Key(input)
	switch {
	case c.Expected == nil && err == nil:
		return fmt.Errorf("%q must be refused, not become %q", input, key)
	case c.Expected == nil:
		return nil
	case err != nil:
		return err
	case key != *c.Expected:
		return fmt.Errorf("%q becomes %q, not %q", input, key, *c.Expected)
	}
	return nil
}

func TestConformanceCanonicalize(t *testing.T) {
	byProfile := map[string][]conformance.Case[canonCase]{}
	var names []string
	for _, c := range conformance.Load[canonCase](t, "url/canonicalize.json") {
		if byProfile[c.Data.Profile] == nil {
			names = append(names, c.Data.Profile)
		}
		byProfile[c.Data.Profile] = append(byProfile[c.Data.Profile], c)
	}
	for _, name := range names {
		conformance.Show(t, "first-crawl.4", "canonicalize-"+name, byProfile[name], canonCase.run)
	}
}

// A key is its own key, in the suites too.
func TestKeysOfSuiteAreFixedPoints(t *testing.T) {
	for _, c := range conformance.Load[canonCase](t, "url/canonicalize.json") {
		if c.Data.Expected == nil || strings.EqualFold(c.Data.Profile, "surt") {
			continue
		}
		canonicalizer, err := c.Data.canonicalizer()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := canonicalizer.Key(*c.Data.Expected); err != nil || again != *c.Data.Expected {
			t.Errorf("%s: the key %q has the key %q, %v", c.ID, *c.Data.Expected, again, err)
		}
	}
}

package release_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/seine-go/seine/internal/conformance"
	"github.com/seine-go/seine/torrent/release"
)

type nameCase struct {
	Input        string
	Expected     map[string]json.RawMessage
	Absent       []string
	ExceptFields map[string]string `json:"except_fields"`
}

// scores are the fields that are scored, with the least share that must pass.
var scores = []struct {
	name, field string
	least       float64
	get         func(release.Info) any // nil when nothing was found
}{
	{"release-title", "title", 0.90, func(r release.Info) any { return orNil(r.Title == "", foldTitle(r.Title)) }},
	{"release-year", "year", 0.99, func(r release.Info) any { return orNil(r.Year == 0, []int{r.Year}) }},
	{"release-season", "season", 0.93, func(r release.Info) any { return orNil(len(r.Seasons) == 0, r.Seasons) }},
	{"release-episode", "episode", 0.93, func(r release.Info) any { return orNil(len(r.Episodes) == 0, r.Episodes) }},
	{"release-resolution", "screen_size", 0.98, func(r release.Info) any { return orNil(r.Resolution == "", r.Resolution) }},
}

func TestConformanceReleaseNames(t *testing.T) {
	var cases []conformance.Case[nameCase]
	for _, file := range []string{"release-names/mit.json", "release-names/guessit-lgpl.json"} {
		cases = append(cases, conformance.Load[nameCase](t, file)...)
	}
	var shares []string
	for _, s := range scores {
		var failed strings.Builder
		passed, total := 0, 0
		for _, c := range cases {
			want, scored := c.Data.Expected[s.field]
			absent := slices.Contains(c.Data.Absent, s.field)
			if !scored && !absent {
				continue
			}
			if reason, ok := c.Data.ExceptFields[s.field]; ok {
				fmt.Fprintf(&failed, "conformance %s except: %s %s\n", s.name, c.ID, reason)
				continue
			}
			total++
			got := s.get(release.Parse(c.Data.Input))
			if absent && got == nil || !absent && reflect.DeepEqual(got, normal(s.field, want)) {
				passed++
				continue
			}
			fmt.Fprintf(&failed, "conformance %s fail: %s got %v, want %s\n", s.name, c.ID, got, want)
		}
		fmt.Printf("conformance %s: %d/%d\n%s", s.name, passed, total, failed.String())
		if float64(passed) < s.least*float64(total) {
			t.Errorf("%s: %d of %d, want at least %.0f %%", s.name, passed, total, 100*s.least)
		}
		shares = append(shares, fmt.Sprintf("%s %.1f %%", s.name, 100*float64(passed)/float64(max(total, 1))))
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.1: %s\n", strings.Join(shares, ", "))
	}
}

// normal brings an expected value into the form that scores give.
func normal(field string, raw json.RawMessage) any {
	switch field {
	case "title", "screen_size":
		var s string
		_ = json.Unmarshal(raw, &s)
		if field == "title" {
			return foldTitle(s)
		}
		if s = strings.ToLower(s); s == "4k" {
			return "2160p"
		}
		return s
	}
	var list []int
	if json.Unmarshal(raw, &list) != nil {
		list = make([]int, 1)
		_ = json.Unmarshal(raw, &list[0])
	}
	return list
}

func orNil(none bool, v any) any {
	if none {
		return nil
	}
	return v
}

// foldTitle compares without case and widths, runs of blanks as one. Of compatibility forms (NFKC) those that names
// hold are the wide ones and Roman numerals.
func foldTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		if 0xff01 <= r && r <= 0xff5e {
			r -= 0xfee0
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

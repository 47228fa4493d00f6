package demosite

import (
	"math"
	"testing"
)

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   []string
		want bool
	}{
		{"none", nil, false},
		{"empty", []string{""}, false},
		{"alone", []string{"gzip"}, true},
		{"old name, in capitals", []string{"X-GZIP"}, true},
		{"among others", []string{"br;q=1.0, gzip ; q=0.8, *;q=0.1"}, true},
		{"in two fields", []string{"br", "gzip"}, true},
		{"weight zero", []string{"gzip;q=0"}, false},
		{"weight zero beside a star", []string{"*, gzip;q=0.000"}, false},
		{"star", []string{"*"}, true},
		{"star of no weight", []string{"*;q=0"}, false},
		{"others only", []string{"br, deflate, identity"}, false},
		{"a longer name", []string{"gzipped"}, false},
		{"a weight past the bound", []string{"gzip;q=1.1"}, false},
		{"a weight that is no number", []string{"gzip;q=NaN"}, false},
		{"no weight after its sign", []string{"gzip;q="}, false},
	} {
		if got := acceptsGzip(tt.in); got != tt.want {
			t.Errorf("%s: %q: %v", tt.name, tt.in, got)
		}
	}
}

func FuzzAcceptsGzip(f *testing.F) {
	f.Add("gzip;q=0.5, *;q=0")
	f.Add(", ;;q=,gzip;Q=1e-9")
	f.Fuzz(func(t *testing.T, value string) {
		if acceptsGzip([]string{value}) && acceptsGzip([]string{value, "gzip;q=0", "*;q=0"}) {
			t.Errorf("%q overrules what comes after it", value)
		}
	})
}

// TestEncodersRefuseWhatTheyCannotSay: a page never has a question mark for a letter.
func TestEncodersRefuseWhatTheyCannotSay(t *testing.T) {
	t.Parallel()
	for text, encode := range map[string]func(string) ([]byte, error){"é": toGBK, "龘": toGBK, "я": toGBK, "é ": toWindows1251, "中": toWindows1251} {
		if b, err := encode(text); err == nil {
			t.Errorf("%q became %x", text, b)
		}
	}
	if b, err := toWindows1251("Ёё Ая"); err != nil || string(b) != "\xa8\xb8 \xc0\xff" {
		t.Errorf("%x, %v", b, err)
	}
}

// TestPairsAreAllUsedBeforeOneComesAgain holds for every step that a seed may choose.
func TestPairsAreAllUsedBeforeOneComesAgain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		seen := map[[2]int]bool{}
		for id := 1; id <= len(titleAdjectives)*len(titleNouns); id++ {
			a, b, round := pair(seed, streamTitle, id, len(titleAdjectives), len(titleNouns))
			if seen[[2]int{a, b}] || round != 0 {
				t.Fatalf("seed %d: pair %d, %d again at %d, round %d", seed, a, b, id, round)
			}
			seen[[2]int{a, b}] = true
		}
	}
	if n := len(titleAdjectives) * len(titleNouns) * len(titleForms); n < MaxFilms {
		t.Errorf("%d titles for %d films", n, MaxFilms)
	}
}

func TestExpectHasNames(t *testing.T) {
	t.Parallel()
	if got := Never.String() + ", " + Expect(-1).String() + ", " + Expect(math.MaxInt8).String(); got != "never, expect(-1), expect(127)" {
		t.Error(got)
	}
}

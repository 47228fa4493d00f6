package release_test

import (
	"reflect"
	"testing"

	"github.com/seine-go/seine/torrent/release"
)

// Numbers that are too long are none, rather than their first digits.
func TestLongNumbersAreNone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, title string
		seasons     []int
		episodes    []int
	}{
		{"Show.S01E9999999999", "Show", []int{1}, nil},
		{"Show.S01E99999.1080p.WEB-DL-GRP", "Show", []int{1}, nil},
		{"Show.S01E9999.1080p", "Show", []int{1}, []int{9999}},
		{"Show.S99999999999999999999E1", "Show S99999999999999999999E1", nil, nil},
		{"Show S01E01-E99999", "Show", []int{1}, []int{1}},
		{"Show.1x99999", "Show 1x99999", nil, nil},
		{"Show Season 99999", "Show Season 99999", nil, nil},
		{"Show Episode 123456", "Show Episode 123456", nil, nil},
		{"Show 12345 серия", "Show 12345 серия", nil, nil},
		{"Show 第99999集", "Show", nil, nil},
		{"Show 第99999季 第05集", "Show", nil, []int{5}},
	}
	for _, tt := range tests {
		got := release.Parse(tt.name)
		if got.Title != tt.title || !reflect.DeepEqual(got.Seasons, tt.seasons) || !reflect.DeepEqual(got.Episodes, tt.episodes) || got.Group != "" && got.Group != "GRP" {
			t.Errorf("%q: %+v", tt.name, got)
		}
	}
}

// The last element of a path is the name, also of a folder.
func TestNamesOfFolders(t *testing.T) {
	t.Parallel()
	want := release.Parse("Show.S01.1080p.WEB-DL-GRP")
	if want.Title != "Show" || want.Group != "GRP" {
		t.Fatalf("got %+v", want)
	}
	for _, name := range []string{"Show.S01.1080p.WEB-DL-GRP/", `Show.S01.1080p.WEB-DL-GRP\`, "/srv/tv/Show.S01.1080p.WEB-DL-GRP//", "./Show.S01.1080p.WEB-DL-GRP/", `C:\tv\Show.S01.1080p.WEB-DL-GRP\`} {
		if got := release.Parse(name); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

func TestBracketsThatRepeat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"[[Group]] Show - 05 [1080p]", "[[Group] Show - 05 [1080p]", "[[[Group]]] Show - 05 [[1080p]]"} {
		got := release.Parse(name)
		if got.Title != "Show" || got.Group != "Group" || !reflect.DeepEqual(got.Episodes, []int{5}) || got.Resolution != "1080p" {
			t.Errorf("%q: %+v", name, got)
		}
	}
	for _, name := range []string{"", "[", "[[", "[[[[", "]]", "[]", "[[]]", "((", "{", "【【", "/", "//", ".", "..", "-", "- -", "[[/]]"} {
		if got := release.Parse(name); !reflect.DeepEqual(got, release.Info{}) {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

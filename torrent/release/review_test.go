package release_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seine-go/seine/torrent/release"
)

func TestRangesOfEpisodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		season   int
		episodes []int
	}{
		{"Show 5x01-5x02", 5, []int{1, 2}},
		{"Show 10x01-10x02", 10, []int{1, 2}},
		{"Show 3x01-3x05", 3, span(1, 5)},
		{"Show 1x01-1x03", 1, span(1, 3)},
		{"Show 5x01 & 5x02", 5, []int{1, 2}},
		{"Show 5x01, 5x02", 5, []int{1, 2}},
		{"Show.9x01.9x02.HDTV", 9, []int{1, 2}},
		{"Show 5x01-02", 5, []int{1, 2}},
		{"Show 5x01x02", 5, []int{1, 2}},
		{"Show 6x01 - 6x02 - Pilot", 6, []int{1, 2}},
		{"Show.S01E01-S01E04.1080p.WEB-DL-GRP", 1, span(1, 4)},
		{"Show - s01e01-s01e03 - Pilot.mkv", 1, span(1, 3)},
		{"Show S01E01 - E03", 1, span(1, 3)},
		{"Show S01E01 to S01E03", 1, span(1, 3)},
		{"Show S01E01 & S01E03", 1, []int{1, 3}},
		{"Show S01E01E02E03", 1, span(1, 3)},
		{"Show S01E01S01E02", 1, []int{1, 2}},
		{"Show 1x01-2x05", 1, []int{1}}, // of another season
		{"Show S01E01-S02E05", 1, []int{1}},
		{"Show.S01E09-E03", 1, []int{9}},
		{"Show.S01E01.x264-GRP", 1, []int{1}},
		// A number that begins the title of an episode.
		{"Show S01E01 - 24 Hours", 1, []int{1}},
		{"Show.S01E01.-.24.Hours", 1, []int{1}},
		{"Show S01E01 – 24 Hours", 1, []int{1}},
		{"Show 1x05 - 7 Minutes.avi", 1, []int{5}},
		{"Ep. 5 - 100 Ways", 0, []int{5}},
		{"Show Episodes 1 - 12 [1080p]", 0, span(1, 12)},
		// Ranges up to the bound, and one past it: the ends alone.
		{"Show E1-E2000", 0, span(1, 2000)},
		{"Show E1-E2001", 0, []int{1, 2001}},
		{"Show 第1-2000集", 0, span(1, 2000)},
		{"Show 第1-2001集", 0, []int{1, 2001}},
		{"Show 1-2001 серия", 0, []int{1, 2001}},
	}
	for _, tt := range tests {
		got := release.Parse(tt.name)
		season := 0
		if len(got.Seasons) > 0 {
			season = got.Seasons[0]
		}
		if season != tt.season || len(got.Seasons) > 1 || !reflect.DeepEqual(got.Episodes, tt.episodes) {
			t.Errorf("%s: season %v, episodes %v, want %d, %v", tt.name, got.Seasons, got.Episodes, tt.season, tt.episodes)
		}
	}
}

// Words that titles hold say something behind the title alone.
func TestWordsOfTitlesAreNoTags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		want release.Info
	}{
		{"Charlotte's.Web.2006.1080p", release.Info{Title: "Charlotte's Web", Year: 2006, Resolution: "1080p"}},
		{"Mr.Hollands.Opus.1995.720p", release.Info{Title: "Mr Hollands Opus", Year: 1995, Resolution: "720p"}},
		{"The.Danish.Girl.2015.1080p", release.Info{Title: "The Danish Girl", Year: 2015, Resolution: "1080p"}},
		{"The.English.Patient.1996.1080p", release.Info{Title: "The English Patient", Year: 1996, Resolution: "1080p"}},
		{"A.Complete.Unknown.2024.1080p", release.Info{Title: "A Complete Unknown", Year: 2024, Resolution: "1080p"}},
		{"A.Proper.Job.2020.1080p", release.Info{Title: "A Proper Job", Year: 2020, Resolution: "1080p"}},
		{"The.Final.Cut.2004", release.Info{Title: "The Final Cut", Year: 2004}},
		{"The.Web.S01E01.1080p.BluRay", release.Info{Title: "The Web", Seasons: []int{1}, Episodes: []int{1}, Resolution: "1080p", Source: "BluRay"}},
		{"Anatomie.2023.FRENCH.PROPER.1080p.WEB", release.Info{
			Title: "Anatomie", Year: 2023, Resolution: "1080p", Source: "WEB", Languages: []string{"fr"}, Proper: true,
		}},
		{"Harbour COMPLETE S01 1080p", release.Info{Title: "Harbour", Seasons: []int{1}, Complete: true, Resolution: "1080p"}},
		{"[Group] Kaze no Michi [Multi][1080p]", release.Info{Title: "Kaze no Michi", Group: "Group", Languages: []string{"multi"}, Resolution: "1080p"}},
	}
	for _, tt := range tests {
		if got := release.Parse(tt.name); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

func TestHDR(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"Film.2020.2160p.HDR10+.HEVC-GRP": {"HDR10+"}, "Film.2020.HDR10+": {"HDR10+"}, "Film.2020.HDR10Plus.x265": {"HDR10+"}, "Film.2020.HDR10P": {"HDR10+"},
		"Film 2160p DV HDR10+ x265": {"DV", "HDR10+"}, "Film.2020.HDR10.x265": {"HDR10"}, "Film 2020 x265 HDR10+DV": {"HDR10", "DV"}, "Film.2020.HDR+.x": {"HDR"},
	} {
		if got := release.Parse(name); !reflect.DeepEqual(got.HDR, want) {
			t.Errorf("%s: %q, want %q", name, got.HDR, want)
		}
	}
}

func TestGroupBehindADash(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Show - S01E02 - Pilot.mkv": "", "Show - 1x02 - Pilot.mkv": "", "Show - S01E02 - Pilot (1080p).mkv": "", "Movie (2010) - CD1.avi": "", "Movie.2010-CD1.avi": "",
		"Movie (2010) - Extended.mkv": "", "Movie 1080p - Extended.mkv": "", "Show.S01E09-E03": "", "Show.S01E09-S01E03": "", "Movie - 2010 - Drama.mkv": "",
		"Show.S01E02.1080p-GRP.mkv": "GRP", "Movie 2010 720p x264 ESub - GRP": "GRP", "Movie (2010) [720p x264] - GRP": "GRP",
	} {
		if got := release.Parse(name); got.Group != want {
			t.Errorf("%s: group %q, want %q", name, got.Group, want)
		}
	}
	if got := release.Parse("Movie (2010) - Extended.mkv"); !reflect.DeepEqual(got.Edition, []string{"Extended"}) {
		t.Errorf("edition %q", got.Edition)
	}
}

func TestExtensionNeedsAName(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"mkv", ".mkv", "sub", "iso", "a/mkv", "a/.mkv", "...mkv", " .srt", ".r00", "r00"} {
		if got := release.Classify(path, 0); got != release.Other {
			t.Errorf("Classify(%q): %s", path, got)
		}
	}
	for _, name := range []string{".mkv", " .mkv", "...mkv"} {
		if got := release.Parse(name); !reflect.DeepEqual(got, release.Info{}) {
			t.Errorf("%q: %+v", name, got)
		}
	}
	if got := release.Parse("mkv"); got.Title != "mkv" || got.Container != "" {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkParseHostile(b *testing.B) {
	for _, piece := range []string{"a ", "1 ", "5.1 ", "2010 ", "- 01 ", "e1-2 ", "s01e1-2000 ", "web 2010 1080p ", "[a]", "(1)"} {
		b.Run(piece, func(b *testing.B) {
			name := strings.Repeat(piece, release.MaxBytes/len(piece))
			for b.Loop() {
				release.Parse(name)
			}
		})
	}
}

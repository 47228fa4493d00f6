package release_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seine-go/seine/torrent/release"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		want release.Info
	}{
		{"The.Quiet.Harbour.S02E05-E07.Some.Words.2160p.AMZN.WEB-DL.DDP5.1.DV.HDR10.H.265-GROUP.mkv", release.Info{
			Title: "The Quiet Harbour", Seasons: []int{2}, Episodes: []int{5, 6, 7}, Resolution: "2160p", Source: "WEB-DL", Video: "H.265",
			HDR: []string{"DV", "HDR10"}, Audio: []string{"EAC3"}, Channels: "5.1", Group: "GROUP", Container: "mkv",
		}},
		{"Northern Lights (2011) Director's Cut 1080p BluRay REMUX AVC DTS-HD MA 7.1-TEAM", release.Info{
			Title: "Northern Lights", Year: 2011, Resolution: "1080p", Source: "BluRay", Remux: true, Video: "H.264",
			Audio: []string{"DTS-HD MA"}, Channels: "7.1", Edition: []string{"Director's Cut"}, Group: "TEAM",
		}},
		{"[SubGroup] Kaze no Michi - 07v2 [1080p][HEVC 10bit][A1B2C3D4].mkv", release.Info{
			Title: "Kaze no Michi", Episodes: []int{7}, Resolution: "1080p", Video: "H.265", BitDepth: 10, Group: "SubGroup",
			Checksum: "A1B2C3D4", Container: "mkv",
		}},
		{"风的道路 第二季 第03集 1080p WEB-DL", release.Info{
			Title: "风的道路", Seasons: []int{2}, Episodes: []int{3}, Resolution: "1080p", Source: "WEB-DL",
		}},
		{"【字幕组】风的道路 Road of Wind 第十二話 [720p]", release.Info{
			Title: "Road of Wind", Episodes: []int{12}, Resolution: "720p", Group: "字幕组",
		}},
		{"[Group][Road of Wind][01-26][1080p]", release.Info{
			Title: "Road of Wind", Episodes: span(1, 26), Resolution: "1080p", Group: "Group",
		}},
		{"Дорога ветра / Road of Wind / Сезон: 1-3 / Серии: 1-30 из 30 [2011-2014, WEB-DLRip 1080p]", release.Info{
			Title: "Road of Wind", Year: 2011, Seasons: []int{1, 2, 3}, Episodes: span(1, 30), Resolution: "1080p", Source: "WEB-DL",
		}},
		{"El Camino - Temporada 3 [HDTV 720p][Cap.305_307][Castellano]", release.Info{
			Title: "El Camino", Seasons: []int{3}, Episodes: []int{5, 6, 7}, Resolution: "720p", Source: "HDTV", Languages: []string{"es"},
		}},
		{"The.Daily.Talk.2021.03.09.720p.WEB.x264-XYZ", release.Info{
			Title: "The Daily Talk", Year: 2021, Date: "2021-03-09", Resolution: "720p", Source: "WEB", Video: "H.264", Group: "XYZ",
		}},
		{"Series/Quiet Harbour (2015)/Season 4/E05.mkv", release.Info{
			Title: "Quiet Harbour", Year: 2015, Seasons: []int{4}, Episodes: []int{5}, Container: "mkv",
		}},
		{"Harbour.S01.COMPLETE.PROPER.1080p.BluRay.x264-ABC", release.Info{
			Title: "Harbour", Seasons: []int{1}, Complete: true, Proper: true, Resolution: "1080p", Source: "BluRay", Video: "H.264", Group: "ABC",
		}},
		{"www.some-site.org - Harbour 2019 UNRATED 480p DVDRip XviD", release.Info{
			Title: "Harbour", Year: 2019, Resolution: "480p", Source: "DVDRip", Video: "XviD", Edition: []string{"Unrated"},
		}},
		{"Harbour.3x07.HDTV", release.Info{Title: "Harbour", Seasons: []int{3}, Episodes: []int{7}, Source: "HDTV"}},
		{"", release.Info{}},
		{"...", release.Info{}},
		{"[]", release.Info{}},
		{"A Title Alone", release.Info{Title: "A Title Alone"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := release.Parse(tt.name); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func span(first, last int) (list []int) {
	for n := first; n <= last; n++ {
		list = append(list, n)
	}
	return list
}

// Numbers of four digits are not always years, and years not always the year.
func TestNumberInTitleIsNotTheYear_K149(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, title string
		year        int
	}{
		{"Blade.Runner.2049.2017.2160p.UHD.BluRay.x265", "Blade Runner 2049", 2017},
		{"Blade Runner 2049 (2017) 1080p", "Blade Runner 2049", 2017},
		{"Blade.Runner.2049.1080p.BluRay", "Blade Runner 2049", 0},
		{"2012.2009.1080p.BluRay.x264", "2012", 2009},
		{"2012 1080p BluRay", "2012", 0},
		{"1917.2019.2160p.WEB-DL", "1917", 2019},
		{"2001.A.Space.Odyssey.1968.1080p", "2001 A Space Odyssey", 1968},
		{"Wonder.Woman.1984.2020.720p.WEB", "Wonder Woman 1984", 2020},
		{"Death Race 2000 [1975] DVDRip", "Death Race 2000", 1975},
		{"Show.1999.S01E02.The.2001.Case.720p.HDTV", "Show", 1999},
		{"Show.S01E02.The.1984.Case.720p.HDTV", "Show", 0},
	}
	for _, tt := range tests {
		if got := release.Parse(tt.name); got.Title != tt.title || got.Year != tt.year {
			t.Errorf("%s: title %q, year %d, want %q, %d", tt.name, got.Title, got.Year, tt.title, tt.year)
		}
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		size int64
		want release.Kind
	}{
		{"Film.2020/film.mkv", 4 << 30, release.Video},
		{"Film.2020/Sample/film-sample.mkv", 20 << 20, release.Sample},
		{"Film.2020/film.sample.mkv", 0, release.Sample},
		{"Film.2020/sample.avi", release.SampleBytes - 1, release.Sample},
		{"Film.2020/sample.avi", release.SampleBytes, release.Video},
		{"The.Sample.Man.2020.mkv", 1 << 20, release.Video},
		{"Film/Extras/making of.mkv", 1 << 20, release.Extra},
		{"Film/film-trailer.mp4", 1 << 20, release.Extra},
		{"Film/Subs/2_English.srt", 90_000, release.Subtitle},
		{"Film/film.idx", 0, release.Subtitle},
		{"Film/poster.JPG", 0, release.Artwork},
		{"Film/film.nfo", 0, release.Text},
		{"Film/film.rar", 0, release.Archive},
		{"Film/film.r07", 0, release.Archive},
		{"Film/film.001", 0, release.Archive},
		{"Music/01.flac", 0, release.Audio},
		{"Film/film", 0, release.Other},
		{"Film/film.xyz", 0, release.Other},
		{"", 0, release.Other},
	}
	for _, tt := range tests {
		if got := release.Classify(tt.path, tt.size); got != tt.want {
			t.Errorf("%q, %d bytes: got %s, want %s", tt.path, tt.size, got, tt.want)
		}
	}
}

func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	at := strings.Repeat("a", release.MaxBytes-5) + " 720p"
	if got := release.Parse(at); got.Resolution != "720p" {
		t.Errorf("at the bound: %q", got.Resolution)
	}
	if got := release.Parse("a" + at); got.Resolution != "" {
		t.Errorf("one past: %q", got.Resolution)
	}
	deep := release.Parse("Harbour/a/b/c/d/e/f/S01/E02.mkv")
	if deep.Title != "f" || deep.Seasons[0] != 1 {
		t.Errorf("got %+v", deep)
	}
	for _, piece := range []string{"[", "(1999)", "s01e01", "01-99 ", " - 12", "第一季", "www.", "1080p.", "Season 1, 2, ", "e1-2000", "a/", "★"} {
		start := time.Now()
		release.Parse(strings.Repeat(piece, 1<<20/len(piece)))
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%q: %s", piece, d)
		}
	}
}

// FuzzTitle holds what is true of all names: no panic, valid and clean texts, numbers in their bounds.
func FuzzTitle(f *testing.F) {
	for _, seed := range []string{
		"The.Show.S02E05-E06.1080p.WEB-DL.DDP5.1.H.264-GROUP.mkv", "[Group] Title - 12v2 [720p][ABCDEF01]", "电影 第3季 第01-12集", "A/B/Season 2/03.avi",
		"Сериал (2 сезон 3 серия)", "x [", "★a★", "Cap.409_411", "1280 x 720", "\xff\xfe", "2-06. x", "S01 / S02 / S03", "19xx.2049.2017", "0.,.A", "Harbour, The (2010)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		name = name[:min(len(name), 400)] // the bound of names has its own test; short ones find more
		r := release.Parse(name)
		for _, s := range append([]string{r.Title, r.Group, r.Resolution, r.Container}, append(r.Edition, r.Languages...)...) {
			if !utf8.ValidString(s) {
				t.Fatalf("%q: %q is not UTF-8", name, s)
			}
		}
		if r.Title != strings.TrimSpace(r.Title) {
			t.Fatalf("%q: title %q has blanks around it", name, r.Title)
		}
		if r.Year != 0 && (r.Year < 1900 || r.Year > 2099) {
			t.Fatalf("%q: year %d", name, r.Year)
		}
		for _, list := range [][]int{r.Seasons, r.Episodes} {
			for i, n := range list {
				if n < 0 || i > 0 && n <= list[i-1] {
					t.Fatalf("%q: numbers %v", name, list)
				}
			}
		}
		_ = release.Classify(name, 0)
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		release.Parse("The.Quiet.Harbour.S02E05.Some.Words.2160p.AMZN.WEB-DL.DDP5.1.DV.HDR10.H.265-GROUP.mkv")
	}
}

func ExampleParse() {
	r := release.Parse("The.Show.S02E05-E06.1080p.WEB-DL.DDP5.1.H.264-GROUP.mkv")
	fmt.Println(r.Title, r.Seasons, r.Episodes, r.Resolution, r.Source, r.Video, r.Audio, r.Group)
	// Output: The Show [2] [5 6] 1080p WEB-DL H.264 [EAC3] GROUP
}

func ExampleParse_chinese() {
	r := release.Parse("[字幕组] 风的道路 第2季 [01-26][1080p]")
	fmt.Println(r.Title, r.Seasons, len(r.Episodes), r.Resolution)
	// Output: 风的道路 [2] 26 1080p
}

func ExampleClassify() {
	for _, path := range []string{"Film/film.mkv", "Film/Sample/film.mkv", "Film/Subs/en.srt", "Film/poster.jpg"} {
		fmt.Println(path, release.Classify(path, 1<<20))
	}
	// Output:
	// Film/film.mkv video
	// Film/Sample/film.mkv sample
	// Film/Subs/en.srt subtitle
	// Film/poster.jpg artwork
}

package robots

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

func TestAgentMatching(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body, agent string
		forbidden         string // paths of /a /b /c that are forbidden
	}{
		{"own group wins over star", "User-agent: *\nDisallow: /a\nUser-agent: mybot\nDisallow: /b", "mybot", "/b"},
		{"star when not named", "User-agent: *\nDisallow: /a\nUser-agent: other\nDisallow: /b", "mybot", "/a"},
		{"star groups are merged", "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: *\nDisallow: /c", "mybot", "/a /c"},
		{"case does not matter", "USER-AGENT: MyBot\ndisALLOW: /a", "mYbOT", "/a"},
		{"longer name is another", "User-agent: mybot2\nDisallow: /a\nUser-agent: mybot-news\nDisallow: /b", "mybot", ""},
		{"shorter name is another", "User-agent: my\nDisallow: /a", "mybot", ""},
		{"version is not part", "User-agent: mybot/1.2\nDisallow: /a", "mybot", "/a"},
		{"first word counts", "User-agent: mybot the best\nDisallow: /a", "mybot", "/a"},
		{"star with a comment", "User-agent: * # all\nDisallow: /a", "mybot", "/a"},
		{"star within a name is none", "User-agent: *bot\nDisallow: /a", "mybot", ""},
		{"empty group frees", "User-agent: *\nDisallow: /\nUser-agent: mybot\n", "mybot", ""},
		{"several agents share", "User-agent: x\nUser-agent: mybot\nDisallow: /a\nDisallow: /b", "mybot", "/a /b"},
		{"rule ends the list", "User-agent: mybot\nDisallow: /a\nUser-agent: x\nDisallow: /b", "mybot", "/a"},
		{"empty rule ends the list", "User-agent: mybot\nDisallow:\nUser-agent: x\nDisallow: /b", "mybot", ""},
		{"senseless rule ends the list", "User-agent: mybot\nDisallow: x\nUser-agent: x\nDisallow: /b", "mybot", ""},
		{"sitemap ends nothing", "User-agent: mybot\nSitemap: http://h/s\nUser-agent: x\nDisallow: /b", "mybot", "/b"},
		{"unknown line ends nothing", "User-agent: mybot\nHost: h\nUser-agent: x\nDisallow: /b", "mybot", "/b"},
		{"crawl-delay ends nothing", "User-agent: mybot\nCrawl-delay: 1\nUser-agent: x\nDisallow: /b", "mybot", "/b"},
		{"blank line ends nothing", "User-agent: mybot\n\n \t\n#\nDisallow: /b", "mybot", "/b"},
		{"blanks round the colon", " \tUser-agent \t: \t mybot \n  Disallow\t:/b  ", "mybot", "/b"},
		{"colon forgotten", "user-agent mybot\ndisallow  /b\ndisallow /a and more\ndisallow", "mybot", "/b"},
		{"agent without a name", "User-agent:\nDisallow: /a\nUser-agent: mybot\nDisallow: /b", "mybot", "/b"},
		{"comment inside a path", "User-agent: *\nDisallow: /b#c", "mybot", "/b"},
		{"nothing", "", "mybot", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, ending := range []string{"\n", "\r\n", "\r"} {
				rules := Parse([]byte(strings.ReplaceAll(tt.body, "\n", ending))).Agent(tt.agent)
				var got []string
				for _, path := range []string{"/a", "/b", "/c"} {
					if !rules.Allowed(path) {
						got = append(got, path)
					}
				}
				if s := strings.Join(got, " "); s != tt.forbidden {
					t.Errorf("line ending %q: forbidden %q, want %q", ending, s, tt.forbidden)
				}
			}
		})
	}
}

func TestRulesBeforeTheFirstGroupAreIgnored_K080(t *testing.T) {
	t.Parallel()
	for _, stray := range []string{"Disallow: /", "Allow: /private", "Crawl-delay: 7", "Disallow", ": /", "\x00\xFF", "Noindex: /"} {
		rules := Parse([]byte(stray + "\nUser-agent: *\nDisallow: /private\n")).Agent("mybot")
		if !rules.Allowed("/") || rules.Allowed("/private/x") {
			t.Errorf("after %q the rules do not hold", stray)
		}
		if delay, ok := rules.CrawlDelay(); ok {
			t.Errorf("after %q: crawl-delay %v", stray, delay)
		}
	}
}

func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	const none = -1
	tests := []struct {
		name, body string
		want       time.Duration
	}{
		{"whole", "Crawl-delay: 10", 10 * time.Second},
		{"fraction", "Crawl-delay: 0.25", 250 * time.Millisecond},
		{"bare fraction", "crawl-delay:.5", 500 * time.Millisecond},
		{"zero", "Crawl-delay: 0", 0},
		{"unit after a blank", "Crawl-delay: 2 seconds", 2 * time.Second},
		{"at the bound", "Crawl-delay: 300", MaxCrawlDelay},
		{"past the bound", "Crawl-delay: 300.001", MaxCrawlDelay},
		{"absurd", "Crawl-delay: 99999999999999999999", MaxCrawlDelay},
		{"out of range", "Crawl-delay: 1e999", MaxCrawlDelay},
		{"infinite", "Crawl-delay: inf", MaxCrawlDelay},
		{"tiny", "Crawl-delay: 1e-300", 0},
		{"negative", "Crawl-delay: -1", none},
		{"minus infinity", "Crawl-delay: -Inf", none},
		{"minus out of range", "Crawl-delay: -1e999", none},
		{"no number", "Crawl-delay: NaN", none},
		{"word", "Crawl-delay: slow", none},
		{"empty", "Crawl-delay:", none},
		{"absent", "Disallow: /a", none},
		{"longest counts", "Crawl-delay: 3\nCrawl-delay: 5\nDisallow: /\nCrawl-delay: 4", 5 * time.Second},
		{"of another agent", "Disallow: /\nUser-agent: x\nCrawl-delay: 5", none},
		{"merged groups", "Crawl-delay: 2\nUser-agent: x\nDisallow: /\nUser-agent: mybot\nCrawl-delay: 3", 3 * time.Second},
		{"not of the next agent", "Crawl-delay: 2\nUser-agent: x\nCrawl-delay: 9\nDisallow: /", 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := Parse([]byte("User-agent: mybot\n" + tt.body)).Agent("mybot").CrawlDelay()
			if !ok {
				got = none
			}
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSitemaps(t *testing.T) {
	t.Parallel()
	file := Parse([]byte("sitemap: /a\nUser-agent: x\nSITEMAP :http://h/b?x=1 # c\nDisallow: /\nSitemap:\nsitemap /d\n"))
	got := file.Sitemaps()
	if want := []string{"/a", "http://h/b?x=1", "/d"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got[0] = "changed"
	if file.Sitemaps()[0] != "/a" {
		t.Error("the list is shared with the caller")
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	const text = "User-agent: *\r\nDisallow: /bücher/\r\nDisallow: /𝄞\r\n"
	utf16Bytes := func(order binary.AppendByteOrder, text string) (b []byte) {
		for _, unit := range append([]uint16{0xFEFF}, utf16.Encode([]rune(text))...) {
			b = order.AppendUint16(b, unit)
		}
		return b
	}
	tests := []struct {
		name string
		body []byte
	}{
		{"plain", []byte(text)},
		{"utf-8 with mark", []byte("\uFEFF" + text)},
		{"utf-16 little endian", utf16Bytes(binary.LittleEndian, text)},
		{"utf-16 big endian", utf16Bytes(binary.BigEndian, text)},
		{"utf-16 with an odd byte", append(utf16Bytes(binary.LittleEndian, text), 'x')},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rules := Parse(tt.body).Agent("mybot")
			for path, want := range map[string]bool{"/": true, "/b%C3%BCcher/1": false, "/bücher/1": false, "/%f0%9d%84%9e": false} {
				if got := rules.Allowed(path); got != want {
					t.Errorf("%s: allowed %v, want %v", path, got, want)
				}
			}
		})
	}
	for _, body := range []string{"\xFF\xFE", "\xFE\xFF\x00", "\xFF\xFE\x00\xD8", "\xFF\xFE\x00\xD8a\x00", "\xFF\xFE\x00\xDC\x00\xDC"} {
		Parse([]byte(body)) // half characters
	}
}

func TestMarkupHasNoRules(t *testing.T) {
	t.Parallel()
	const rules = "\nUser-agent: *\nDisallow: /\n"
	for body, want := range map[string]bool{
		"<!DOCTYPE html><pre>" + rules:         true,
		"\uFEFF\r\n <HTML>" + rules:            true,
		"<?xml version='1.0'?>" + rules:        true,
		"\t<head><title>404</title>" + rules:   true,
		"# <html>" + rules:                     false,
		"<b>" + rules:                          false, // an odd line, and rules
		"<htm" + rules:                         false,
		strings.Repeat("<", 10_000) + rules:    false,
		"Disallow: <!doctype html>\n" + rules:  false,
		"User-agent: *\nDisallow: /\n<html>\n": false,
	} {
		if got := Parse([]byte(body)).Agent("mybot").Allowed("/x"); got != want {
			t.Errorf("%.40q: allowed %v, want %v", body, got, want)
		}
	}
}

// TestSizeBound shows that what lies before the bound holds, and nothing of the line that it cuts.
func TestSizeBound_K081(t *testing.T) {
	t.Parallel()
	const head, tail = "User-agent: *\nDisallow: /private\n", "Allow: /private/x"
	pad := func(size int) string {
		return head + "#" + strings.Repeat("x", size-len(head)-len(tail)-2) + "\n" + tail
	}
	tests := []struct {
		name     string
		body     string
		cut, end bool // end: the last rule holds
	}{
		{"at the bound", pad(MaxSize), false, true},
		{"one past", pad(MaxSize + 1), true, false},
		{"line ends at the bound", pad(MaxSize) + "\nDisallow: /", true, true},
		{"line ends at the bound with CR", pad(MaxSize) + "\rDisallow: /", true, true},
		{"line goes on at the bound", pad(MaxSize) + "/y/z", true, false},
		{"megabytes", pad(MaxSize) + strings.Repeat("\nDisallow: /", 1_000_000), true, true},
		{"one endless line", head + strings.Repeat("x", 2*MaxSize) + "\nDisallow: /", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := Parse([]byte(tt.body))
			rules := file.Agent("mybot")
			if file.Cut != tt.cut || rules.Allowed("/private") || rules.Allowed("/private/x") != tt.end || !rules.Allowed("/other") {
				t.Errorf("cut %v, want %v; /private/x %v, want %v; /other %v", file.Cut, tt.cut, rules.Allowed("/private/x"), tt.end, rules.Allowed("/other"))
			}
		})
	}
	if Parse(bytes.Repeat([]byte("Disallow: /\n"), 10)).Cut {
		t.Error("a small file is cut")
	}
}

func TestLineBound(t *testing.T) {
	t.Parallel()
	const start = "Disallow: /"
	path := "/" + strings.Repeat("a", maxLine-len(start))
	for _, tt := range []struct {
		extra string
		want  string
	}{{"", path}, {"b", path}, {strings.Repeat("b", 100_000), path}} {
		rules := Parse([]byte("User-agent: *\nDisallow: " + path + tt.extra + "\nDisallow: /z\n")).Agent("mybot")
		if rules.Allowed(tt.want) || !rules.Allowed(tt.want[:len(tt.want)-1]) || rules.Allowed("/z") {
			t.Errorf("with %d octets past the bound the line is not what it should be", len(tt.extra))
		}
	}
}

func TestMatchTellsTheLine(t *testing.T) {
	t.Parallel()
	rules := Parse([]byte("# one\r\nUser-agent: *\r\n\r\n  disallow :  /a*b$ # why\r\nAllow: /a\r\n")).Agent("mybot")
	for target, want := range map[string]string{
		"/axb": "line 4: disallow :  /a*b$", "/axbc": "line 5: Allow: /a", "/": "no rule", Path: "no rule",
	} {
		if rule, _ := rules.Match(target); rule.String() != want {
			t.Errorf("%s: %q, want %q", target, rule, want)
		}
	}
}

func TestManyAgentsAndDelaysAreLinear(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 8_000 {
		fmt.Fprintf(&b, "User-agent: a%d\nCrawl-delay: 1\nUser-agent: b\n", i)
	}
	b.WriteString("Disallow: /x\n")
	start := time.Now()
	rules := Parse([]byte(b.String())).Agent("a7999")
	if rules.Allowed("/x") {
		t.Error("/x is allowed")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzRobots(f *testing.F) {
	for _, seed := range []string{
		"", "User-agent: *\nDisallow: /a\nAllow: /a/b$\nCrawl-delay: 1.5\nSitemap: http://h/s\n",
		"User-agent: a\nUser-agent: b\nDisallow:\n\n\nUser-agent: c/1\nDisallow /x # y\n", "\uFEFFUser-agent: *\nDisallow: /%zz%2",
		"\xFF\xFEU\x00s\x00", "<html>\nUser-agent: *\n", "Disallow: /\nUser-agent: *\nCrawl-delay: nan\nDisallow: *$*$$",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		file := Parse(body)
		lines := bytes.Count(body, []byte("\n")) + bytes.Count(body, []byte("\r")) + 1
		if !bytes.HasPrefix(body, []byte("\xFF\xFE")) && !bytes.HasPrefix(body, []byte("\xFE\xFF")) {
			if n := file.rules + len(file.groups) + len(file.sitemaps); n > lines {
				t.Errorf("%d lines gave %d things", lines, n)
			}
		}
		for _, agent := range []string{"a", "*", "mybot"} {
			rules := file.Agent(agent)
			rules.Allowed("/a/b?c=d%2F")
			rules.Allowed(string(body))
			if d, ok := rules.CrawlDelay(); d < 0 || d > MaxCrawlDelay || !ok && d != 0 {
				t.Errorf("crawl-delay %v", d)
			}
		}
		if bytes.ContainsRune(body, '\r') || len(body) > MaxSize/2 || len(body) > 1 && body[0] >= 0xFE {
			return
		}
		for _, ending := range []string{"\r\n", "\r"} {
			if other := Parse(bytes.ReplaceAll(body, []byte("\n"), []byte(ending))); !reflect.DeepEqual(file, other) {
				t.Errorf("with line ending %q the file is another:\n%+v\n%+v", ending, file, other)
			}
		}
	})
}

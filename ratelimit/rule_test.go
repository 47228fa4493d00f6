package ratelimit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRuleOfAKey_K168(t *testing.T) {
	t.Parallel()
	set, err := newRuleSet([]Rule{
		{Match: "127.0.0.1", Rate: PerSecond(1)},
		{Match: "Films.Example", Rate: PerSecond(1)},
		{Match: "films.example:8080", Rate: PerSecond(1)},
		{Match: "*.films.example", Rate: PerSecond(1)},
		{Match: "*.de.films.example", Rate: PerSecond(1)},
		{Match: "*.films.example:81", Rate: PerSecond(1)},
		{Match: "[::1]", Rate: PerSecond(1)},
		{Match: "[2001:db8::1]:8080", Rate: PerSecond(1)},
		{Match: "tmdb", Rate: PerSecond(1)},
		{Match: "*", Rate: PerSecond(1)},
	}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"127.0.0.1":               "127.0.0.1",
		"127.0.0.1:8080":          "127.0.0.1",
		"127.0.0.2:8080":          "*",
		"films.example":           "films.example",
		"FILMS.example":           "films.example",
		"films.example:8081":      "films.example",
		"films.example:8080":      "films.example:8080",
		"www.films.example":       "*.films.example",
		"www.films.example:8080":  "*.films.example",
		"www.films.example:81":    "*.films.example:81",
		"a.b.films.example":       "*.films.example",
		"a.b.films.example:81":    "*.films.example:81",
		"a.de.films.example":      "*.de.films.example",
		"a.de.films.example:81":   "*.de.films.example",
		"de.films.example":        "*.films.example",
		"myfilms.example":         "*",
		"example":                 "*",
		"":                        "*",
		":":                       "*",
		":80":                     "*",
		".":                       "*",
		"[::1]":                   "[::1]",
		"[::1]:8080":              "[::1]",
		"[2001:db8::1]:8080":      "[2001:db8::1]:8080",
		"[2001:db8::1]:8081":      "*",
		"[::ffff:127.0.0.1]:8081": "*",
		"tmdb":                    "tmdb",
		"::1":                     "*",
	} {
		if r := set.match(fold(key)); r == nil || r.match != want {
			t.Errorf("%q: %v, want the rule for %q", key, r, want)
		}
	}
	none, err := newRuleSet(nil, nil, 0)
	if err != nil || none.match("a") != nil {
		t.Errorf("no rules: %v", err)
	}
}

func TestUselessRuleIsAnError_K168(t *testing.T) {
	t.Parallel()
	for _, match := range []string{
		"", " ", "*.", "**", "*films.example", "films.*", "a.*.example", "*.*.example", "http://films.example", "films.example/", "films.example/a", "user@films.example",
		"films.example:", "films.example:0", "films.example:080", "films.example:65536", "films.example:http", "films.example:8080:1", ":8080", "*:8080",
		".films.example", "films..example", "films.example..", "films example", "films.example?", "b\u00fccher.example", "films.example%2e",
		"127.1", "127.0.0.01", "127.0.0", "0x7f.1.2.300", "*.127.0.0.1", "1.2.3.4.5", "::1", "[::1", "[0:0:0:0:0:0:0:1]", "*.[::1]", "[films.example]", strings.Repeat("a.", MaxKey/2) + "a",
	} {
		var wrong *RuleError
		_, err := NewTokenBucket(BucketConfig{Rules: []Rule{{Match: match, Rate: PerSecond(1)}}})
		if !errors.As(err, &wrong) || wrong.Match != match || wrong.Reason == "" {
			t.Errorf("%q: %v", match, err)
		}
	}
	for _, twice := range [][2]string{{"*", "*"}, {"films.example", "FILMS.example"}, {"*.films.example", "*.films.example"}} {
		_, err := NewTokenBucket(BucketConfig{Rules: []Rule{{Match: twice[0], Rate: PerSecond(1)}, {Match: twice[1], Rate: PerSecond(2)}}})
		var wrong *RuleError
		if !errors.As(err, &wrong) {
			t.Errorf("%q twice: %v", twice, err)
		}
	}
	for _, match := range []string{"films.example.", "a", "a_b.example", "xn--bcher-kva.example", "1.example", "films.example:65535", "*.example", "127.0.0.1", "[::1]:1"} {
		if _, err := NewTokenBucket(BucketConfig{Rules: []Rule{{Match: match, Rate: PerSecond(1)}}}); err != nil {
			t.Errorf("%q: %v", match, err)
		}
	}
}

func TestNumbersOfRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule Rule
		ok   bool
	}{
		{"nothing", Rule{}, false},
		{"no permits", Rule{Rate: Rate{0, time.Second}}, false},
		{"no time", Rule{Rate: Rate{1, 0}}, false},
		{"a time that runs back", Rule{Rate: Rate{1, -1}}, false},
		{"a negative burst", Rule{Rate: PerSecond(1), Burst: -1}, false},
		{"burst at the bound", Rule{Rate: PerSecond(1), Burst: MaxBurst}, true},
		{"burst past the bound", Rule{Rate: PerSecond(1), Burst: MaxBurst + 1}, false},
		{"rate at the bounds", Rule{Rate: Rate{MaxN, MaxPer}}, true},
		{"rate past the bound", Rule{Rate: Rate{MaxN + 1, time.Second}}, false},
		{"time past the bound", Rule{Rate: Rate{1, MaxPer + 1}}, false},
		{"warm-up at the bound", Rule{Rate: PerSecond(1), WarmUp: MaxWarmUp}, true},
		{"warm-up past the bound", Rule{Rate: PerSecond(1), WarmUp: MaxWarmUp + 1}, false},
		{"a negative warm-up", Rule{Rate: PerSecond(1), WarmUp: -1}, false},
		{"peak above", Rule{Rate: Rate{3, 2 * time.Second}, Peak: Rate{301, 200 * time.Second}}, true},
		{"peak equal", Rule{Rate: Rate{3, 2 * time.Second}, Peak: Rate{300, 200 * time.Second}}, false},
		{"peak below", Rule{Rate: PerSecond(2), Peak: PerSecond(1)}, false},
		{"peak without time", Rule{Rate: PerSecond(2), Peak: Rate{N: 5}}, false},
		{"unlimited", Rule{Rate: Unlimited}, true},
		{"unlimited peak", Rule{Rate: PerSecond(1), Peak: Unlimited}, true},
	} {
		c.rule.Match = "*"
		_, err := NewTokenBucket(BucketConfig{Rules: []Rule{c.rule}})
		var wrong *RuleError
		if c.ok != (err == nil) || err != nil && !errors.As(err, &wrong) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestRulesAreBounded(t *testing.T) {
	t.Parallel()
	rules := make([]Rule, MaxRules+1)
	for i := range rules {
		rules[i] = Rule{Match: fmt.Sprintf("h%d.example", i), Rate: PerSecond(1)}
	}
	if _, err := NewTokenBucket(BucketConfig{Rules: rules[:MaxRules]}); err != nil {
		t.Error(err)
	}
	if _, err := NewTokenBucket(BucketConfig{Rules: rules}); err == nil {
		t.Error("no error past the bound")
	}
}

// FuzzRule: a rule that is taken matches a key that can be made of it, and no key makes the search fail.
func FuzzRule(f *testing.F) {
	for _, s := range []string{"*", "films.example", "*.films.example:81", "[::1]:80", "127.0.0.1", "a..b", ":", "[", "]:", "*.a:"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, match, key string) {
		set, err := newRuleSet([]Rule{{Match: match, Rate: PerSecond(1)}}, nil, 0)
		if err != nil {
			return
		}
		set.match(fold(key))
		want := fold(match)
		own := want
		if name, ok := strings.CutPrefix(own, "*."); ok {
			own = "x." + name
		}
		if r := set.match(own); r == nil || r.match != want {
			t.Fatalf("the rule for %q does not match %q", match, own)
		}
	})
}

package bencode_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/torrent/bencode"
)

func TestScannerTokens(t *testing.T) {
	t.Parallel()
	s := bencode.NewScanner([]byte("d1:ali-7e2:xye1:bdee"), bencode.Options{})
	var got []string
	for tok := s.Next(); tok.Kind != bencode.None; tok = s.Next() {
		got = append(got, fmt.Sprintf("%s %s %d", tok.Kind, s.Raw(tok), s.Depth()))
	}
	want := []string{
		"dict d 1", "key 1:a 1", "list l 2", "integer i-7e 2", "string 2:xy 2",
		"end li-7e2:xye 1", "key 1:b 1", "dict d 2", "end de 1", "end d1:ali-7e2:xye1:bdee 0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s.Err() != nil || s.Offset() != 20 {
		t.Errorf("err %v, offset %d", s.Err(), s.Offset())
	}
}

func TestScannerValueSpansTheWhole(t *testing.T) {
	t.Parallel()
	s := bencode.NewScanner([]byte("l1:xd1:ai1eei5ee"), bencode.Options{})
	s.Next()
	s.Next()
	dict := s.Value()
	if got := string(s.Raw(dict)); dict.Kind != bencode.Dict || got != "d1:ai1ee" {
		t.Errorf("got %s %q", dict.Kind, got)
	}
	if five := s.Value(); five.Int() != 5 {
		t.Errorf("got %+v", five)
	}
	if end := s.Next(); end.Kind != bencode.End || end.Start != 0 {
		t.Errorf("got %+v", end)
	}
}

// Every limit is met and passed by one.
func TestLimits(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat("l", n) + strings.Repeat("e", n) }
	tests := []struct {
		name  string
		input string
		o     bencode.Options
		want  error
	}{
		{"depth default", nested(100), bencode.Options{}, nil},
		{"depth default passed", nested(101), bencode.Options{}, bencode.ErrDepth},
		{"depth", nested(3), bencode.Options{MaxDepth: 3}, nil},
		{"depth passed", nested(4), bencode.Options{MaxDepth: 3}, bencode.ErrDepth},
		{"depth unlimited", nested(100_000), bencode.Options{MaxDepth: -1}, nil},
		{"tokens", "d1:ai1ee", bencode.Options{MaxTokens: 3}, nil},
		{"tokens passed by a value", "d1:ai1ee", bencode.Options{MaxTokens: 2}, bencode.ErrTokens},
		{"tokens passed by a key", "d1:ai1e1:bi1ee", bencode.Options{MaxTokens: 3}, bencode.ErrTokens},
		{"tokens default", "l" + strings.Repeat("le", 2_499_999) + "e", bencode.Options{}, nil},
		{"tokens default passed", "l" + strings.Repeat("le", 2_500_000) + "e", bencode.Options{}, bencode.ErrTokens},
		{"bytes", "i1e", bencode.Options{MaxBytes: 3}, nil},
		{"bytes passed", "i10e", bencode.Options{MaxBytes: 3}, bencode.ErrBytes},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := tt.o.Check([]byte(tt.input)); !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestLimitOfBytesDefault(t *testing.T) {
	t.Parallel()
	head := fmt.Sprintf("%d:", bencode.DefaultMaxBytes-9)
	data := append([]byte(head), make([]byte, bencode.DefaultMaxBytes-len(head))...)
	if _, _, err := (bencode.Options{}).Check(data); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	if _, _, err := (bencode.Options{}).Check(append(data, 0)); !errors.Is(err, bencode.ErrBytes) {
		t.Errorf("one past: %v", err)
	}
}

func TestDepthErrorBeforeRecursion_K138(t *testing.T) {
	t.Parallel()
	inputs := map[string]string{
		"25 KB of l":         strings.Repeat("l", 25_000),
		"20 KB of lists":     strings.Repeat("l", 10_000) + strings.Repeat("e", 10_000),
		"36 MB of lists":     strings.Repeat("l", 18_000_000) + strings.Repeat("e", 18_000_000),
		"36 MB of dicts":     strings.Repeat("d0:", 12_000_000),
		"lists in dicts":     strings.Repeat("d1:al", 5_000_000),
		"one past the limit": strings.Repeat("l", 101),
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v any
			err := bencode.Unmarshal([]byte(input), &v)
			var fault *bencode.Error
			if !errors.Is(err, bencode.ErrDepth) || !errors.As(err, &fault) || fault.Offset > 500 {
				t.Errorf("got %v", err)
			}
		})
	}
	// Without a limit of depth the scanner still does not recurse; decoding into Go types has a bound of its own.
	deep := []byte(strings.Repeat("l", 5_000_000) + strings.Repeat("e", 5_000_000))
	o := bencode.Options{MaxDepth: -1, MaxTokens: -1}
	if _, _, err := o.Check(deep); err != nil {
		t.Errorf("unlimited: %v", err)
	}
	type node []node
	var n node
	if _, _, err := o.Unmarshal(deep, &n); !errors.Is(err, bencode.ErrDepth) {
		t.Errorf("unlimited into a recursive type: %v", err)
	}
}

func TestLengthPrefixBeyondTheInput_K139(t *testing.T) {
	tests := []struct {
		input string
		want  error
	}{
		{"2147483652:abc", bencode.ErrUnexpectedEnd},
		{"4294967299:abc", bencode.ErrUnexpectedEnd},
		{"9223372036854775807:abc", bencode.ErrUnexpectedEnd},
		{"9223372036854775808:abc", bencode.ErrOverflow},
		{"18446744073709551619:abc", bencode.ErrOverflow},
		{"99999999999999999999999999:abc", bencode.ErrOverflow},
		{"l2147483652:abce", bencode.ErrUnexpectedEnd},
		{"d2147483652:abce", bencode.ErrUnexpectedEnd},
		{"4:abc", bencode.ErrUnexpectedEnd},
	}
	for _, tt := range tests {
		var v any
		allocated := bytesAllocated(func() {
			if err := bencode.Unmarshal([]byte(tt.input), &v); !errors.Is(err, tt.want) {
				t.Errorf("%s: got %v, want %v", tt.input, err, tt.want)
			}
		})
		if allocated > 1<<20 {
			t.Errorf("%s: %d bytes allocated", tt.input, allocated)
		}
	}
}

func TestWarningsAreBounded(t *testing.T) {
	t.Parallel()
	input := "d" + strings.Repeat("1:bi01e1:ai-0e1:a0:", 1000) + "e\n"
	_, w, err := bencode.Options{}.Check([]byte(input))
	if err != nil {
		t.Fatal(err)
	}
	count := map[bencode.ErrorKind]int{}
	for _, x := range w {
		count[x.Kind]++
	}
	want := map[bencode.ErrorKind]int{
		bencode.ErrUnsortedKeys: bencode.MaxWarnings, bencode.ErrDuplicateKey: bencode.MaxWarnings,
		bencode.ErrLeadingZero: bencode.MaxWarnings, bencode.ErrNegativeZero: bencode.MaxWarnings, bencode.ErrTrailingData: 1,
	}
	for kind, n := range want {
		if count[kind] != n {
			t.Errorf("%s: %d warnings, want %d", kind, count[kind], n)
		}
	}
	_, _, err = bencode.Options{Strict: true}.Check([]byte(input))
	for kind := range want {
		if !errors.Is(err, kind) {
			t.Errorf("strict error %v is no %s", err, kind)
		}
	}
}

// 100 MB of small items, lists and dictionaries: the time is linear and the memory bounded.
func TestHostileInputOf100MB(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB, several times")
	}
	list := func(item string) []byte { return append([]byte("l"), strings.Repeat(item, 100_000_000/len(item))...) }
	inputs := map[string][]byte{
		"integers":     list("i0e"),
		"empty texts":  list("0:"),
		"empty lists":  list("le"),
		"empty dicts":  list("de"),
		"open lists":   list("l"),
		"digits":       append([]byte("i"), bytes.Repeat([]byte("0"), 100_000_000)...),
		"longest text": append([]byte("l99999990:"), make([]byte, 99_999_990)...),
	}
	for name, input := range inputs {
		start := time.Now()
		allocated := bytesAllocated(func() {
			var v any
			_, _, err := bencode.Options{MaxBytes: -1}.Unmarshal(input, &v)
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		})
		if allocated > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, allocated)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func bytesAllocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func BenchmarkCheck(b *testing.B) {
	data := []byte("d5:filesl" + strings.Repeat("d6:lengthi123456e4:pathl6:folder12:file-000.binee", 100_000) + "ee")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := (bencode.Options{}).Check(data); err != nil {
			b.Fatal(err)
		}
	}
}

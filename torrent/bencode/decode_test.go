package bencode_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/seine-go/seine/torrent/bencode"
)

// query is of the kind that nodes of the distributed hash table exchange (BEP 5).
type query struct {
	Arguments *arguments `bencode:"a"`
	Method    string     `bencode:"q,omitempty"`
	ID        []byte     `bencode:"t"`
	Type      string     `bencode:"y"`
	ReadOnly  bool       `bencode:"ro,omitempty"`
	Ignored   int        `bencode:"-"`
}

type arguments struct {
	ID   [4]byte            `bencode:"id"`
	Want []string           `bencode:"want,omitempty"`
	Raw  bencode.RawMessage `bencode:"raw"`
}

func TestUnmarshalAndMarshal(t *testing.T) {
	t.Parallel()
	const text = "d1:ad2:id4:abcd3:rawd1:bi1e1:ai2ee4:wantl2:n42:n6ee1:q9:get_peers2:roi1e1:t2:xy1:y1:qe"
	var q query
	if err := bencode.Unmarshal([]byte(text), &q); err != nil {
		t.Fatal(err)
	}
	want := query{
		Arguments: &arguments{ID: [4]byte([]byte("abcd")), Want: []string{"n4", "n6"}, Raw: []byte("d1:bi1e1:ai2ee")},
		Method:    "get_peers", ID: []byte("xy"), Type: "q", ReadOnly: true,
	}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("got %+v, want %+v", q, want)
	}
	out, err := bencode.Marshal(q)
	if err != nil || string(out) != text {
		t.Errorf("got %s, %v", out, err)
	}
}

type outer struct {
	inner
	A   int16          `bencode:"a"`
	Any any            `bencode:"any"`
	Map map[string]int `bencode:"map"`
	Own upper          `bencode:"own"`
}

type inner struct {
	A int    `bencode:"a"`
	B uint8  `bencode:"b"`
	C string `bencode:"c"`
}

type upper string

func (u *upper) UnmarshalBencode(b []byte) error {
	var s string
	if err := bencode.Unmarshal(b, &s); err != nil {
		return err
	}
	*u = upper(strings.ToUpper(s))
	return nil
}

func (u upper) MarshalBencode() ([]byte, error) {
	return bencode.AppendString(nil, strings.ToLower(string(u))), nil
}

func TestUnmarshalTypes(t *testing.T) {
	t.Parallel()
	var got outer
	const text = "d1:ai7e3:anyd1:xli1e0:ee1:bi255e1:c2:hi3:mapd1:ki1e1:ki2ee5:otherl1:ze3:own2:abe"
	_, w, err := bencode.Options{}.Unmarshal([]byte(text), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := outer{
		inner: inner{B: 255, C: "hi"}, A: 7, Own: "AB",
		Any: map[string]any{"x": []any{int64(1), ""}}, Map: map[string]int{"k": 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if kinds := w.Kinds(); !reflect.DeepEqual(kinds, []bencode.ErrorKind{bencode.ErrDuplicateKey}) {
		t.Errorf("warnings %v", w)
	}
}

func TestUnmarshalMisfits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		input  string
		offset int
	}{
		{"text into int", "d1:a1:x1:bi5ee", 4},
		{"list into int", "d1:ali1ee1:bi5ee", 4},
		{"dict into int", "d1:ad1:xlee1:bi5ee", 4},
		{"too large", "d1:ai40000e1:bi5ee", 4},
		{"integer into text", "d1:bi5e1:bi6e1:ci-1ee", 16},
		{"int into map", "d1:bi5e3:mapi1ee", 12},
		{"list into map", "d1:bi5e3:maplee", 12},
		{"misfit inside a map", "d1:bi5e3:mapd1:k1:xee", 16},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var v outer
			err := bencode.Unmarshal([]byte(tt.input), &v)
			var fault *bencode.Error
			if !errors.Is(err, bencode.ErrWrongType) || !errors.As(err, &fault) || fault.Offset != tt.offset {
				t.Errorf("got %v, want offset %d", err, tt.offset)
			}
			if v.B != 5 {
				t.Errorf("the rest was not decoded: %+v", v)
			}
		})
	}
}

func TestUnmarshalTargets(t *testing.T) {
	t.Parallel()
	for _, target := range []any{nil, 5, "x", (*int)(nil), struct{}{}} {
		if err := bencode.Unmarshal([]byte("i1e"), target); !errors.Is(err, bencode.ErrMisuse) {
			t.Errorf("%T: %v", target, err)
		}
	}
	v := 7
	if _, _, err := (bencode.Options{Strict: true}).Unmarshal([]byte("i01e"), &v); !errors.Is(err, bencode.ErrLeadingZero) || v != 7 {
		t.Errorf("strict: %v, v = %d", err, v)
	}
	if n, _, err := (bencode.Options{}).Unmarshal([]byte("i8e rest"), &v); n != 3 || err != nil || v != 8 {
		t.Errorf("n = %d, v = %d, %v", n, v, err)
	}
}

func TestMarshalRefuses(t *testing.T) {
	t.Parallel()
	type loop struct{ Next *loop }
	ring := &loop{}
	ring.Next = ring
	tests := []struct {
		name string
		v    any
		want error
	}{
		{"nil", nil, bencode.ErrUnsupported},
		{"nil in a list", []any{nil}, bencode.ErrUnsupported},
		{"float", 1.5, bencode.ErrUnsupported},
		{"map of ints", map[int]int{}, bencode.ErrUnsupported},
		{"channel in a struct", struct{ C chan int }{make(chan int)}, bencode.ErrUnsupported},
		{"uint64", uint64(1 << 63), bencode.ErrOverflow},
		{"ring", ring, bencode.ErrDepth},
		{"raw with a tail", bencode.RawMessage("i1ei2e"), bencode.ErrNotValid},
		{"raw empty", bencode.RawMessage(""), bencode.ErrNotValid},
		{"failing", failing{}, errFailing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if b, err := bencode.Marshal(tt.v); !errors.Is(err, tt.want) || b != nil {
				t.Errorf("got %q, %v, want %v", b, err, tt.want)
			}
		})
	}
}

type failing struct{}

var errFailing = errors.New("failing")

func (failing) MarshalBencode() ([]byte, error) { return nil, errFailing }

func TestMarshalForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		v    any
		want string
	}{
		{true, "i1e"},
		{uint8(3), "i3e"},
		{[]byte{0, 255}, "2:\x00\xff"},
		{[2]byte{'a', 'b'}, "2:ab"},
		{[]string(nil), "le"},
		{map[string]any{"b": 1, "a": []int{2}}, "d1:ali2ee1:bi1ee"},
		{struct {
			B int
			A *int
			C map[string]int
			D bencode.RawMessage
			E []int `bencode:",omitempty"`
		}{}, "d1:Bi0ee"},
		{upper("AB"), "2:ab"},
		{&struct{ U upper }{"X"}, "d1:U1:xe"},
	}
	for _, tt := range tests {
		if got, err := bencode.Marshal(tt.v); err != nil || string(got) != tt.want {
			t.Errorf("%v: got %q, %v, want %q", tt.v, got, err, tt.want)
		}
	}
}

func TestWriterMisuse(t *testing.T) {
	t.Parallel()
	tests := map[string]func(w *bencode.Writer){
		"nothing":        func(*bencode.Writer) {},
		"open":           func(w *bencode.Writer) { w.List() },
		"two values":     func(w *bencode.Writer) { w.Int(1); w.Int(2) },
		"no key":         func(w *bencode.Writer) { w.Dict(); w.Int(1); w.End() },
		"key in a list":  func(w *bencode.Writer) { w.List(); w.Key("a"); w.End() },
		"key at the top": func(w *bencode.Writer) { w.Key("a") },
		"two keys":       func(w *bencode.Writer) { w.Dict(); w.Key("a"); w.Key("b"); w.End() },
		"no value":       func(w *bencode.Writer) { w.Dict(); w.Key("a"); w.End() },
		"order": func(w *bencode.Writer) {
			w.Dict()
			w.Key("b")
			w.Int(1)
			w.Key("a")
			w.Int(1)
			w.End()
		},
		"repeated": func(w *bencode.Writer) {
			w.Dict()
			w.Key("a")
			w.Int(1)
			w.Key("a")
			w.Int(1)
			w.End()
		},
		"end at the top":  func(w *bencode.Writer) { w.End() },
		"raw of no value": func(w *bencode.Writer) { w.Raw([]byte("i1")) },
	}
	for name, f := range tests {
		var w bencode.Writer
		f(&w)
		if b, err := w.Bytes(); !errors.Is(err, bencode.ErrMisuse) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	tests := []struct{ input, want string }{
		{"i007e", "i7e"},
		{"i-0e", "i0e"},
		{"03:abc", "3:abc"},
		{"d1:bi1e1:ai2ee", "d1:ai2e1:bi1ee"},
		{"d1:ai1e1:ai2ee", "d1:ai1ee"},
		{"d1:bi1e1:ai2e1:bi3ee", "d1:ai2e1:bi1ee"},
		{"ld1:bd1:yi1e1:xlee1:ai0eeetail", "ld1:ai0e1:bd1:xle1:yi1eeee"},
	}
	for _, tt := range tests {
		if got, err := (bencode.Options{}).Canonical([]byte(tt.input)); err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.input, got, err, tt.want)
		}
	}
}

// Each byte is moved once, not once a level. Not parallel: it counts what is allocated.
func TestCanonicalIsLinearInDepth(t *testing.T) {
	const depth, size = 99, 1 << 20
	text := strings.Repeat("x", size)
	input := []byte(strings.Repeat("d1:b", depth) + "1048576:" + text + strings.Repeat("1:ai0ee", depth))
	want := strings.Repeat("d1:ai0e1:b", depth) + "1048576:" + text + strings.Repeat("e", depth)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := bencode.Options{}.Canonical(input)
	runtime.ReadMemStats(&after)
	if err != nil || string(got) != want {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4*size {
		t.Errorf("%d bytes allocated for %d", allocated, len(input))
	}
	deep := strings.Repeat("d1:b", 100_000) + "0:" + strings.Repeat("1:a0:e", 100_000)
	if got, err := (bencode.Options{MaxDepth: -1}).Canonical([]byte(deep)); err != nil || len(got) != len(deep) || !strings.HasPrefix(string(got), "d1:a0:1:bd1:a") {
		t.Errorf("deep: %d bytes, %v", len(got), err)
	}
}

// FuzzDecode holds the properties of every input: no panic; what is canonical is strict and stays as it is; and the
// reader of Go values and the writer are inverse to each other.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"i12e", "i-0e", "4:spam", "le", "de", "d1:ai1e1:bl1:xi2eee", "d1:b0:1:a0:e", "d1:a0:1:a1:xe", "li01e02:abe\n",
		"2147483652:abc", "i9223372036854775808e", "llllll", "d1:ad2:id4:abcde1:q4:ping1:t2:aa1:y1:qe",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, _, err := bencode.Options{}.Check(data)
		var v any
		if errV := bencode.Unmarshal(data, &v); (errV == nil) != (err == nil) {
			t.Fatalf("Check says %v, Unmarshal %v", err, errV)
		}
		_ = bencode.Unmarshal(data, new(query))
		_ = bencode.Unmarshal(data, new(outer))
		if err != nil {
			return
		}
		canonical, err := bencode.Options{}.Canonical(data)
		if err != nil {
			t.Fatal(err)
		}
		if m, _, err := (bencode.Options{Strict: true}).Check(canonical); err != nil || m != len(canonical) {
			t.Fatalf("canonical form %q of %q is not strict: %v", canonical, data, err)
		}
		written, err := bencode.Marshal(v)
		if err != nil || !bytes.Equal(written, canonical) {
			t.Fatalf("%q: written %q, canonical %q, %v", data, written, canonical, err)
		}
		if _, _, err := (bencode.Options{Strict: true}).Check(data); err == nil && !bytes.Equal(canonical, data[:n]) {
			t.Fatalf("%q is strict but not canonical: %q", data, canonical)
		}
	})
}

func ExampleUnmarshal() {
	var peer struct {
		Version string `bencode:"v"`
		Port    uint16 `bencode:"p"`
	}
	err := bencode.Unmarshal([]byte("d1:pi6881e1:v4:demoe"), &peer)
	fmt.Println(peer.Version, peer.Port, err)

	err = bencode.Unmarshal([]byte("d1:pi6881e1:v4:demo"), &peer)
	fmt.Println(err, errors.Is(err, bencode.ErrUnexpectedEnd))
	// Output:
	// demo 6881 <nil>
	// seine: bencode: unexpected_eof at byte 19 true
}

func ExampleOptions_Unmarshal() {
	var list []int
	_, warnings, err := bencode.Options{}.Unmarshal([]byte("li1ei02ee\n"), &list)
	fmt.Println(list, warnings.Kinds(), err)

	_, _, err = bencode.Options{Strict: true}.Unmarshal([]byte("li1ei02ee\n"), &list)
	fmt.Println(err)
	// Output:
	// [1 2] [leading_zero trailing_data] <nil>
	// seine: bencode: strict: leading_zero at byte 4, trailing_data at byte 9
}

func ExampleMarshal() {
	b, err := bencode.Marshal(map[string]any{"port": 6881, "ip": "127.0.0.1"})
	fmt.Println(string(b), err)
	// Output: d2:ip9:127.0.0.14:porti6881ee <nil>
}

func ExampleWriter() {
	var w bencode.Writer
	w.Dict()
	w.Key("list")
	w.List()
	w.Int(1)
	w.String("two")
	w.End()
	w.End()
	b, err := w.Bytes()
	fmt.Println(string(b), err)
	// Output: d4:listli1e3:twoee <nil>
}

func ExampleScanner() {
	s := bencode.NewScanner([]byte("d4:infod4:name4:demoee"), bencode.Options{})
	s.Next() // the dictionary
	for key := s.Next(); key.Kind == bencode.Key; key = s.Next() {
		value := s.Value()
		fmt.Printf("%s = %s at byte %d\n", s.Text(key), s.Raw(value), value.Start)
	}
	fmt.Println(s.Err())
	// Output:
	// info = d4:name4:demoe at byte 7
	// <nil>
}

func ExampleOptions_Canonical() {
	b, err := bencode.Options{}.Canonical([]byte("d1:bi01e1:ai2ee"))
	fmt.Println(string(b), err)
	// Output: d1:ai2e1:bi1ee <nil>
}

type namedByte byte

// Bytes of a named type are bytes.
func TestNamedBytes(t *testing.T) {
	t.Parallel()
	text, err := bencode.Marshal([]namedByte{'a', 'b'})
	if err != nil || string(text) != "2:ab" {
		t.Errorf("%q, %v", text, err)
	}
	var array [2]namedByte
	if err := bencode.Unmarshal([]byte("2:cd"), &array); err != nil || array != [2]namedByte{'c', 'd'} {
		t.Errorf("%v, %v", array, err)
	}
}

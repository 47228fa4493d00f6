package bencode_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/seine-go/seine/torrent/bencode"
)

// What is written is read back: arrays, embedded pointers, nil maps.
func TestFormsThatReadBack(t *testing.T) {
	t.Parallel()
	type Inner struct{ A, B int }
	type inner struct{ C int }
	type Both struct {
		*Inner
		*inner
		Pair  [2][2]int
		Table map[string]map[string]int
	}
	tests := []struct {
		value any
		text  string
	}{
		{&[3]int{1, 2, 3}, "li1ei2ei3ee"},
		{&[0]int{}, "le"},
		{&[2]string{"a", ""}, "l1:a0:e"},
		{&Both{Inner: &Inner{1, 2}}, "d1:Ai1e1:Bi2e4:Pairlli0ei0eeli0ei0eeee"},
		{&Both{Pair: [2][2]int{{1, 2}, {3, 4}}, Table: map[string]map[string]int{"x": {}}}, "d4:Pairlli1ei2eeli3ei4eee5:Tabled1:xdeee"},
	}
	for _, tt := range tests {
		b, err := bencode.Marshal(tt.value)
		if err != nil || string(b) != tt.text {
			t.Errorf("%+v: %q, %v, want %q", tt.value, b, err, tt.text)
		}
		back := reflect.New(reflect.TypeOf(tt.value).Elem())
		if err := bencode.Unmarshal(b, back.Interface()); err != nil || !reflect.DeepEqual(back.Interface(), tt.value) {
			t.Errorf("%q: %+v, %v", b, back, err)
		}
	}
	if b, err := bencode.Marshal([]map[string]int{nil}); err != nil || string(b) != "ldee" {
		t.Errorf("nil map in a list: %q, %v", b, err)
	}
	var two [2]int
	for _, s := range []string{"li1ee", "li1ei2ei3ee", "li1ei2el1:xeli4eee", "de", "i1e", "li1e1:xe"} {
		two = [2]int{8, 9}
		var fault *bencode.Error
		if err := bencode.Unmarshal([]byte(s), &two); !errors.Is(err, bencode.ErrWrongType) || !errors.As(err, &fault) {
			t.Errorf("%s into an array of two: %v", s, err)
		}
		if fits := s == "li1e1:xe"; !fits && two != [2]int{8, 9} || fits && two != [2]int{1, 0} {
			t.Errorf("%s left %v", s, two)
		}
	}
	var hidden Both
	if err := bencode.Unmarshal([]byte("d1:Ai1e1:Cli3ee4:Pairlli1ei2eeli3ei4eeee"), &hidden); !errors.Is(err, bencode.ErrWrongType) || hidden.A != 1 || hidden.Pair[1][1] != 4 {
		t.Errorf("behind a pointer that cannot be set: %+v, %v", hidden, err)
	}
	type loop struct {
		*loop
		X int
	}
	if b, err := bencode.Marshal(loop{loop: nil, X: 1}); err != nil || string(b) != "d1:Xi1ee" {
		t.Errorf("embedded in itself: %q, %v", b, err)
	}
}

func TestTextOfOtherTokens(t *testing.T) {
	t.Parallel()
	s := bencode.NewScanner([]byte("li-9223372036854775808e1:xde"), bencode.Options{})
	for tok := s.Next(); tok.Kind != bencode.None; tok = s.Next() {
		if text := s.Text(tok); (text != nil) != (tok.Kind == bencode.String) {
			t.Errorf("%s: %q", tok.Kind, text)
		}
	}
	if text := s.Text(bencode.Token{}); text != nil {
		t.Errorf("no token: %q", text)
	}
}

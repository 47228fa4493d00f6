package bencode_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/seine-go/seine/internal/conformance"
	"github.com/seine-go/seine/torrent/bencode"
)

type suiteCase struct {
	B64         string             `json:"b64"`
	DataRepeat  conformance.Repeat `json:"data_repeat"`
	Lenient     string
	Strict      string
	StrictIssue any    `json:"strict_issue"`
	ErrorKind   string `json:"error_kind"`
	Consumed    *int
	Value       json.RawMessage
}

func TestConformanceBencode(t *testing.T) {
	cases := conformance.Load[suiteCase](t, "torrent/bencode.json")
	passed, total := conformance.Run(t, "bencode", cases, runCase)
	if !t.Failed() {
		fmt.Printf("shown torrent-files.1: bencode %d/%d\n", passed, total)
	}
}

func runCase(c suiteCase) error {
	data := c.DataRepeat.Bytes()
	if c.DataRepeat == nil {
		var err error
		if data, err = conformance.Base64(c.B64); err != nil {
			return err
		}
	}
	n, _, err := bencode.Options{}.Check(data)
	if (err == nil) != (c.Lenient == "valid") {
		return fmt.Errorf("lenient: want %s, got %v", c.Lenient, err)
	}
	if err != nil {
		return checkError(c, err)
	}
	if c.Consumed != nil && n != *c.Consumed {
		return fmt.Errorf("consumed %d, want %d", n, *c.Consumed)
	}
	if c.Value != nil {
		if err := checkValue(c, data); err != nil {
			return err
		}
	}
	return checkStrict(c, data)
}

func checkError(c suiteCase, err error) error {
	var fault *bencode.Error
	if !errors.As(err, &fault) || fault.Offset < 0 {
		return fmt.Errorf("error %v has no offset", err)
	}
	for _, kind := range []bencode.ErrorKind{bencode.ErrOverflow, bencode.ErrDepth} {
		if errors.Is(err, kind) != (string(kind) == c.ErrorKind) {
			return fmt.Errorf("error %v, want kind %s", err, c.ErrorKind)
		}
	}
	return nil
}

func checkStrict(c suiteCase, data []byte) error {
	_, _, err := bencode.Options{Strict: true}.Check(data)
	if (err == nil) != (c.Strict == "valid") {
		return fmt.Errorf("strict: want %s, got %v", c.Strict, err)
	}
	var want []string
	switch issue := c.StrictIssue.(type) {
	case string:
		want = []string{issue}
	case []any:
		for _, x := range issue {
			want = append(want, fmt.Sprint(x))
		}
	default:
		return nil
	}
	var w bencode.Warnings
	if !errors.As(err, &w) {
		return fmt.Errorf("strict error %v holds no warnings", err)
	}
	var got []string
	for _, kind := range w.Kinds() {
		got = append(got, string(kind))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("strict issues %v, want %v", got, want)
	}
	return nil
}

func checkValue(c suiteCase, data []byte) error {
	var want any
	if err := json.Unmarshal(c.Value, &want); err != nil {
		return err
	}
	got, err := describe(data)
	if err != nil {
		return err
	}
	if want, err = normal(want); err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("value %v, want %v", got, want)
	}
	return nil
}

// normal turns the suite's description of a value into int64, string, []any, and [][2]any for a dictionary.
func normal(v any) (any, error) {
	for kind, x := range v.(map[string]any) {
		switch kind {
		case "int":
			return strconv.ParseInt(x.(string), 10, 64)
		case "str":
			return x, nil
		case "b64":
			b, err := conformance.Base64(x.(string))
			return string(b), err
		case "list":
			list := []any{}
			for _, item := range x.([]any) {
				y, err := normal(item)
				if err != nil {
					return nil, err
				}
				list = append(list, y)
			}
			return list, nil
		case "dict":
			dict := [][2]any{}
			for _, item := range x.([]any) {
				key, err1 := normal(item.([]any)[0])
				value, err2 := normal(item.([]any)[1])
				if err := errors.Join(err1, err2); err != nil {
					return nil, err
				}
				dict = append(dict, [2]any{key, value})
			}
			return dict, nil
		}
	}
	return nil, fmt.Errorf("unknown description %v", v)
}

// describe reads a value with the scanner, keys in the order of the file.
func describe(data []byte) (any, error) {
	s := bencode.NewScanner(data, bencode.Options{})
	v := describeValue(s, s.Next())
	return v, s.Err()
}

func describeValue(s *bencode.Scanner, t bencode.Token) any {
	switch t.Kind {
	case bencode.Integer:
		return t.Int()
	case bencode.String:
		return string(s.Text(t))
	case bencode.List:
		list := []any{}
		for t = s.Next(); t.Kind != bencode.End && t.Kind != bencode.None; t = s.Next() {
			list = append(list, describeValue(s, t))
		}
		return list
	case bencode.Dict:
		dict := [][2]any{}
		for t = s.Next(); t.Kind == bencode.Key; t = s.Next() {
			key := string(s.Text(t))
			dict = append(dict, [2]any{key, describeValue(s, s.Next())})
		}
		return dict
	}
	return nil
}

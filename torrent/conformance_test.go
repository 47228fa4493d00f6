package torrent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/seine-go/seine/internal/conformance"
	"github.com/seine-go/seine/torrent"
	"github.com/seine-go/seine/torrent/bencode"
)

type fileCase struct {
	File         string
	Expect       string
	ErrorKind    string   `json:"error_kind"`
	StrictIssues []string `json:"strict_issues"`
	Facts        map[string]json.RawMessage
}

func TestConformanceMagnets(t *testing.T) {
	links := conformance.Load[magnetCase](t, "torrent/magnets.json")
	passed, total := conformance.Run(t, "magnet", links, checkMagnetCase)
	if !t.Failed() {
		fmt.Printf("shown torrent-files.1: magnet %d/%d\n", passed, total)
	}
}

func TestConformanceTorrents(t *testing.T) {
	files := conformance.Load[fileCase](t, "torrent/manifest.json")
	forPeople := factsForPeople(t)
	folder := filepath.Join(conformance.Dir(t), "torrent", "cases")
	passed, total := conformance.Run(t, "torrent", files, func(c fileCase) error {
		b, err := os.ReadFile(filepath.Join(folder, filepath.Base(c.File)))
		if err != nil {
			return err
		}
		return checkFile(c, b, forPeople)
	})
	if !t.Failed() {
		fmt.Printf("shown torrent-files.1: torrent %d/%d\n", passed, total)
	}
}

// factsForPeople are the facts that the suite says are not compared, as they tell what another program makes of a torrent.
func factsForPeople(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(conformance.Dir(t), "torrent", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Schema struct {
			Compared []string `json:"facts_compared"`
			Not      []string `json:"facts_not_compared"`
		}
	}
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	known := facts(&torrent.Metainfo{Files: make([]torrent.File, 1)})
	for _, name := range manifest.Schema.Compared {
		if _, ok := known[name]; !ok {
			t.Errorf("the fact %s is not compared", name)
		}
	}
	return manifest.Schema.Not
}

func checkFile(c fileCase, b []byte, forPeople []string) error {
	m, _, err := torrent.Parse(b, torrent.Options{})
	if c.Expect == "error" {
		return checkKind(err, c.ErrorKind)
	}
	if err != nil {
		return err
	}
	if err := checkPaths(m); err != nil {
		return err
	}
	got := facts(m)
	var safe string
	_ = json.Unmarshal(c.Facts["safe_check"], &safe)
	for name, want := range c.Facts {
		value, known := got[name]
		switch {
		case name == "safe_check", !known && slices.Contains(forPeople, name):
			continue
		case !known:
			return fmt.Errorf("unknown fact %s", name)
		case (name == "name" || strings.HasPrefix(name, "safe_")) && safe != "exact": // checkPaths has seen to it
			continue
		}
		if err := checkFact(value, want); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return checkStrict(c, b, m)
}

func checkKind(err error, want string) error {
	if err == nil {
		return fmt.Errorf("valid, want %s", want)
	}
	if want != "" && !errors.Is(err, torrent.ErrorKind(want)) {
		return fmt.Errorf("%v, want %s", err, want)
	}
	return nil
}

func checkStrict(c fileCase, b []byte, lenient *torrent.Metainfo) error {
	m, _, err := torrent.Parse(b, torrent.Options{Strict: true})
	if len(c.StrictIssues) == 0 {
		if err == nil && !reflect.DeepEqual(m, lenient) {
			return errors.New("strict differs from lenient")
		}
		return err
	}
	var w bencode.Warnings
	if !errors.As(err, &w) {
		return fmt.Errorf("strict: %v, want %v", err, c.StrictIssues)
	}
	var got []string
	for _, kind := range w.Kinds() {
		got = append(got, string(kind))
	}
	slices.Sort(got)
	slices.Sort(c.StrictIssues)
	if !slices.Equal(got, c.StrictIssues) {
		return fmt.Errorf("strict issues %v, want %v", got, c.StrictIssues)
	}
	return nil
}

// facts states a torrent in the terms of the suite.
func facts(m *torrent.Metainfo) map[string]any {
	first, last := &m.Files[0], &m.Files[len(m.Files)-1]
	nodes := [][]any{}
	for _, n := range m.Nodes {
		nodes = append(nodes, []any{n.Host, n.Port})
	}
	return map[string]any{
		"v1": hashFact(m.V1.String(), m.V1.IsZero()), "v2": hashFact(m.V2.String(), m.V2.IsZero()),
		"info_offset": m.InfoOffset, "info_size": len(m.Info), "name_raw": bytesFact(m.RawName), "name": m.Name,
		"piece_length": m.PieceLength, "private": m.Private, "num_files": len(m.Files), "total_size": m.Length,
		"pad_files": m.PadFiles, "pad_size": m.PadLength,
		"first_path_raw": pathFact(first), "last_path_raw": pathFact(last), "safe_first_path": first.Path, "safe_last_path": last.Path,
		"trackers": orEmpty(m.Trackers), "web_seeds": orEmpty(m.WebSeeds), "http_seeds": orEmpty(m.HTTPSeeds), "nodes": nodes,
		"creation_date": orNull(m.CreationDate), "comment": textFact(m.Comment), "created_by": textFact(m.CreatedBy),
	}
}

func hashFact(s string, none bool) any {
	if none {
		return nil
	}
	return s
}

func bytesFact(b []byte) any {
	if utf8.Valid(b) {
		return string(b)
	}
	return map[string]any{"b64": b} // encoding/json writes []byte as base64
}

func textFact(s string) any {
	if s == "" {
		return nil
	}
	return bytesFact([]byte(s))
}

func pathFact(f *torrent.File) any {
	var list []any
	for _, e := range f.RawPath() {
		list = append(list, bytesFact(e))
	}
	return list
}

func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// checkFact compares as JSON does.
func checkFact(got any, want json.RawMessage) error {
	text, err := json.Marshal(got)
	if err != nil {
		return err
	}
	var g, w any
	if err := errors.Join(json.Unmarshal(text, &g), json.Unmarshal(want, &w)); err != nil {
		return err
	}
	if o, ok := w.(map[string]any); ok && o["any_of"] != nil {
		for _, choice := range o["any_of"].([]any) {
			if reflect.DeepEqual(g, choice) {
				return nil
			}
		}
	} else if reflect.DeepEqual(g, w) {
		return nil
	}
	return fmt.Errorf("got %s, want %s", text, want)
}

// checkPaths holds what File.Path promises.
func checkPaths(m *torrent.Metainfo) error {
	if err := checkPath(m.Name); err != nil || strings.Contains(m.Name, "/") {
		return fmt.Errorf("name %q: %v", m.Name, err)
	}
	seen := map[string]bool{}
	for _, f := range m.Files {
		if err := checkPath(f.Path); err != nil {
			return fmt.Errorf("%q: %w", f.Path, err)
		}
		if m.Multi && !strings.HasPrefix(f.Path, m.Name+"/") || !m.Multi && f.Path != m.Name {
			return fmt.Errorf("%q is not below the name %q", f.Path, m.Name)
		}
		key := strings.ToLower(strings.ToUpper(f.Path))
		if seen[key] {
			return fmt.Errorf("%q occurs twice", f.Path)
		}
		seen[key] = true
		if t := f.LinkTarget(); t != "" {
			if err := checkPath(t); err != nil {
				return fmt.Errorf("link %q: %w", t, err)
			}
		}
	}
	for _, f := range m.Files {
		for i := range f.Path {
			if f.Path[i] == '/' && seen[strings.ToLower(strings.ToUpper(f.Path[:i]))] {
				return fmt.Errorf("%q lies below a file", f.Path)
			}
		}
	}
	return nil
}

func checkPath(path string) error {
	if !utf8.ValidString(path) {
		return errors.New("not UTF-8")
	}
	if len(path) > 4095 {
		return errors.New("too long")
	}
	for element := range strings.SplitSeq(path, "/") {
		switch {
		case element == "" || element == "." || element == "..":
			return errors.New("unsafe element")
		case len(element) > 255:
			return errors.New("element too long")
		}
	}
	for _, r := range path {
		if r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Errorf("character %U", r)
		}
	}
	return nil
}

type magnetOutcome struct {
	Expect    string
	ErrorKind string `json:"error_kind"`
	Facts     map[string]json.RawMessage
}

type magnetCase struct {
	URI string `json:"uri"`
	magnetOutcome
	AnyOf []magnetOutcome `json:"any_of"`
}

func checkMagnetCase(c magnetCase) error {
	if len(c.AnyOf) == 0 {
		return checkMagnet(c.URI, c.magnetOutcome)
	}
	var errs []error
	for _, o := range c.AnyOf {
		err := checkMagnet(c.URI, o)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func checkMagnet(uri string, o magnetOutcome) error {
	m, err := torrent.ParseMagnet(uri)
	if o.Expect == "error" {
		return checkKind(err, o.ErrorKind)
	}
	if err != nil {
		return err
	}
	got := map[string]any{
		"v1": hashFact(m.V1.String(), m.V1.IsZero()), "v2": hashFact(m.V2.String(), m.V2.IsZero()), "name": orNull(m.Name),
		"trackers": orEmpty(m.Trackers), "web_seeds": orEmpty(m.WebSeeds), "peers": orEmpty(m.Peers),
		"select_only": orEmpty(slices.Collect(m.Files())), "dht_nodes": orEmpty(m.Nodes), "exact_length": orNull(m.Length),
		"exact_sources": orEmpty(m.Sources), "acceptable_sources": orEmpty(m.Fallback), "keywords": orEmpty(m.Keywords),
	}
	for name, want := range o.Facts {
		if name == "name_is_not_utf8" {
			if !utf8.ValidString(m.Name) {
				return errors.New("name is not UTF-8")
			}
			continue
		}
		value, known := got[name]
		if !known {
			return fmt.Errorf("unknown fact %s", name)
		}
		if err := checkFact(value, want); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	again, err := torrent.ParseMagnet(m.String())
	if err != nil || !reflect.DeepEqual(again, m) {
		return fmt.Errorf("%s reads back as %+v, %v", m, again, err)
	}
	return nil
}

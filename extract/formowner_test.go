package extract

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// Controls go with the form that was open for the parser, wherever broken nesting has put them.
func TestControlsOfMisnestedForms(t *testing.T) {
	t.Parallel()
	const at = "GET https://films.example/dir/page"
	for _, c := range []struct{ name, page, want string }{
		{"rows of a table", `<table><tr><td><form action=/login method=post></td></tr><tr><td><input name=user value=u><input type=hidden name=csrf value=t></td></tr><tr><td><input type=password name=pass value=p></td></tr></form></table>`, "POST https://films.example/login user=u&csrf=t&pass=p"},
		{"in a table", `<table><form action=/t><tr><td><input name=a value=1></td></tr></form></table><form><input name=b></form>`, "GET https://films.example/t?a=1"},
		{"in a row, never ended", `<table><tr><form action=/t><td><input name=a value=1></td></tr></table><p><input name=b value=2>`, "GET https://films.example/t?a=1&b=2"},
		{"center", `<center><form><input name=user value=u></center><input name=pass value=p></form><input name=behind>`, at + "?user=u&pass=p#f"},
		{"div", `<div><form><input name=user value=u></div><div><input name=pass value=p></div></form>`, at + "?user=u&pass=p#f"},
		{"second form inside", `<div><form><input name=a value=1></div><form id=g><input name=b value=2></form><input name=c value=3>`, at + "?a=1&b=2#f"},
		{"next form", `<div><form><input name=a value=1></div></form><div><form><input name=b value=2></div><input name=c value=3></form>`, at + "?a=1#f"},
		{"ended in a cell, open around it", `<form><table><tr><td></form><input name=a value=1></table><input name=b value=2>`, at + "?a=1&b=2#f"},
		{"form attribute", `<div><form id=f></div><input form=g name=x><input form="" name=y><input form=f name=a value=1></form>`, at + "?a=1#f"},
		{"two of one id", `<p id=f><form id=f><input name=a value=1></form><input form=f name=x>`, at + "?a=1#f"},
		{"template", `<div><form></div><template><form><input name=x></form></template><input name=a value=1>`, at + "?a=1#f"},
		{"moved before the table", `<div><form></div><input name=a value=1><table><tr><td><input name=c value=3></td><input name=b value=2></table>`, at + "?a=1&b=2&c=3#f"},
		{"hidden in a table", `<div><form></div><table><input type=hidden name=a value=1><input name=b value=2></table>`, at + "?b=2&a=1#f"},
		{"moved out by the end of a", `<div><a><form><button name=b value=1></form><p></a>`, at + "?b=1#f"},
		{"marks of the page", `<div seine-tag=0><form seine-tag=1></div><p seine-tag=-1><b seine-tag=9><input name=a seine-tag=0 value=1><input/name=b value=2 /seine-tag="0"/>`, at + "?a=1&b=2#f"},
		{"too deep", `<div><form></div>` + strings.Repeat("<div>", 600) + `<input name=a value=1>`, at + "?a=1#f"},
		{"a frameset", `<frameset><frame></frameset><noframes><div><form></div><input name=a></noframes>`, ""},
	} {
		f, err := NewDocument([]byte(c.page), DocumentOptions{URL: "https://films.example/dir/page?x=1#f", Encoding: "utf-8"}).Form("form")
		if c.want == "" && err == ErrNoForm {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s, err := f.Submit("")
		if got := strings.TrimSuffix(s.Method+" "+s.URL+" "+string(s.Body), " "); err != nil || got != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.want)
		}
	}
}

// Each tag of a form or a control is found in the tree, as what it is.
func FuzzFormOwners(f *testing.F) {
	f.Add(`<div><form></div><input><table><tr><td><form><input></td><select><option></table></form>`)
	f.Add(`<form><b><button><a><p></b></form><textarea></textarea><svg><input><foreignObject><input>`)
	f.Add(`<form><table><tr><td></form><input></table><template><form><input></form></template>`)
	f.Fuzz(func(t *testing.T, page string) {
		d := NewDocument([]byte(page), DocumentOptions{Encoding: "utf-8"})
		tree, err := d.tree()
		if err != nil {
			return
		}
		owners, err := d.formOwners()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := d.text()
		if tree.flattened {
			text = flatten(text, bytes.Count(text, []byte("<")))
		}
		owned := 0
		for _, tag := range passForms(text).tags {
			if tag.owner >= 0 {
				owned++
			}
		}
		// What the scan knows not as the parser does; see Scan.
		special := regexp.MustCompile(`(?i)<frameset|<template|<!--|/>`).MatchString(page)
		if len(owners) > owned || len(owners) < owned && !special {
			t.Errorf("%q: %d controls have an owner, %d were found", page, owned, len(owners))
		}
		for control, form := range owners {
			if !isHTML(control) || !isHTML(form) || form.Data != "form" || control.Data == "form" {
				t.Errorf("%q: <%s> owns <%s>", page, form.Data, control.Data)
			}
		}
	})
}

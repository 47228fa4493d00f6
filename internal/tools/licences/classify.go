package main

import (
	"slices"
	"strings"
)

// licence is a kind of licence; free when it asks for no more than attribution.
type licence struct {
	name string
	free bool
}

var (
	unknown = licence{name: "unknown"}
	mozilla = licence{name: "MPL"}
)

// phrases tell licences by words of their own, in lower case and with single blanks. A text may hold several.
var phrases = []struct {
	licence
	words []string // all of them
}{
	{licence{"AGPL", false}, []string{"gnu affero general public license"}},
	{licence{"LGPL", false}, []string{"gnu lesser general public license"}},
	{licence{"LGPL", false}, []string{"gnu library general public license"}},
	{licence{"GPL", false}, []string{"gnu general public license"}},
	{mozilla, []string{"mozilla public license"}},
	{licence{"EPL", false}, []string{"eclipse public license"}},
	{licence{"CDDL", false}, []string{"common development and distribution license"}},
	{licence{"EUPL", false}, []string{"european union public licence"}},
	{licence{"OSL", false}, []string{"open software license"}},
	{licence{"SSPL", false}, []string{"server side public license"}},
	{licence{"BUSL", false}, []string{"business source license"}},
	{licence{"CC-BY-SA", false}, []string{"attribution-sharealike"}},
	{licence{"CC-BY-NC", false}, []string{"attribution-noncommercial"}},
	{licence{"Apache-2.0", true}, []string{"apache license", "version 2.0"}},
	{licence{"MIT", true}, []string{"permission is hereby granted, free of charge, to any person obtaining", "to deal in the software without restriction"}},
	{licence{"BSD", true}, []string{"redistribution and use in source and binary forms", "redistributions in binary form must reproduce"}},
	{licence{"ISC", true}, []string{"permission to use, copy, modify, and distribute this software for any purpose with or without fee"}},
	{licence{"ISC", true}, []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"}},
	{licence{"Unlicense", true}, []string{"free and unencumbered software released into the public domain"}},
	{licence{"public domain", true}, []string{"dedicated to the public domain by the authors"}},
	{licence{"CC0", true}, []string{"cc0 1.0 universal"}},
	{licence{"Zlib", true}, []string{"this software is provided 'as-is', without any express or implied warranty", "altered source versions must be plainly marked"}},
	{licence{"Unicode", true}, []string{"permission is hereby granted, free of charge, to any person obtaining a copy of the unicode data files"}},
}

// classify returns every licence that a text grants; unknown alone when it grants none that is known. A text that
// names a copyleft licence only to compare itself with it is called copyleft too: a person then has to read it.
func classify(text string) []licence {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	text = strings.NewReplacer("“", `"`, "”", `"`, "‘", "'", "’", "'").Replace(text)
	var found []licence
	for _, p := range phrases {
		if containsAll(text, p.words) {
			found = append(found, p.licence)
		}
	}
	if len(found) == 0 {
		return []licence{unknown}
	}
	if slices.Contains(found, mozilla) { // its text names the GNU licences as its secondary ones
		return slices.DeleteFunc(found, func(l licence) bool { return strings.HasSuffix(l.name, "GPL") })
	}
	return found
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

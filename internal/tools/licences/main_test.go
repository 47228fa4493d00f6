package main

import (
	"os"
	"path/filepath"
	"testing"
)

const (
	mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this
software, to deal in the Software without restriction, including …`
	bsd = `Redistribution and use in source and binary forms, with or without modification, are permitted:
Redistributions in binary form must reproduce the above copyright notice`
)

func TestClassify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []licence
	}{
		{"mit, broken over lines", mit, []licence{{"MIT", true}}},
		{"bsd", bsd, []licence{{"BSD", true}}},
		{"two in one file", bsd + "\n\n" + mit, []licence{{"MIT", true}, {"BSD", true}}},
		{"lesser gpl", "GNU LESSER GENERAL PUBLIC LICENSE\nVersion 3", []licence{{"LGPL", false}}},
		{"free and copyleft", mit + " Parts are under the Mozilla Public License.", []licence{{"MPL", false}, {"MIT", true}}},
		{"mozilla and its secondary licences", "Mozilla Public License Version 2.0 … GNU General Public License, GNU Affero General Public License", []licence{mozilla}},
		{"a title alone", "MIT", []licence{unknown}},
		{"empty", "", []licence{unknown}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := classify(tt.text)
			if len(got) != len(tt.want) {
				t.Fatalf("got %v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			}
		})
	}
}

func TestOwnLicenceIsApache(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if got := classify(string(text)); len(got) != 1 || got[0].name != "Apache-2.0" {
		t.Errorf("got %v", got)
	}
}

// A licence counts wherever it lies between the used package and the root of its module; others do not.
func TestLicencesOfModule(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := map[string]string{"LICENSE": mit, "a/COPYING": bsd, "a/b/x.go": "package b", "other/LICENSE": "GNU General Public License"}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	used := module{root: root, folders: map[string]bool{filepath.Join(root, "a", "b"): true}}
	got, err := used.licences()
	if err != nil || len(got) != 2 || got[0].name != "BSD" || got[1].name != "MIT" {
		t.Errorf("got %v, %v", got, err)
	}
	bare := module{root: filepath.Join(root, "a", "b"), folders: used.folders}
	if got, err := bare.licences(); err != nil || len(got) != 1 || got[0] != unknown {
		t.Errorf("without a file: got %v, %v", got, err)
	}
}

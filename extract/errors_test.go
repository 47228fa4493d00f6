package extract_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
)

// The text of an extraction's error is bounded; its errors are all there.
func TestErrorTextIsBounded(t *testing.T) {
	t.Parallel()
	type list struct {
		L []struct {
			P float64 `extract:"css=i ; required"`
		} `extract:"css=li"`
	}
	for _, n := range []int{1, 10, 11, 6000} {
		_, err := extract.From[list](document(strings.Repeat("<li><i>free</i></li>", n)))
		all, ok := err.(interface{ Unwrap() []error })
		if !ok || len(all.Unwrap()) != n {
			t.Fatalf("%d: %.100v", n, err)
		}
		var field *extract.FieldError
		if lines := strings.Count(err.Error(), "\n") + 1; !errors.As(err, &field) || lines != min(n, 11) || strings.HasSuffix(err.Error(), "more") != (n > 10) {
			t.Errorf("%d errors: %d lines, %.100v", n, lines, err)
		}
	}
}

func TestOptionBehindAComma(t *testing.T) {
	t.Parallel()
	var fault *extract.TagError
	_, err := extract.Compile[struct {
		T string `extract:"css=h1, required"`
	}](extract.Options{})
	if !errors.As(err, &fault) || fault.Column != 9 || !strings.Contains(err.Error(), "semicolon") {
		t.Error(err)
	}
}

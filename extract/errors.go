package extract

import (
	"errors"
	"fmt"
)

// maxErrorTexts is how many errors of an extraction its text has.
const maxErrorTexts = 10

// joinedError is errors.Join of many, with the text of the first and the number of the others: a page has thousands of fields.
type joinedError struct{ errs []error }

// joined joins errors; nil when there is none.
func joined(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	return &joinedError{errs}
}

// Error has a line for each of the first errors, and says how many more there are.
func (e *joinedError) Error() string {
	text := errors.Join(e.errs[:min(len(e.errs), maxErrorTexts)]...).Error()
	if more := len(e.errs) - maxErrorTexts; more > 0 {
		text += fmt.Sprintf("\nand %d more", more)
	}
	return text
}

// Unwrap returns all errors.
func (e *joinedError) Unwrap() []error { return e.errs }

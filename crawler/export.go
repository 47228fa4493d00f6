package crawler

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"
)

// ExportFrontier writes a line of JSON for each request that is pending and, if the frontier is a DeadLister, for each that
// failed and is listed. A line is an object with the fields of Request in lower case, those that are zero left out, and
//
//	state     ready, delayed, leased or failed
//	key       where it is not the URL
//	attempts  crashes  suspect  reason
//	due_ms    milliseconds until it may be leased, where it is delayed
//
// The body is base64, as is text that is no UTF-8: that is an object {"base64": …}. What a frontier says of requests that
// are moved meanwhile is said of Lister. One request at a time is in memory, beside what Pending and Dead need.
func ExportFrontier(ctx context.Context, w io.Writer, f Lister) error {
	lines := newLines(w)
	for p, err := range f.Pending(ctx) {
		if err != nil {
			return err
		}
		l := lineOf(p.Request)
		l.State, l.Attempts, l.Crashes, l.Suspect, l.DueMS = p.State.String(), p.Attempts, p.Crashes, p.Suspect, p.Due.Milliseconds()
		if err := lines.Encode(l); err != nil {
			return err
		}
	}
	dead, ok := f.(DeadLister)
	if !ok {
		return nil
	}
	for d, err := range dead.Dead(ctx) {
		if err != nil {
			return err
		}
		l := lineOf(d.Request)
		l.State, l.Attempts, l.Crashes, l.Reason = StateFailed.String(), d.Attempts, d.Crashes, text(d.Reason)
		if err := lines.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// ExportStore writes a line of JSON for each value whose key has the prefix, in the order of the keys: {"key": …, "value": …}
// with a value that is JSON, blanks left out, or {"key": …, "base64": …} with any other. A key that is no UTF-8 is an object
// {"base64": …}. The prefix "" exports all, what the engine and packages below it keep included. One value at a time is in
// memory, beside what Scan needs. Values that Scan cannot read, but goes on after, are left out, and the error says so at the
// end.
func ExportStore(ctx context.Context, w io.Writer, s Store, prefix string) error {
	lines := newLines(w)
	left, why := 0, error(nil)
	for e, err := range s.Scan(ctx, prefix) {
		if err != nil && e.Key != "" { // that value alone
			left, why = left+1, first(why, err)
			continue
		}
		if err != nil {
			return err
		}
		l := struct {
			Key    any             `json:"key"`
			Value  json.RawMessage `json:"value,omitempty"`
			Base64 *[]byte         `json:"base64,omitempty"`
		}{Key: text(e.Key)}
		if utf8.Valid(e.Value) && json.Valid(e.Value) {
			l.Value = e.Value
		} else {
			l.Base64 = &e.Value
			if e.Value == nil {
				l.Base64 = &[]byte{}
			}
		}
		if err := lines.Encode(l); err != nil {
			return err
		}
	}
	if left > 0 {
		return fmt.Errorf("seine: export: %d values are left out, the first of them: %w", left, why)
	}
	return nil
}

func newLines(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// requestLine is the line of a request.
type requestLine struct {
	State    string           `json:"state"`
	URL      any              `json:"url"`
	Key      any              `json:"key,omitempty"`
	Method   any              `json:"method,omitempty"`
	Header   map[string][]any `json:"header,omitempty"`
	Body     []byte           `json:"body,omitempty"`
	Kind     string           `json:"kind,omitempty"`
	Label    any              `json:"label,omitempty"`
	Data     any              `json:"data,omitempty"`
	Session  any              `json:"session,omitempty"`
	Priority int              `json:"priority,omitempty"`
	Depth    int              `json:"depth,omitempty"`
	Hops     int              `json:"hops,omitempty"`
	Attempts int              `json:"attempts,omitempty"`
	Crashes  int              `json:"crashes,omitempty"`
	Suspect  bool             `json:"suspect,omitempty"`
	DueMS    int64            `json:"due_ms,omitempty"`
	Reason   any              `json:"reason,omitempty"`
}

func lineOf(r *Request) requestLine {
	l := requestLine{
		URL: text(r.URL), Key: text(r.Key), Method: text(r.Method), Header: headerLine(r.Header), Body: r.Body, Label: text(r.Label),
		Session: text(r.Session), Priority: r.Priority, Depth: r.Depth, Hops: r.Hops,
	}
	if r.Kind != 0 {
		l.Kind = r.Kind.String()
	}
	if len(r.Data) > 0 {
		if l.Data = r.Data; !utf8.Valid(r.Data) {
			l.Data = text(string(r.Data))
		}
	}
	return l
}

func headerLine(h http.Header) map[string][]any {
	if len(h) == 0 {
		return nil
	}
	line := make(map[string][]any, len(h))
	for name, values := range h {
		for _, v := range values {
			line[name] = append(line[name], text(v))
		}
	}
	return line
}

// text is a string as a line has it; nil for none.
func text(s string) any {
	switch {
	case s == "":
		return nil
	case utf8.ValidString(s):
		return s
	}
	return struct {
		Base64 []byte `json:"base64"`
	}{[]byte(s)}
}

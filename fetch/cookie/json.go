package cookie

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// jsonVersion is the version of the form in which jars are written.
const jsonVersion = 1

// jsonJar is a jar as JSON.
type jsonJar struct {
	Version int      `json:"version"`
	Cookies []Cookie `json:"cookies"`
}

// jsonCookie is a cookie as JSON. Bytes that are not UTF-8 stand in the fields of the same name that end in _base64.
type jsonCookie struct {
	Name      string     `json:"name,omitempty"`
	Name64    []byte     `json:"name_base64,omitempty"`
	Value     string     `json:"value"`
	Value64   []byte     `json:"value_base64,omitempty"`
	Domain    string     `json:"domain"`
	HostOnly  bool       `json:"host_only,omitempty"`
	Path      string     `json:"path,omitempty"`
	Path64    []byte     `json:"path_base64,omitempty"`
	Expires   *time.Time `json:"expires,omitempty"`
	Secure    bool       `json:"secure,omitempty"`
	HTTPOnly  bool       `json:"http_only,omitempty"`
	SameSite  string     `json:"same_site,omitempty"`
	Partition string     `json:"partition,omitempty"`
	Created   *time.Time `json:"created,omitempty"`
	Accessed  *time.Time `json:"accessed,omitempty"`
}

// MarshalJSON writes the cookie without loss, whatever bytes it holds.
func (c Cookie) MarshalJSON() ([]byte, error) {
	w := jsonCookie{
		Domain: c.Domain, HostOnly: c.HostOnly, Expires: timeOrNil(c.Expires), Secure: c.Secure, HTTPOnly: c.HTTPOnly,
		SameSite: c.SameSite.String(), Partition: c.Partition, Created: timeOrNil(c.Created), Accessed: timeOrNil(c.Accessed),
	}
	w.Name, w.Name64 = textOrBytes(c.Name)
	w.Value, w.Value64 = textOrBytes(c.Value)
	w.Path, w.Path64 = textOrBytes(c.Path)
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON has written. Whether it can be a cookie is seen when it comes into a Jar.
func (c *Cookie) UnmarshalJSON(data []byte) error {
	var r jsonCookie
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	*c = Cookie{
		Name: either(r.Name, r.Name64), Value: either(r.Value, r.Value64), Domain: r.Domain, HostOnly: r.HostOnly,
		Path: either(r.Path, r.Path64), Expires: timeOf(r.Expires), Secure: r.Secure, HTTPOnly: r.HTTPOnly,
		SameSite: parseSameSite(r.SameSite), Partition: r.Partition, Created: timeOf(r.Created), Accessed: timeOf(r.Accessed),
	}
	return nil
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func textOrBytes(s string) (string, []byte) {
	if utf8.ValidString(s) {
		return s, nil
	}
	return "", []byte(s)
}

func either(s string, b []byte) string {
	if len(b) > 0 {
		return string(b)
	}
	return s
}

// MarshalJSON writes all cookies that have not expired, those that end with the session too, in the order of their
// creation: {"version":1,"cookies":[…]}.
func (j *Jar) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonJar{jsonVersion, j.All()})
}

// UnmarshalJSON reads what MarshalJSON has written, in place of the cookies that the jar holds. Those that cannot be read or be
// kept are left out and named in a *FormError, which LeftOut returns afterwards too; all others are there. After any other error
// the jar is as it was.
func (j *Jar) UnmarshalJSON(data []byte) error {
	var r struct {
		Version int               `json:"version"`
		Cookies []json.RawMessage `json:"cookies"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("seine: cookie: jar: %w", err)
	}
	if r.Version != jsonVersion {
		return fmt.Errorf("seine: cookie: jar: version %d is not known", r.Version)
	}
	fresh, left := New(j.options), new(FormError)
	for i, text := range r.Cookies {
		var c Cookie
		err := json.Unmarshal(text, &c)
		if err == nil {
			err = fresh.Add(c)
		}
		if err != nil {
			left.add(fmt.Errorf("cookie %d: %w", i+1, err))
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept = fresh.kept
	j.changes++
	j.left = nil
	if left.Count > 0 {
		j.left = left
	}
	return left.orNil()
}

// LeftOut returns what the latest UnmarshalJSON has left out, nil if that was nothing.
func (j *Jar) LeftOut() *FormError {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.left
}

package fetch

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/seine-go/seine/internal/weburl"
)

// Credential opens the pages of an origin: by a user and a password (Basic, RFC 7617), or by a token (Bearer, RFC 6750). The zero
// Credential is none.
type Credential struct {
	User, Password string
	Token          string // counts for more
}

// String hides what is secret.
func (c Credential) String() string { return "credential of " + c.kind() }

// GoString hides what is secret.
func (c Credential) GoString() string { return c.String() }

func (c Credential) kind() string {
	if c.Token != "" {
		return "a bearer"
	}
	return fmt.Sprintf("user %q", c.User)
}

// header returns the value of the Authorization field.
func (c Credential) header() (string, error) {
	switch {
	case c == Credential{}:
		return "", errors.New("it is empty")
	case c.Token != "":
		if strings.ContainsAny(c.Token, " \t") || !httpguts.ValidHeaderFieldValue(c.Token) {
			return "", errors.New("the token holds what a header cannot")
		}
		return "Bearer " + c.Token, nil
	case strings.Contains(c.User, ":"):
		return "", errors.New("the user holds a colon")
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.User+":"+c.Password)), nil
}

// Auth gives requests the credential of their origin ("https://films.example", with the port where that is not the default
// of the scheme), unless they have an Authorization of their own or the URL has user info. A redirect to another origin
// gets none of it, not even that of its own: a request of its own does. It can stand anywhere in a chain. An origin or a
// credential that cannot be fails every request with an error of kind ErrInvalid that names it.
func Auth(credentials map[string]Credential) Middleware {
	values := make(map[string]string, len(credentials))
	var bad error
	for origin, c := range credentials {
		u, err := weburl.Parse(origin)
		if err == nil && (!u.IsHTTP() || u.HasUserInfo() || u.Path() != "/" || u.HasQuery() || u.HasFragment()) {
			err = errors.New("not an origin of http or https")
		}
		value := ""
		if err == nil {
			value, err = c.header()
		}
		if err != nil {
			bad = fmt.Errorf("credential for %q: %w", weburl.Redact(origin), err)
			continue
		}
		values[u.Origin()] = value
	}
	return middleware("auth", func(ctx context.Context, next Fetcher, req *Request) (*Response, error) {
		if bad != nil {
			return nil, &Error{Op: "auth", URL: req.URL, Kind: ErrInvalid, Err: bad}
		}
		u, err := weburl.Parse(req.URL)
		if err != nil {
			return nil, &Error{Op: "parse", URL: req.URL, Kind: ErrInvalid, Err: err}
		}
		value := values[u.Origin()]
		if _, there := headerValues(req.Header, "Authorization"); there || value == "" || u.HasUserInfo() {
			return next.Fetch(ctx, req)
		}
		req = req.Clone()
		setHeader(req, "Authorization", value)
		return next.Fetch(ctx, req)
	})
}

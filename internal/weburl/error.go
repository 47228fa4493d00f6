package weburl

import "fmt"

// Error says why an input is no URL. errors.Is finds the Reason in it.
type Error struct {
	Op     string // "parse" or "resolve"
	Input  string // without user info, cut to 200 bytes
	Reason Reason
}

func newError(op, input string, reason Reason) *Error {
	return &Error{Op: op, Input: Redact(input), Reason: reason}
}

func (e *Error) Error() string {
	return fmt.Sprintf("seine: %s url %q: %s", e.Op, e.Input, e.Reason.Error())
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Reason }

// Reason is a kind of invalid URL.
type Reason uint8

// The reasons.
const (
	TooLong     Reason = iota + 1 // input or href are longer than MaxLength, or a name that needs IDNA than maxIDNA
	NoBase                        // a relative reference without a base
	OpaqueBase                    // a relative reference to a base like mailto:
	HostMissing                   // the scheme needs a host, or user info or a port stand without one
	HostInvalid                   // the host holds what no host may hold
	IDNAInvalid                   // the host is no valid international name
	IPv4Invalid                   // the host ends in a number and is no IPv4 address
	IPv6Invalid                   // the host in brackets is no IPv6 address
	PortInvalid                   // the port is no number or greater than 65535
)

var reasonTexts = [...]string{
	TooLong:     "too long",
	NoBase:      "relative reference without a base",
	OpaqueBase:  "relative reference to a base without a hierarchy",
	HostMissing: "no host",
	HostInvalid: "invalid character in host",
	IDNAInvalid: "invalid international host name",
	IPv4Invalid: "invalid ipv4 address",
	IPv6Invalid: "invalid ipv6 address",
	PortInvalid: "invalid port",
}

// Error returns the reason as text.
func (r Reason) Error() string {
	if r == 0 || int(r) >= len(reasonTexts) {
		return "unknown reason"
	}
	return reasonTexts[r]
}

package proxy

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
)

// Numbers of RFC 1928 and RFC 1929.
const (
	socksVersion    = 5
	socksAuthNone   = 0
	socksAuthUser   = 2
	socksAuthRefuse = 0xff
	socksConnect    = 1
	socksIPv4       = 1
	socksName       = 3
	socksIPv6       = 4
)

var (
	errSocksVersion = errors.New("the answer is not SOCKS5")
	errSocksMethod  = errors.New("the proxy accepts none of the offered ways to log in")
	errSocksLogin   = errors.New("user or password was refused")
	errSocksAddress = errors.New("the answer has an address of unknown type")
)

// socksReplies are the texts of RFC 1928 section 6.
var socksReplies = [...]string{
	1: "general failure", 2: "not allowed by the proxy's rules", 3: "network unreachable", 4: "host unreachable",
	5: "connection refused", 6: "time to live expired", 7: "command not supported", 8: "address type not supported",
}

// SOCKSReply is the refusal of a SOCKS5 proxy: the number of RFC 1928 section 6.
type SOCKSReply uint8

// Error returns the meaning of the number.
func (r SOCKSReply) Error() string {
	if int(r) < len(socksReplies) && socksReplies[r] != "" {
		return "socks: " + socksReplies[r]
	}
	return "socks: reply " + strconv.Itoa(int(r))
}

// socks5 asks for a tunnel. It reads exactly the bytes of the answers, so that none of the tunnel's are lost.
func (h hop) socks5(conn net.Conn, host string, port uint16) error {
	if err := h.socksLogin(conn); err != nil {
		return err
	}
	req := append(make([]byte, 0, 300), socksVersion, socksConnect, 0)
	if addr, err := netip.ParseAddr(host); err != nil {
		req = append(append(req, socksName, byte(len(host))), host...)
	} else if addr = addr.Unmap(); addr.Is4() {
		req = append(append(req, socksIPv4), addr.AsSlice()...)
	} else {
		req = append(append(req, socksIPv6), addr.AsSlice()...)
	}
	req = append(req, byte(port>>8), byte(port))
	var head [5]byte // version, reply, reserved, type and the first byte of the address
	if err := ask(conn, req, head[:]); err != nil {
		return &Error{Op: "connect", Err: err}
	}
	if head[0] != socksVersion {
		return &Error{Op: "connect", Err: errSocksVersion}
	}
	if head[1] != 0 {
		reply := SOCKSReply(head[1])
		return &Error{Op: "connect", Target: reply >= 3 && reply <= 6, Err: reply}
	}
	rest := 0
	switch head[3] {
	case socksIPv4:
		rest = 4 - 1 + 2
	case socksIPv6:
		rest = 16 - 1 + 2
	case socksName:
		rest = int(head[4]) + 2
	default:
		return &Error{Op: "connect", Err: errSocksAddress}
	}
	if _, err := io.ReadFull(conn, make([]byte, rest)); err != nil {
		return &Error{Op: "connect", Err: err}
	}
	return nil
}

func (h hop) socksLogin(conn net.Conn) error {
	methods := []byte{socksVersion, 1, socksAuthNone}
	if h.auth {
		methods = []byte{socksVersion, 2, socksAuthNone, socksAuthUser}
	}
	var answer [2]byte
	if err := ask(conn, methods, answer[:]); err != nil {
		return &Error{Op: "greeting", Err: err}
	}
	switch {
	case answer[0] != socksVersion:
		return &Error{Op: "greeting", Err: errSocksVersion}
	case answer[1] == socksAuthNone:
		return nil
	case answer[1] != socksAuthUser || !h.auth:
		return &Error{Op: "greeting", Err: errSocksMethod}
	}
	login := append([]byte{1, byte(len(h.user))}, h.user...)
	login = append(append(login, byte(len(h.password))), h.password...)
	if err := ask(conn, login, answer[:]); err != nil {
		return &Error{Op: "login", Err: err}
	}
	if answer[1] != 0 {
		return &Error{Op: "login", Err: errSocksLogin}
	}
	return nil
}

func ask(conn net.Conn, question, answer []byte) error {
	if _, err := conn.Write(question); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, answer)
	return err
}

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package h1

// canPeek says whether there is a call to look at a socket.
const canPeek = false

// peek finds nothing: there is no call for it here.
func (p *probe) peek(uintptr) bool { return true }

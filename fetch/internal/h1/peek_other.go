//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package h1

// peek finds nothing: there is no call for it here.
func (p *probe) peek(uintptr) bool { return true }

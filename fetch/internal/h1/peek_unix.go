//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package h1

import "syscall"

// canPeek says whether there is a call to look at a socket.
const canPeek = true

// peek looks at the socket for a byte or an end. It always says that it is done, so that nobody waits.
func (p *probe) peek(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), p.one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	p.waiting = err != syscall.EAGAIN && err != syscall.EWOULDBLOCK && err != syscall.EINTR
	return true
}

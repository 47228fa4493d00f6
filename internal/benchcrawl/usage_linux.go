package main

import "syscall"

// usage is what the process has used so far: resident memory at its peak in KiB, and CPU time in seconds.
func usage() (rssKB int64, cpu float64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return int64(u.Maxrss), float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

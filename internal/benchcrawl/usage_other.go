//go:build !linux

package main

// usage is not known here; the kit runs on Linux.
func usage() (rssKB int64, cpu float64) { return 0, 0 }

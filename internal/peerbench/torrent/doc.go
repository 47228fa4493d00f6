// Package torrent measures package torrent of seine beside anacrolix/torrent, in one run and on the same inputs:
//
//	go -C internal/peerbench test -run TestTorrentBeside -v ./torrent
package torrent

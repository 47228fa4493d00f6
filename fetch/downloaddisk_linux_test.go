package fetch

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDownloadToAFullDisk fills a disk of a megabyte, and goes on when there is room again.
func TestDownloadToAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		if os.Getenv("SEINE_REQUIRE") == "all" {
			t.Fatalf("no small disk: %v, and SEINE_REQUIRE=all", err)
		}
		t.Skipf("no small disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 600<<10), 0o666); err != nil {
		t.Fatal(err)
	}
	s := &shop{data: someBytes(900 << 10), tag: `"v1"`}
	shopping(t, s, func(t *testing.T, d *Downloader) {
		path := filepath.Join(dir, "film")
		got, err := d.File(t.Context(), &Request{URL: film}, path)
		if got != nil || !errors.Is(err, syscall.ENOSPC) || KindOf(err) != ErrSink || len(s.ranges) != 1 {
			t.Fatalf("%+v, %v, asked %d times", got, err, len(s.ranges))
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		got, err = d.File(t.Context(), &Request{URL: film}, path)
		if onDisk, _ := os.ReadFile(path); err != nil || got.Resumed == 0 || !bytes.Equal(onDisk, s.data) {
			t.Errorf("with room again: %+v, %v", got, err)
		}
	})
}

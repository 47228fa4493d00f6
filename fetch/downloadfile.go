package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/seine-go/seine/internal/weburl"
)

// What stands beside a file while it is downloaded.
const (
	partSuffix = ".part"      // what has come
	infoSuffix = ".part.json" // of which resource
)

// maxPartInfo bounds a file that says of what a part is, in bytes.
const maxPartInfo = 256 << 10

// partInfo says of what a part is.
type partInfo struct {
	URL       string `json:"url"`
	Validator string `json:"validator"`
}

// File writes a resource to the file at path, which is there as a whole or not at all: until then what has come is in
// path+".part", and path+".part.json" says of what. After an error, or the end of the process, both stay, and the next
// download of the same URL to the same path goes on from there if the resource has not changed; if it has, it begins anew.
// A file that is there is replaced. No two downloads of one path may run at once. Request.MaxBody bounds the whole; zero
// means DefaultMaxBody, negative no bound.
func (d *Downloader) File(ctx context.Context, req *Request, path string) (*Download, error) {
	part, err := openPart(withoutUserInfo(req.URL), path)
	if err != nil {
		return nil, &Error{Op: "download", URL: req.URL, Kind: ErrSink, Err: err}
	}
	done, err := d.run(ctx, req, part)
	if err != nil {
		if closeErr := part.file.Close(); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
		return nil, err
	}
	if err := part.finish(path); err != nil {
		return nil, &Error{Op: "download", URL: req.URL, Kind: ErrSink, Err: err}
	}
	return done, nil
}

// withoutUserInfo returns a URL without what is secret, as it may stand in a file.
func withoutUserInfo(url string) string {
	if u, err := weburl.Parse(url); err == nil {
		return u.WithoutUserInfo().Href()
	}
	return url
}

// fileTarget is the part of a file that has come.
type fileTarget struct {
	file *os.File
	info string // path of the file that says of what it is
	n    int64
	partInfo
}

// openPart opens what an earlier download has left, or begins.
func openPart(url, path string) (*fileTarget, error) {
	file, err := os.OpenFile(path+partSuffix, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	t := &fileTarget{file: file, info: path + infoSuffix}
	known, err := readPartInfo(t.info)
	if err == nil && known.URL == url && known.Validator != "" {
		t.partInfo = known
		t.n, err = file.Seek(0, io.SeekEnd)
	} else {
		t.URL = url
		err = t.begin("")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return t, nil
}

func readPartInfo(path string) (info partInfo, err error) {
	f, err := os.Open(path)
	if err != nil {
		return info, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPartInfo))
	if err != nil {
		return info, err
	}
	return info, json.Unmarshal(data, &info)
}

func (t *fileTarget) size() int64       { return t.n }
func (t *fileTarget) validator() string { return t.Validator }

// begin implements destination. The info is gone before the bytes are, and comes before others do, so that it is never that of
// other bytes.
func (t *fileTarget) begin(validator string) error {
	if err := os.Remove(t.info); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := t.file.Truncate(0); err != nil {
		return err
	}
	if _, err := t.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	t.n, t.Validator = 0, validator
	if validator == "" {
		return nil
	}
	data, err := json.Marshal(t.partInfo)
	if err != nil {
		return err
	}
	return os.WriteFile(t.info, data, 0o666)
}

// Write implements io.Writer.
func (t *fileTarget) Write(p []byte) (int, error) {
	n, err := t.file.Write(p)
	t.n += int64(n)
	return n, err
}

// finish gives the file its name.
func (t *fileTarget) finish(path string) error {
	if err := errors.Join(t.file.Sync(), t.file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+partSuffix, path); err != nil {
		return fmt.Errorf("the file is whole, but: %w", err)
	}
	if err := os.Remove(t.info); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

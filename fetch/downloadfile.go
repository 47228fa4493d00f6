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

// maxPartOpens bounds how often a part is opened anew because the download before gave it its name meanwhile.
const maxPartOpens = 10

// partInfo says of what a part is.
type partInfo struct {
	URL string `json:"url"`
	version
}

// File writes a resource to the file at path, which is there as a whole or not at all: until then what has come is in
// path+".part", and path+".part.json" says of what. After an error, or the end of the process, both stay, and the next
// download of the same URL to the same path goes on from there if the resource has not changed; if it has, it begins anew. After
// ErrMismatch they have to be deleted to have it begin anew all the same.
// A file that is there is replaced. A second download to the same path, of this process or another, fails with ErrInUse while the
// first runs (on Unix and Windows; elsewhere it is up to the caller). What is in the part when the machine itself dies is not
// looked at again: delete it then. Request.MaxBody bounds the whole; zero means DefaultMaxBody, negative no bound.
func (d *Downloader) File(ctx context.Context, req *Request, path string) (*Download, error) {
	if _, err := d.check(req); err != nil {
		return nil, err
	}
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
	file, err := ownPart(path + partSuffix)
	if err != nil {
		return nil, err
	}
	t := &fileTarget{file: file, info: path + infoSuffix}
	t.n, err = file.Seek(0, io.SeekEnd)
	known, infoErr := readPartInfo(t.info)
	if t.partInfo = known; infoErr != nil || known.URL != url || known.Total > 0 && t.n > known.Total {
		t.partInfo = partInfo{URL: url}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return t, nil
}

// ownPart opens the file of a part so that no other download does. One that has just been given its name is not that any more.
func ownPart(path string) (*os.File, error) {
	for range maxPartOpens {
		f, err := openLocked(path)
		if err != nil || !renamesOpen {
			return f, err
		}
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if there, err := os.Stat(path); err == nil && os.SameFile(mine, there) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return nil, ErrInUse
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

func (t *fileTarget) size() int64      { return t.n }
func (t *fileTarget) version() version { return t.partInfo.version }
func (t *fileTarget) restarts() bool   { return true }

// begin implements destination. The info is gone before the bytes are, and comes before others do, so that it is never that of
// other bytes.
func (t *fileTarget) begin(v version) error {
	if err := t.forget(); err != nil {
		return err
	}
	if err := t.file.Truncate(0); err != nil {
		return err
	}
	if _, err := t.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	t.n, t.partInfo.version = 0, v
	if v.Validator == "" {
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

// forget takes away what says of what the part is.
func (t *fileTarget) forget() error {
	if err := os.Remove(t.info); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// finish gives the file its name. Bytes of which the disk says that it may not have them are not gone on with.
func (t *fileTarget) finish(path string) error {
	if err := t.file.Sync(); err != nil {
		return errors.Join(err, t.forget(), t.file.Close())
	}
	named, closed := error(nil), error(nil)
	if renamesOpen { // nobody else opens the part in between
		named = os.Rename(path+partSuffix, path)
		closed = t.file.Close()
	} else if closed = t.file.Close(); closed == nil {
		named = os.Rename(path+partSuffix, path)
	}
	if named != nil {
		named = fmt.Errorf("the file is whole, but: %w", named)
	}
	if err := errors.Join(named, closed); err != nil {
		return err
	}
	return t.forget()
}

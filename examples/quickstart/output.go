package main

import "os"

// output is a file of lines. What it held is kept until the first line is written, so that a crawl that cannot begin
// destroys nothing; and of a line that does not fit, nothing is left.
type output struct {
	file *os.File
	size int64
}

func openOutput(name string) (*output, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return &output{file: file}, nil
}

// Write writes one line.
func (o *output) Write(line []byte) (int, error) {
	info, err := o.file.Stat()
	if err != nil {
		return 0, err
	}
	regular := info.Mode().IsRegular() // else it may be a device or a pipe, which cannot be cut
	if o.size == 0 && regular {
		if err := o.file.Truncate(0); err != nil {
			return 0, err
		}
	}
	n, err := o.file.Write(line)
	if err != nil && regular {
		_ = o.file.Truncate(o.size) // the first error counts
		return 0, err
	}
	o.size += int64(n)
	return n, err
}

func (o *output) Close() error { return o.file.Close() }

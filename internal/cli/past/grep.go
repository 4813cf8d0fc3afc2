package past

import (
	"bytes"
	"io"
	"regexp"
)

// lineFilter passes on the lines that match a pattern.
type lineFilter struct {
	to      io.Writer
	pattern *regexp.Regexp
	partial []byte // the unfinished line
}

func (f *lineFilter) Write(b []byte) (int, error) {
	f.partial = append(f.partial, b...)
	for {
		end := bytes.IndexByte(f.partial, '\n')
		if end < 0 {
			return len(b), nil
		}
		line := f.partial[:end+1]
		f.partial = f.partial[end+1:]
		if err := f.pass(line); err != nil {
			return 0, err
		}
	}
}

func (f *lineFilter) pass(line []byte) error {
	if !f.pattern.Match(bytes.TrimRight(line, "\r\n")) {
		return nil
	}
	_, err := f.to.Write(line)
	return err
}

// flush passes on the unfinished last line, if it matches.
func (f *lineFilter) flush() error {
	line := f.partial
	f.partial = nil
	if len(line) == 0 {
		return nil
	}
	return f.pass(line)
}

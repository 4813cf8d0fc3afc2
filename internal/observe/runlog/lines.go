package runlog

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
)

// Limits of one page of lines and of one search.
const (
	maxLineBytes = 8 << 10  // of a line that is shown; the rest of it is left out
	maxPageBytes = 1 << 20  // of all lines of a page
	maxPageRead  = 16 << 20 // read for a page, with what is left out
	maxScanned   = 32 << 20 // read for a search
)

// Page is some lines of a log.
type Page struct {
	Bytes int64    // size of the log
	Total int64    // number of lines of the log
	Open  bool     // the last line of the log does not end yet
	From  int64    // number of the first line of the page, from 1
	Lines []string // without their ends
	Cut   []int64  // numbers of the lines of which only the beginning is there
	At    []int64  // where each line begins in the log
}

// ReadPage returns at most limit lines, beginning with the line number from. A number below 1 counts
// from the end: 0 is the last line, -1 the one before it. The page ends earlier when it is large.
func ReadPage(ctx context.Context, log io.ReaderAt, size int64, x *LineIndex, from int64, limit int) (*Page, error) {
	p := &Page{Bytes: size, Lines: []string{}, Cut: []int64{}}
	var err error
	if p.Total, p.Open, err = x.lines(ctx, log, size); err != nil {
		return nil, err
	}
	if from < 1 {
		from += p.Total
	}
	p.From = max(from, 1)
	if p.From > p.Total {
		return p, nil
	}
	at, err := x.offset(ctx, log, size, p.From)
	if err != nil {
		return nil, err
	}
	cut := size-at > maxPageRead
	in := bufio.NewReaderSize(io.NewSectionReader(log, at, min(size-at, maxPageRead)), maxLineBytes)
	for bytesLeft := maxPageBytes; len(p.Lines) < limit && bytesLeft > 0; {
		line, err := in.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			break
		}
		if errors.Is(err, bufio.ErrBufferFull) || err == io.EOF && cut {
			p.Cut = append(p.Cut, p.From+int64(len(p.Lines)))
		}
		bytesLeft -= len(line)
		p.Lines, p.At = append(p.Lines, string(bytes.TrimRight(line, "\r\n"))), append(p.At, at)
		at += int64(len(line))
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = in.ReadSlice('\n')
			at += int64(len(line))
		}
	}
	return p, nil
}

// Match is a line that a search has found.
type Match struct {
	Line int64
	Text string // the line, or its beginning
	At   int64  // where it is in the log
}

// Search returns at most limit lines, from the line number from on, that contain the text, whatever
// the case of ASCII letters. next is the number of the line with which the search continues, 0 at
// the end of the log.
func Search(ctx context.Context, log io.ReaderAt, size int64, x *LineIndex, text string, from int64, limit int) (found []Match, next int64, err error) {
	total, _, err := x.lines(ctx, log, size)
	if err != nil || from > total {
		return nil, 0, err
	}
	line := max(from, 1)
	at, err := x.offset(ctx, log, size, line)
	if err != nil {
		return nil, 0, err
	}
	want, buf, folded := asciiLower(nil, []byte(text)), make([]byte, blockSize), []byte(nil)
	for end := min(size, at+maxScanned); at < end; {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		n, err := log.ReadAt(buf[:min(blockSize, size-at)], at)
		if n == 0 {
			return nil, 0, fmt.Errorf("cannot read a log: %w", cmp.Or(err, io.ErrUnexpectedEOF))
		}
		// A line that is longer than the buffer is searched in parts.
		part := buf[:n]
		if last := bytes.LastIndexByte(part, '\n'); last >= 0 {
			part = part[:last+1]
		}
		folded = asciiLower(folded[:0], part)
		done := 0
		for {
			i := bytes.Index(folded[done:], want)
			if i < 0 {
				break
			}
			line += int64(bytes.Count(part[done:done+i], []byte("\n")))
			begin := bytes.LastIndexByte(part[:done+i], '\n') + 1
			stop := bytes.IndexByte(part[done+i:], '\n')
			if stop < 0 {
				stop = len(part) - done - i
			}
			if len(found) == limit {
				return found, line, nil
			}
			if len(found) == 0 || found[len(found)-1].Line != line {
				found = append(found, Match{line, string(part[begin:min(done+i+stop, begin+maxLineBytes)]), at + int64(begin)})
			}
			done += i + stop // the end of the line
		}
		line += int64(bytes.Count(part[done:], []byte("\n")))
		at += int64(len(part))
	}
	if at >= size {
		return found, 0, nil
	}
	return found, line, nil
}

// asciiLower appends text to b with the letters A to Z in lower case.
func asciiLower(b, text []byte) []byte {
	start := len(b)
	b = append(b, text...)
	for i, c := range b[start:] {
		if 'A' <= c && c <= 'Z' {
			b[start+i] = c + 'a' - 'A'
		}
	}
	return b
}

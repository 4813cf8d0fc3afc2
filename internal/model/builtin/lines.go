package builtin

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// lineReader reads a text line by line, with limited memory for long lines.
type lineReader struct {
	r   *bufio.Reader
	max int // bytes to keep of each line

	line []byte // without the line end; valid until the next call
	ends string // the line end: "\n", "\r\n", or "" at the end of the text
	cut  bool   // the line is longer than max
	err  error
}

// next reads the next line. It returns false at the end of the text and after a read error.
func (l *lineReader) next() bool {
	l.line, l.ends, l.cut = l.line[:0], "", false
	if l.err != nil {
		return false
	}
	last := byte(0) // the byte before the line end
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil {
			part, l.ends = part[:len(part)-1], "\n"
		}
		if len(part) > 0 {
			last = part[len(part)-1]
		}
		room := l.max - len(l.line)
		if len(part) > room {
			l.cut = true
			part = part[:room]
		}
		l.line = append(l.line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.err = err
		break
	}
	if l.ends != "" && last == '\r' {
		l.ends = "\r\n"
		if !l.cut {
			l.line = l.line[:len(l.line)-1]
		}
	}
	return l.err == nil || errors.Is(l.err, io.EOF) && (len(l.line) > 0 || l.cut)
}

// failed returns the read error, nil at the end of the text.
func (l *lineReader) failed() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}

// Limits for reading one text.
const (
	defaultLines = 2000     // lines, if the call sets no limit
	maxChars     = 2000     // characters of a line
	maxText      = 2 << 20  // bytes of text in an answer
	maxCounted   = 64 << 20 // bytes that are read to count the remaining lines
)

// excerpt is a range of lines of a text.
type excerpt struct {
	text  string
	from  int // index of the first line, from 0
	count int
	cut   int // number of lines that were longer than maxChars
	total int // lines of the whole text; -1 if it is too long to count them
}

// whole reports whether the excerpt is the complete text.
func (e excerpt) whole() bool { return e.from == 0 && e.cut == 0 && e.total == e.count }

// take reads lines from index from on: at most most lines and about room bytes.
func take(r *bufio.Reader, from, most, room int) (excerpt, error) {
	l := &lineReader{r: r, max: maxChars * 4}
	e := excerpt{from: from}
	var b strings.Builder
	for n := 0; n < from; n++ {
		if !l.next() {
			e.total = n
			return e, l.failed()
		}
	}
	for e.count < most && (b.Len() < room || e.count == 0) {
		if !l.next() {
			e.text, e.total = b.String(), from+e.count
			return e, l.failed()
		}
		line, cut := firstChars(strings.ToValidUTF8(string(l.line), "\uFFFD"), maxChars)
		if cut || l.cut {
			line += "... [line cut]"
			e.cut++
		}
		b.WriteString(line)
		b.WriteString(l.ends)
		e.count++
	}
	e.text = b.String()
	rest, err := countLines(l)
	if e.total = from + e.count + rest; rest < 0 {
		e.total = -1
	}
	return e, err
}

// countLines returns the number of remaining lines, -1 if the text is too long to count them.
func countLines(l *lineReader) (lines int, err error) {
	last := byte('\n')
	for read := 0; ; {
		part, err := l.r.ReadSlice('\n')
		if read += len(part); read > maxCounted {
			return -1, nil
		}
		if len(part) > 0 {
			last = part[len(part)-1]
		}
		switch {
		case err == nil:
			lines++
		case errors.Is(err, io.EOF) && last != '\n':
			return lines + 1, nil
		case errors.Is(err, io.EOF):
			return lines, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return lines, err
		}
	}
}

// firstChars returns the beginning of a text, and whether it was cut.
func firstChars(s string, most int) (string, bool) {
	if len(s) <= most {
		return s, false
	}
	n := 0
	for i := range s {
		if n == most {
			return s[:i], true
		}
		n++
	}
	return s, false
}

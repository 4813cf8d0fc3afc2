package builtin

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// liner gives the lines of a text one after the other, however long they are.
type liner struct {
	r   *bufio.Reader
	max int // bytes that are kept of a line

	line []byte // without what ends it; valid until the next one
	ends string // what ends it: "\n", "\r\n", or "" at the end of the text
	cut  bool   // the line is longer than most
	err  error
}

// next goes to the next line; false at the end of the text and where reading fails.
func (l *liner) next() bool {
	l.line, l.ends, l.cut = l.line[:0], "", false
	if l.err != nil {
		return false
	}
	last := byte(0) // before the line's end
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

// failed is why reading ended, nil at the end of the text.
func (l *liner) failed() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}

// Bounds of what is read of one text.
const (
	usualLines = 2000     // where a call does not say how many
	maxChars   = 2000     // of a line
	maxText    = 2 << 20  // bytes of text in an answer
	maxCounted = 64 << 20 // bytes that are read on to count lines
)

// excerpt is some lines of a text.
type excerpt struct {
	text  string
	from  int // the first of them, from 0
	count int
	cut   int // of them were longer than mostChars
	total int // lines of the whole text; -1 where it goes on for too long to count them
}

// whole says whether nothing of the text is missing.
func (e excerpt) whole() bool { return e.from == 0 && e.cut == 0 && e.total == e.count }

// take reads lines from the one with the number from, most lines and room bytes of them.
func take(r *bufio.Reader, from, most, room int) (excerpt, error) {
	l := &liner{r: r, max: maxChars * 4}
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

// countLines is how many lines are left of a text, -1 where it goes on for too long.
func countLines(l *liner) (lines int, err error) {
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

// firstChars is the beginning of a text, and whether there is more of it.
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

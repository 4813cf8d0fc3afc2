package console

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Cleaner is a writer that makes the output of a program safe for a terminal. It passes on text
// and colors, and removes what moves the cursor, sets a title, writes to the clipboard or
// reorders text. A carriage return begins a new line, so that nothing is overwritten. Writes may
// end anywhere: what could be the beginning of an escape sequence is held back until its end is
// written. Not safe for concurrent use.
type Cleaner struct {
	w    io.Writer
	held []byte
}

// NewCleaner returns a Cleaner that writes to w.
func NewCleaner(w io.Writer) *Cleaner { return &Cleaner{w: w} }

// maxSequence is the maximum length of an escape sequence. A longer one is treated as text.
const maxSequence = 4 << 10

// Write cleans and writes what is complete.
func (c *Cleaner) Write(p []byte) (int, error) {
	text := p
	if len(c.held) > 0 {
		text = append(c.held, p...)
	}
	end := completeLength(text)
	err := c.writeClean(text[:end])
	c.held = append(c.held[:0], text[end:]...)
	return len(p), err
}

// Flush cleans and writes what was held back.
func (c *Cleaner) Flush() error {
	err := c.writeClean(c.held)
	c.held = nil
	return err
}

var newLines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func (c *Cleaner) writeClean(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if isPlain(text) { // as nearly all output is; cleaning it takes 20 times as long
		_, err := c.w.Write(text)
		return err
	}
	var out bytes.Buffer
	for line := range strings.Lines(newLines.Replace(strings.ToValidUTF8(string(text), "\uFFFD"))) {
		whole, ended := strings.CutSuffix(line, "\n")
		out.WriteString(sanitizeKeepingColor(whole))
		if ended {
			out.WriteByte('\n')
		}
	}
	_, err := c.w.Write(out.Bytes())
	return err
}

// isPlain reports whether cleaning would change nothing: the text has only printable ASCII and
// line ends.
func isPlain(text []byte) bool {
	for _, b := range text {
		if (b < ' ' || b > '~') && b != '\n' {
			return false
		}
	}
	return true
}

// completeLength returns the length of the longest beginning of b that does not end inside an
// escape sequence, a line end or a character.
func completeLength(b []byte) int {
	if at := bytes.LastIndexByte(b, '\x1b'); at >= 0 && len(b)-at < maxSequence {
		if bytes.HasPrefix(b[at:], []byte("\x1b\\")) { // the end of a string sequence: continue at its beginning
			if open := bytes.LastIndexByte(b[:at], '\x1b'); open >= 0 {
				at = open
			}
		}
		if found := sequences().FindIndex(b[at:]); found == nil || unfinished(b[at:][:found[1]]) && at+found[1] == len(b) {
			return at
		}
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return n - 1
	}
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

// unfinished reports whether a sequence is a string sequence (OSC and similar) without its end.
func unfinished(s []byte) bool {
	return len(s) > 1 && bytes.IndexByte([]byte("]PX^_"), s[1]) >= 0 && s[len(s)-1] != '\a' && !bytes.HasSuffix(s, []byte("\x1b\\"))
}

// PlainText returns what a program printed without colors, and without what a Cleaner removes.
func PlainText(text string) string {
	var b strings.Builder
	c := NewCleaner(&b)
	_, _ = io.WriteString(c, text) // a Builder does not fail
	_ = c.Flush()
	return colorless(b.String())
}

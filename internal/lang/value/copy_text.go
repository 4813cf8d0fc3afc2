package value

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// CopyText copies the first limit bytes of r as text: bytes that are not UTF-8 are replaced as by ValidText, and a
// character that the limit cuts is left out as by UpTo. It writes whole characters. n is how many bytes it read.
func CopyText(w io.Writer, r io.Reader, limit int64) (n int64, replaced bool, err error) {
	t := textCopy{to: w}
	buffer, held := make([]byte, 64<<10), 0
	for r = io.LimitReader(r, limit); ; {
		got, end := r.Read(buffer[held:])
		n += int64(got)
		text := buffer[:held+got]
		whole := text[:len(text)-incompleteEnd(text)]
		if end == io.EOF && n < limit {
			whole = text
		}
		if err := t.write(whole); err != nil {
			return n, t.replaced, err
		}
		switch {
		case end == io.EOF:
			return n, t.replaced, nil
		case end != nil:
			return n, t.replaced, end
		}
		held = copy(buffer, text[len(whole):])
	}
}

// incompleteEnd returns the length of the incomplete character at the end of a text.
func incompleteEnd(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if at := len(text) - n; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return n
			}
			break
		}
	}
	return 0
}

// textCopy replaces what is not UTF-8 in a text that comes in pieces.
type textCopy struct {
	to       io.Writer
	replaced bool
	inRun    bool // what was written ends with a replacement, which stands for all invalid bytes in a row
}

func (t *textCopy) write(p []byte) error {
	for t.inRun && len(p) > 0 && invalidByte(utf8.DecodeRune(p)) {
		p = p[1:]
	}
	if len(p) == 0 {
		return nil
	}
	t.inRun = invalidByte(utf8.DecodeLastRune(p))
	if !utf8.Valid(p) {
		t.replaced, p = true, bytes.ToValidUTF8(p, []byte("\uFFFD"))
	}
	_, err := t.to.Write(p)
	return err
}

// invalidByte reports whether a decoded character is a byte that is not UTF-8.
func invalidByte(r rune, size int) bool { return r == utf8.RuneError && size == 1 }

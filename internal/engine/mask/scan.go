package mask

import (
	"bytes"
	"math/bits"
)

// Output can be large, and nearly none of it is secret. So the search skips most bytes, as that of Boyer and Moore
// does: it looks at the last two bytes of a window of the text, and if no form has them, then no form starts in all of
// the window but its last byte. A form can start only at a candidate; whether one does is decided by patterns.match.

// scanner finds the candidates for a set of forms.
type scanner struct {
	window int            // how many bytes of each form count
	step   [1 << 16]uint8 // by the last two bytes of a window: how far the window may move; 0: it is a candidate
	wraps  bool           // some forms may contain line ends that are not part of their text
	// By the bytes before and after such a line end: bit k is set if they are the bytes k and k+1 of a form.
	around [1 << 16]uint32
}

const (
	// maxWindow limits the window: a longer one saves little more, and its bits have to fit into a number.
	maxWindow = 24
	// minScan is the size of a text for which making a scanner is worthwhile.
	minScan = 1 << 10
)

// pair is an index of two bytes.
func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

func newScanner(byFirstByte *[256][]form) *scanner {
	s := &scanner{window: maxWindow}
	for _, list := range byFirstByte {
		for _, f := range list {
			s.window = min(s.window, len(f.text))
			s.wraps = s.wraps || f.wraps
		}
	}
	for i := range s.step {
		s.step[i] = uint8(s.window - 1)
	}
	for _, list := range byFirstByte {
		for _, f := range list {
			s.add(f)
		}
	}
	return s
}

func (s *scanner) add(f form) {
	for k := range s.window - 1 {
		at := pair(f.text[k], f.text[k+1])
		s.step[at] = min(s.step[at], uint8(s.window-2-k))
		if f.wraps {
			s.around[at] |= 1 << k
		}
	}
}

// candidates visits the candidates in data, in order.
type candidates struct {
	*scanner // nil: every position is one
	data     []byte
	inWindow int    // the next candidate for forms whose window has no line end
	lines    int    // line ends were searched up to here
	before   int    // the byte before the last line end
	starts   uint32 // for the other forms: bit k is set if before-k is a candidate
}

func (p *patterns) candidates(data []byte) candidates {
	c := candidates{data: data, inWindow: -1}
	if len(data) >= minScan {
		p.once.Do(func() { p.scanner = newScanner(&p.byFirstByte) })
		c.scanner = p.scanner
	}
	return c
}

// next returns the first candidate that is not before i, or len(data) if there is none.
func (c *candidates) next(i int) int {
	if c.scanner == nil {
		return i
	}
	if c.inWindow < i {
		c.inWindow = c.nextInWindow(i)
	}
	if !c.wraps {
		return c.inWindow
	}
	return min(c.inWindow, c.nextWrapped(i))
}

// nextInWindow is next for forms whose window has no line end. The end of data is shorter than a window, so a form may
// start anywhere in it.
func (c *candidates) nextInWindow(i int) int {
	data, end, step := c.data, i+c.window, &c.step
	for end < len(data) {
		n := step[pair(data[end-2], data[end-1])]
		if n == 0 {
			break
		}
		end += int(n)
	}
	return min(end-c.window, len(data))
}

// nextWrapped is next for forms whose window has a line end.
func (c *candidates) nextWrapped(i int) int {
	for {
		for c.starts != 0 {
			k := bits.Len32(c.starts) - 1
			if at := c.before - k; at >= i {
				return at
			}
			c.starts &^= 1 << k
		}
		n := bytes.IndexByte(c.data[c.lines:], '\n')
		if n < 0 {
			c.lines = len(c.data)
			return len(c.data)
		}
		c.lines += n + 1
		c.lineEnd()
	}
}

// lineEnd finds out where forms may start that have the last line end in their window.
func (c *candidates) lineEnd() {
	c.before = c.lines - 2
	if c.before >= 0 && c.data[c.before] == '\r' {
		c.before--
	}
	switch {
	case c.before < 0:
	case c.lines == len(c.data): // the next byte is not known
		c.starts = 1<<c.window - 1
	default:
		c.starts = c.around[pair(c.data[c.before], c.data[c.lines])]
	}
}

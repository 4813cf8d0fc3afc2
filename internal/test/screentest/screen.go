// Package screentest is a terminal for tests: it receives what a program writes and returns what a
// person would see. It knows what flowrun uses (line ends, cursor up, erasing, colours,
// synchronized output), collects everything else as unknown, and keeps lines that scroll off the
// top.
package screentest

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Screen is the terminal. Safe for concurrent use.
type Screen struct {
	mu         sync.Mutex
	cols, rows int
	lines      [][]rune     // starting with those that scrolled off; the last rows of them are the window
	row, col   int          // row counts from the first line
	wrapped    map[int]bool // lines that continue the one before
	pending    []byte       // a sequence or character that is incomplete
	unknown    []string
	frames     int
	lastFrame  string
}

// New returns an empty Screen.
func New(cols, rows int) *Screen {
	return &Screen{cols: cols, rows: rows, lines: make([][]rune, 1), wrapped: map[int]bool{}}
}

// Resize changes the size of the window, and wraps lines again as most terminals do.
func (s *Screen) Resize(cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var whole [][]rune // lines as they were written
	row, col := 0, 0   // position of the cursor in whole
	for i, l := range s.lines {
		if i > 0 && len(s.lines[i-1]) >= s.cols && s.wrapped[i] {
			whole[len(whole)-1] = append(whole[len(whole)-1], l...)
		} else {
			whole = append(whole, append([]rune(nil), l...))
		}
		if i == s.row {
			row, col = len(whole)-1, len(whole[len(whole)-1])-len(l)+s.col
		}
	}
	s.lines, s.wrapped, s.cols, s.rows = nil, map[int]bool{}, cols, rows
	for i, l := range whole {
		first := len(s.lines)
		for len(l) > cols {
			s.lines, l = append(s.lines, l[:cols:cols]), l[cols:]
			s.wrapped[len(s.lines)] = true
		}
		s.lines = append(s.lines, l)
		if i == row {
			s.row, s.col = first+col/cols, col%cols
		}
	}
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
}

// Size returns the size of the window.
func (s *Screen) Size() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cols, s.rows
}

// String returns the whole text, including lines that have scrolled off.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text()
}

func (s *Screen) text() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Unknown returns the control characters and sequences that the Screen does not know.
func (s *Screen) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unknown
}

// Frames returns how many synchronized frames were shown, and the text after the last one.
func (s *Screen) Frames() (n int, last string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frames, s.lastFrame
}

// Write receives what a program writes.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := append(s.pending, p...)
	for len(b) > 0 {
		n := s.consume(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	s.pending = append([]byte(nil), b...)
	return len(p), nil
}

// consume handles one character or sequence and returns its length, or 0 if it is incomplete.
func (s *Screen) consume(b []byte) int {
	if b[0] == 0x1b {
		return s.sequence(b)
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == '\n':
		s.lineFeed()
		delete(s.wrapped, s.row)
		s.col = 0 // because of the terminal's output modes, or of a carriage return before it
	case r == '\r':
		s.col = 0
	case r < 0x20, 0x7f <= r && r < 0xa0:
		s.unknown = append(s.unknown, string(r))
	default:
		s.printRune(r)
	}
	return n
}

func (s *Screen) sequence(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != '[' {
		s.unknown = append(s.unknown, string(b[:2]))
		return 2
	}
	end := 2
	for end < len(b) && b[end] < 0x40 {
		end++
	}
	if end == len(b) {
		return 0
	}
	args := string(b[2:end])
	switch final := b[end]; {
	case final == 'm':
	case final == 'A':
		s.row = max(s.row-number(args), s.top())
	case final == 'K' && args == "":
		s.setLineWidth(s.col)
	case final == 'J' && args == "":
		s.setLineWidth(s.col)
		s.lines = s.lines[:s.row+1]
	case final == 'h' && args == "?2026":
	case final == 'l' && args == "?2026":
		s.frames, s.lastFrame = s.frames+1, s.text()
	default:
		s.unknown = append(s.unknown, string(b[:end+1]))
	}
	return end + 1
}

func number(s string) int {
	n := 0
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return max(n, 1)
}

// top returns the first line of the window.
func (s *Screen) top() int { return max(len(s.lines)-s.rows, 0) }

func (s *Screen) lineFeed() {
	if s.row++; s.row == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

// setLineWidth cuts or fills the line of the cursor to a number of columns.
func (s *Screen) setLineWidth(cols int) {
	l := s.lines[s.row]
	for len(l) < cols {
		l = append(l, ' ')
	}
	s.lines[s.row] = l[:cols]
}

func (s *Screen) printRune(r rune) {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return
	}
	if s.col >= s.cols {
		s.lineFeed()
		s.col, s.wrapped[s.row] = 0, true
	}
	l := s.lines[s.row]
	for len(l) <= s.col {
		l = append(l, ' ')
	}
	l[s.col] = r
	s.lines[s.row] = l
	s.col++
}

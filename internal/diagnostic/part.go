package tool

import (
	"bytes"
	"strings"
)

// span is a stretch of a source: bytes from to to, without to.
type span struct{ from, to int }

// nextLine is the first line at or after a place that is not empty, and the start of the
// one behind it.
func (s *source) nextLine(at int) (start, next int) {
	for {
		next = s.lineAfter(at)
		if next == at || strings.TrimSpace(s.lineFrom(at)) != "" {
			return at, next
		}
		at = next
	}
}

// lineAfter is the start of the line behind the one that begins at a place; the end of the
// text for the last.
func (s *source) lineAfter(at int) int {
	for i := at; i < len(s.text); i++ {
		if n := breakLen(s.text[i:]); n > 0 {
			return i + n
		}
	}
	return len(s.text)
}

// lineFrom is the line from a place to its end, without the break.
func (s *source) lineFrom(at int) string {
	for i := at; i < len(s.text); i++ {
		if breakLen(s.text[i:]) > 0 {
			return string(s.text[at:i])
		}
	}
	return string(s.text[at:])
}

// only is the source with nothing in it but a span, in its place: what comes before is
// blank, what comes behind is cut off, so every line, column and offset stays.
func (s *source) only(part span) *source {
	view := bytes.Clone(s.text[:part.to])
	for i := 0; i < part.from; {
		if n := breakLen(view[i:]); n > 0 {
			i += n
			continue
		}
		view[i] = ' '
		i++
	}
	lines := 1
	for lines < len(s.lines) && s.lines[lines] < part.to {
		lines++
	}
	return &source{file: s.file, text: view, mark: s.mark, lines: s.lines[:lines], ascii: s.ascii}
}

// block is the text of lines, without the spaces that each begins with as far as indent
// goes: those that stand before the fence around them.
func (s *source) block(part span, indent int) Text {
	var b strings.Builder
	for at := part.from; at < part.to; {
		line, next := s.lineFrom(at), s.lineAfter(at)
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		b.WriteString(line[min(blanks, indent):])
		at += len(line)
		switch n := next - at; {
		case n == 0:
		case s.text[at] == '\r':
			b.WriteByte('\n')
		default:
			b.Write(s.text[at:next])
		}
		at = next
	}
	first := s.lineFrom(part.from)
	blanks := min(len(first)-len(strings.TrimLeft(first, " ")), indent)
	return Text{S: b.String(), Pos: s.pos(part.from + blanks), src: s, form: literalForm, indent: indent}
}

// between is the text of a span.
func (s *source) between(part span) string { return string(s.text[part.from:part.to]) }

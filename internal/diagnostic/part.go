package diagnostic

import (
	"bytes"
	"strings"
)

// Span is a stretch of a source: bytes from to to, without to.
type Span struct{ From, To int }

// NextLine is the first line at or after a place that is not empty, and the start of the
// one behind it.
func (s *Source) NextLine(at int) (start, next int) {
	for {
		next = s.LineAfter(at)
		if next == at || strings.TrimSpace(s.LineFrom(at)) != "" {
			return at, next
		}
		at = next
	}
}

// LineAfter is the start of the line behind the one that begins at a place; the end of the
// text for the last.
func (s *Source) LineAfter(at int) int {
	for i := at; i < len(s.Text); i++ {
		if n := BreakLen(s.Text[i:]); n > 0 {
			return i + n
		}
	}
	return len(s.Text)
}

// LineFrom is the line from a place to its end, without the break.
func (s *Source) LineFrom(at int) string {
	for i := at; i < len(s.Text); i++ {
		if BreakLen(s.Text[i:]) > 0 {
			return string(s.Text[at:i])
		}
	}
	return string(s.Text[at:])
}

// Only is the source with nothing in it but a span, in its place: what comes before is
// blank, what comes behind is cut off, so every line, column and offset stays.
func (s *Source) Only(part Span) *Source {
	view := bytes.Clone(s.Text[:part.To])
	for i := 0; i < part.From; {
		if n := BreakLen(view[i:]); n > 0 {
			i += n
			continue
		}
		view[i] = ' '
		i++
	}
	lines := 1
	for lines < len(s.Lines) && s.Lines[lines] < part.To {
		lines++
	}
	return &Source{File: s.File, Text: view, mark: s.mark, Lines: s.Lines[:lines], ascii: s.ascii}
}

// Block is the text of lines, without the spaces that each begins with as far as indent
// goes: those that stand before the fence around them.
func (s *Source) Block(part Span, indent int) Text {
	var b strings.Builder
	for at := part.From; at < part.To; {
		line, next := s.LineFrom(at), s.LineAfter(at)
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		b.WriteString(line[min(blanks, indent):])
		at += len(line)
		switch n := next - at; {
		case n == 0:
		case s.Text[at] == '\r':
			b.WriteByte('\n')
		default:
			b.Write(s.Text[at:next])
		}
		at = next
	}
	first := s.LineFrom(part.From)
	blanks := min(len(first)-len(strings.TrimLeft(first, " ")), indent)
	return Text{S: b.String(), Pos: s.Pos(part.From + blanks), src: s, form: LiteralForm, indent: indent}
}

// Between is the text of a span.
func (s *Source) Between(part Span) string { return string(s.Text[part.From:part.To]) }

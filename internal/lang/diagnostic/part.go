package diagnostic

import (
	"bytes"
	"strings"
)

// Span is a range of bytes in a source, from offset From up to, but not including, To.
type Span struct{ From, To int }

// NextLine returns the start of the first line that is not blank, at or after an offset, and the start of the line
// after it.
func (s *Source) NextLine(at int) (start, next int) {
	for {
		next = s.LineAfter(at)
		if next == at || strings.TrimSpace(s.LineFrom(at)) != "" {
			return at, next
		}
		at = next
	}
}

// LineAfter returns the start of the line after the one that contains an offset, or the end of the text.
func (s *Source) LineAfter(at int) int {
	for i := at; i < len(s.Text); i++ {
		if n := BreakLen(s.Text[i:]); n > 0 {
			return i + n
		}
	}
	return len(s.Text)
}

// LineFrom returns the text from an offset to the end of its line, without the line break.
func (s *Source) LineFrom(at int) string {
	for i := at; i < len(s.Text); i++ {
		if BreakLen(s.Text[i:]) > 0 {
			return string(s.Text[at:i])
		}
	}
	return string(s.Text[at:])
}

// Only returns a source that contains only a span. The text before it is blank and the text after it is cut off, so
// lines, columns and offsets remain the same.
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
	return &Source{File: s.File, Text: view, bomLen: s.bomLen, Lines: s.Lines[:lines], ascii: s.ascii}
}

// Block returns the lines of a span as a text. Up to indent spaces are removed from the start of each line: the
// indentation of the fence around them.
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
	return Text{S: b.String(), Pos: s.Pos(part.From + blanks), src: s, form: LiteralForm, indent: int32(indent)}
}

// Between returns the text of a span.
func (s *Source) Between(part Span) string { return string(s.Text[part.From:part.To]) }

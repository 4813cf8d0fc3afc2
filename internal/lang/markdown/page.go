// Package markdown finds the parts of a Markdown page that are not for people: the front matter between two lines of ---,
// and the fenced blocks. What they contain is decoded like any definition (package internal/lang/tool).
package markdown

import (
	"bytes"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// MaxSize is the maximum size of a Markdown tool, in bytes. The cost of parsing deeply nested Markdown grows faster
// than its length.
const MaxSize = 1 << 20

// Fence is a fenced block of a page.
type Fence struct {
	Offset   int             // offset of the opening marks
	Marks    string          // of the opening fence
	Language string          // in lower case; "" = none
	Body     diagnostic.Span // the lines between the fences
	Indent   int             // number of spaces to remove from each line of the body, because the fence is indented
	Closed   bool
}

// Page holds the positions of the front matter and of the rest of a Markdown file.
type Page struct {
	Front    diagnostic.Span // between the lines of ---
	Body     diagnostic.Span // after the front matter
	HasFront bool            // the file begins with a line of ---
	Closed   bool            // the front matter is closed
}

// Split splits a source into front matter and body. If a fence encloses the whole page, it is removed first.
func Split(s *diagnostic.Source) Page {
	var p Page
	whole := unwrapPage(s)
	first, next := s.NextLine(whole.From)
	if strings.TrimRight(s.LineFrom(first), " \t") != "---" {
		return p
	}
	p.HasFront = true
	p.Front, p.Body = diagnostic.Span{From: next, To: whole.To}, diagnostic.Span{From: whole.To, To: whole.To}
	for at := next; at < whole.To && !p.Closed; at = next {
		next = s.LineAfter(at)
		if line := strings.TrimRight(s.LineFrom(at), " \t"); line == "---" || line == "..." {
			p.Front.To, p.Body.From, p.Closed = at, min(next, whole.To), true
		}
	}
	return p
}

// unwrapPage returns the whole source, or the inside of a fence around all of it.
func unwrapPage(s *diagnostic.Source) diagnostic.Span {
	whole := diagnostic.Span{From: 0, To: len(s.Text)}
	first, next := s.NextLine(0)
	open := s.LineFrom(first)
	marks := fenceMarks(open)
	language := strings.ToLower(strings.TrimSpace(open[len(marks):]))
	if marks == "" || language != "markdown" && language != "md" {
		return whole
	}
	last := len(bytes.TrimRight(s.Text, " \t\r\n"))
	end := s.Offset(s.Pos(last).Line, 1)
	if end < next || !closes(marks, s.LineFrom(end)) {
		return whole
	}
	return diagnostic.Span{From: next, To: end}
}

// fenceMarks returns the ``` or ~~~ that a line begins with, or "".
func fenceMarks(line string) string {
	for _, mark := range []string{"`", "~"} {
		if marks := line[:len(line)-len(strings.TrimLeft(line, mark))]; len(marks) >= 3 {
			return marks
		}
	}
	return ""
}

// closes reports whether a line closes the fence that was opened with marks.
func closes(marks, line string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(marks) && strings.Trim(line, marks[:1]) == ""
}

// Fences returns the fenced blocks in a part of a source, also those in lists. Blocks in quotations and comments are
// ignored, and empty blocks without a language.
func Fences(s *diagnostic.Source, part diagnostic.Span) []Fence {
	view := markdownView(s, part)
	var all []Fence
	for _, b := range blocksOf(string(view)) {
		if !b.inQuotes && (b.info != "" || b.bodyEnd > 0) {
			all = append(all, fenceOf(s, b, part.To))
		}
	}
	return all
}

// maxNested is the maximum number of list and quotation marks at the start of a line. Blocks that are nested more
// deeply are ignored: the cost of parsing them grows faster than their length.
const maxNested = 50

// markdownView returns a part of the source for the Markdown parser, at the same offsets. Line breaks become those of
// Markdown, and lines that are nested too deeply become blank.
func markdownView(s *diagnostic.Source, part diagnostic.Span) []byte {
	view := append(bytes.Repeat([]byte{'\n'}, part.From), s.Text[part.From:part.To]...)
	for i, c := range view {
		switch {
		case c == '\r' && i+1 < len(view) && view[i+1] == '\n':
			view[i] = ' '
		case c == '\r':
			view[i] = '\n'
		}
	}
	for line := range bytes.Lines(view[part.From:]) {
		prefix := line[:len(line)-len(bytes.TrimLeft(line, " \t>*+-.)0123456789"))]
		marks := 0
		for _, c := range prefix {
			if strings.IndexByte(">*+-.)", c) >= 0 {
				marks++
			}
		}
		if marks > maxNested {
			copy(line, bytes.Repeat([]byte{' '}, len(bytes.TrimRight(line, "\n"))))
		}
	}
	return view
}

// fenceOf converts a block into a fence with offsets in the source.
func fenceOf(s *diagnostic.Source, b block, end int) Fence {
	f := Fence{Offset: b.line, Marks: b.fence}
	f.Indent = strings.IndexAny(s.LineFrom(f.Offset), "`~")
	f.Offset += f.Indent
	language, _, _ := strings.Cut(b.info, " ")
	f.Language = strings.ToLower(language)
	f.Body.From = s.LineAfter(f.Offset)
	f.Body.To = f.Body.From
	if b.bodyEnd > 0 {
		f.Body.To = min(b.bodyEnd, end)
	}
	f.Closed = f.Body.To < end && closes(f.Marks, s.LineFrom(f.Body.To))
	return f
}

package tool

import (
	"bytes"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// A Markdown tool is a page for people that contains parts for flowrun: the front matter between two lines of ---, and
// fenced blocks. flowrun recognizes a block by its language and by a marker in it, never by the headings around it.
// This file finds these parts. Their contents are decoded like any definition.

// maxPage is the maximum size of a Markdown tool, in bytes. The cost of parsing deeply nested Markdown grows faster
// than its length.
const maxPage = 1 << 20

// fence is a fenced block of a page.
type fence struct {
	offset   int             // offset of the opening marks
	marks    string          // of the opening fence
	language string          // in lower case; "" = none
	body     diagnostic.Span // the lines between the fences
	indent   int             // number of spaces to remove from each line of the body, because the fence is indented
	closed   bool
}

// page holds the positions of the front matter and of the rest of a Markdown file.
type page struct {
	front    diagnostic.Span // between the lines of ---
	body     diagnostic.Span // after the front matter
	hasFront bool            // the file begins with a line of ---
	closed   bool            // the front matter is closed
}

// pageOf splits a source into front matter and body. If a fence encloses the whole page, it is removed first.
func pageOf(s *diagnostic.Source) page {
	var p page
	whole := unwrapPage(s)
	first, next := s.NextLine(whole.From)
	if strings.TrimRight(s.LineFrom(first), " \t") != "---" {
		return p
	}
	p.hasFront = true
	p.front, p.body = diagnostic.Span{From: next, To: whole.To}, diagnostic.Span{From: whole.To, To: whole.To}
	for at := next; at < whole.To && !p.closed; at = next {
		next = s.LineAfter(at)
		if line := strings.TrimRight(s.LineFrom(at), " \t"); line == "---" || line == "..." {
			p.front.To, p.body.From, p.closed = at, min(next, whole.To), true
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

// fences returns the fenced blocks in a part of a source, also those in lists. Blocks in quotations and comments are
// ignored, and empty blocks without a language.
func fences(s *diagnostic.Source, part diagnostic.Span) []fence {
	view := markdownView(s, part)
	var all []fence
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
func fenceOf(s *diagnostic.Source, b block, end int) fence {
	f := fence{offset: b.line, marks: b.fence}
	f.indent = strings.IndexAny(s.LineFrom(f.offset), "`~")
	f.offset += f.indent
	language, _, _ := strings.Cut(b.info, " ")
	f.language = strings.ToLower(language)
	f.body.From = s.LineAfter(f.offset)
	f.body.To = f.body.From
	if b.bodyEnd > 0 {
		f.body.To = min(b.bodyEnd, end)
	}
	f.closed = f.body.To < end && closes(f.marks, s.LineFrom(f.body.To))
	return f
}

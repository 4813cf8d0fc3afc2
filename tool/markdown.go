package tool

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	md "github.com/yuin/goldmark/text"
)

// A Markdown tool is a page for people in which some places are for flowrun: the front
// matter between two lines of ---, and fenced blocks, known by the language behind the
// fence and by a marker in them, never by the headings around them (S0-001 to S0-003).
// This file finds these places; what stands there is read as any definition is.

// maxPage is the largest Markdown tool, in bytes: what nests without end in a page costs
// more than its length.
const maxPage = 1 << 20

// fence is a fenced block of a page.
type fence struct {
	at       int    // where its marks stand
	marks    string // of the opening fence
	language string // in small letters, "" for none
	body     span   // the lines between the fences
	indent   int    // blanks that lines of the body begin with, because the fence does
	closed   bool
}

// page is where the front matter of a Markdown file stands, and where the rest does.
type page struct {
	front    span // between the lines of ---
	body     span // behind them
	hasFront bool // the file begins with a line of ---
	ends     bool // and there is a second one
}

// pageOf cuts a source. A page that stands whole in a fence of its own is taken out of
// it first (S0-003).
func pageOf(s *source) page {
	var p page
	whole := inner(s)
	first, next := s.nextLine(whole.from)
	if strings.TrimRight(s.lineFrom(first), " \t") != "---" {
		return p
	}
	p.hasFront = true
	p.front, p.body = span{next, whole.to}, span{whole.to, whole.to}
	for at := next; at < whole.to && !p.ends; at = next {
		next = s.lineAfter(at)
		if line := strings.TrimRight(s.lineFrom(at), " \t"); line == "---" || line == "..." {
			p.front.to, p.body.from, p.ends = at, min(next, whole.to), true
		}
	}
	return p
}

// inner is the source, without a fence around all of it.
func inner(s *source) span {
	whole := span{0, len(s.text)}
	first, next := s.nextLine(0)
	open := s.lineFrom(first)
	marks := fenceMarks(open)
	language := strings.ToLower(strings.TrimSpace(open[len(marks):]))
	if marks == "" || language != "markdown" && language != "md" {
		return whole
	}
	last := len(bytes.TrimRight(s.text, " \t\r\n"))
	end := s.offset(s.pos(last).Line, 1)
	if end < next || !closes(marks, s.lineFrom(end)) {
		return whole
	}
	return span{next, end}
}

// fenceMarks is the ``` or ~~~ that a line begins with, "" for none.
func fenceMarks(line string) string {
	for _, mark := range []string{"`", "~"} {
		if marks := line[:len(line)-len(strings.TrimLeft(line, mark))]; len(marks) >= 3 {
			return marks
		}
	}
	return ""
}

// closes says whether a line closes the fence that was opened with marks.
func closes(marks, line string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(marks) && strings.Trim(line, marks[:1]) == ""
}

// blocks finds blocks alone: what stands in a line is none of our business.
var blocks = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
})

// fences are the fenced blocks of a part of a source, those in lists too. What is quoted
// or commented out is not looked at.
func fences(s *source, part span) []fence {
	view := s.markdown(part)
	var all []fence
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			switch c := c.(type) {
			case *ast.FencedCodeBlock:
				if c.Info != nil || c.Lines().Len() > 0 {
					all = append(all, fenceOf(s, c, view, part.to))
				}
			case *ast.List, *ast.ListItem:
				visit(c)
			}
		}
	}
	visit(blocks().Parse(md.NewReader(view)))
	return all
}

// mostNested is how many marks of lists and quotations a line may begin with. What nests
// deeper is no block of ours, and would cost more than its length.
const mostNested = 50

// markdown is a part of the source, in its place, as Markdown is read: line breaks are
// those of Markdown, and lines that nest too deep are blank.
func (s *source) markdown(part span) []byte {
	view := append(bytes.Repeat([]byte{'\n'}, part.from), s.text[part.from:part.to]...)
	for i, c := range view {
		switch {
		case c == '\r' && i+1 < len(view) && view[i+1] == '\n':
			view[i] = ' '
		case c == '\r':
			view[i] = '\n'
		}
	}
	for line := range bytes.Lines(view[part.from:]) {
		prefix := line[:len(line)-len(bytes.TrimLeft(line, " \t>*+-.)0123456789"))]
		marks := 0
		for _, c := range prefix {
			if strings.IndexByte(">*+-.)", c) >= 0 {
				marks++
			}
		}
		if marks > mostNested {
			copy(line, bytes.Repeat([]byte{' '}, len(bytes.TrimRight(line, "\n"))))
		}
	}
	return view
}

// fenceOf is a block as it stands in the source.
func fenceOf(s *source, n *ast.FencedCodeBlock, view []byte, end int) fence {
	var f fence
	if n.Info != nil {
		f.at = n.Info.Segment.Start
	} else { // the line before its first
		f.at = max(0, bytes.LastIndexByte(view[:n.Lines().At(0).Start], '\n'))
	}
	f.at = bytes.LastIndexByte(view[:f.at], '\n') + 1
	line := s.lineFrom(f.at)
	f.indent = strings.IndexAny(line, "`~")
	f.at += max(f.indent, 0)
	f.marks = fenceMarks(s.lineFrom(f.at))
	f.language = strings.ToLower(string(n.Language(view)))
	f.body.from = s.lineAfter(f.at)
	f.body.to = f.body.from
	if lines := n.Lines(); lines.Len() > 0 {
		f.body.to = min(lines.At(lines.Len()-1).Stop, end)
	}
	f.closed = f.marks != "" && f.body.to < end && closes(f.marks, s.lineFrom(f.body.to))
	return f
}

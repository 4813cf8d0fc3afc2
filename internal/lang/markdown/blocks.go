package markdown

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file finds the fenced blocks of Markdown: the part of CommonMark that says where blocks begin and end. Inline
// Markdown and the content of other blocks do not matter for that.

// block is a fenced block.
type block struct {
	line     int    // offset of the line of the opening fence
	info     string // the words after the opening fence
	bodyEnd  int    // offset after the last line of the body; 0 if there is none
	fence    string // the opening marks
	inQuotes bool
}

// container is an open list item or quotation.
type container struct {
	quote bool
	width int  // columns that the lines of an item are indented by
	empty bool // nothing follows the mark of the item, so far
}

// leaf is the kind of block that the last line belongs to, if it affects the next one.
type leaf int

const (
	noLeaf leaf = iota
	paragraph
	fencedCode
	htmlBlock
)

// scanner finds blocks, line by line.
type scanner struct {
	open    []container
	leaf    leaf
	htmlEnd *regexp.Regexp // of an HTML block; nil: it ends with a blank line
	found   []block
}

// blocksOf returns the fenced blocks of a text with \n as line breaks.
func blocksOf(text string) []block {
	var s scanner
	at := 0
	for line := range strings.Lines(text) {
		s.line(&cursor{line: line}, at)
		at += len(line)
	}
	return s.found
}

func (s *scanner) line(c *cursor, at int) {
	matched := s.match(c)
	all := matched == len(s.open)
	switch {
	case s.leaf == fencedCode && all:
		s.codeLine(c, at)
		return
	case s.leaf == htmlBlock && all:
		s.htmlLine(c)
		return
	case s.leaf == fencedCode || s.leaf == htmlBlock:
		s.close(matched)
	}
	for s.start(c, at, &matched) {
	}
}

// match consumes the marks and the indentation of open containers. It returns how many the line belongs to.
func (s *scanner) match(c *cursor) int {
	for i, k := range s.open {
		switch {
		case k.quote && (c.indent(4) > 3 || !strings.HasPrefix(c.rest(), ">")):
			return i
		case k.quote:
			c.quoteMark()
		case c.blank():
			if k.empty {
				return i
			}
		case c.indent(k.width) < k.width:
			return i
		default:
			c.skip(k.width)
		}
	}
	return len(s.open)
}

// codeLine adds a line to a fenced block, or closes it.
func (s *scanner) codeLine(c *cursor, at int) {
	b := &s.found[len(s.found)-1]
	if c.indent(4) < 4 && closesExactly(b.fence, c.rest()) {
		s.leaf = noLeaf
		return
	}
	b.bodyEnd = at + len(c.line)
}

// closesExactly reports whether a line closes the fence that was opened with marks.
func closesExactly(marks, line string) bool {
	line = strings.TrimRight(line, spaces)
	return len(line) >= len(marks) && strings.Trim(line, marks[:1]) == ""
}

func (s *scanner) htmlLine(c *cursor) {
	if s.htmlEnd == nil && c.blank() || s.htmlEnd != nil && s.htmlEnd.MatchString(c.rest()) {
		s.leaf = noLeaf
	}
}

// close closes containers, and what is in them, until n are left.
func (s *scanner) close(n int) {
	s.open, s.leaf = s.open[:n], noLeaf
	if n > 0 {
		s.open[n-1].empty = false
	}
}

// start begins the next block of a line. It reports whether the line may contain another one.
func (s *scanner) start(c *cursor, at int, matched *int) bool {
	text := c.rest()
	continues := s.leaf == paragraph && *matched == len(s.open)
	switch {
	case c.blank():
		empty := *matched == len(s.open) && *matched > 0 && s.open[*matched-1].empty
		s.close(*matched)
		if empty {
			s.open[*matched-1].empty = true
		}
	case c.indent(4) > 3:
		if s.leaf != paragraph { // indented code
			s.close(*matched)
		}
	case text[0] == '>':
		s.close(*matched)
		c.quoteMark()
		s.push(container{quote: true}, matched)
		return true
	case s.startCode(text, at, *matched), s.startHTML(text, *matched):
	case continues && isUnderline(text), isHeading(text), isBreak(text):
		s.close(*matched)
	case s.startItem(c, text, continues, matched):
		return true
	case s.leaf != paragraph || *matched == len(s.open): // otherwise the line continues the paragraph of an inner container
		s.close(*matched)
		s.leaf = paragraph
	}
	return false
}

func (s *scanner) push(k container, matched *int) {
	s.open = append(s.open, k)
	*matched++
}

func (s *scanner) startCode(text string, at, matched int) bool {
	marks := fenceMarks(text)
	info := strings.Trim(text[len(marks):], spaces)
	if marks == "" || marks[0] == '`' && strings.Contains(info, "`") {
		return false
	}
	s.close(matched)
	s.leaf = fencedCode
	s.found = append(s.found, block{line: at, info: info, fence: marks,
		inQuotes: slices.ContainsFunc(s.open, func(k container) bool { return k.quote })})
	return true
}

// html holds the expressions for HTML blocks.
type html struct {
	begin, end []*regexp.Regexp // of scripts, comments, instructions, declarations and CDATA
	tag        *regexp.Regexp   // an HTML element
	alone      *regexp.Regexp   // a complete tag, and nothing after it
}

var htmlBlocks = sync.OnceValue(func() *html {
	const attribute = `(?:[ \t]+[a-zA-Z_:][a-zA-Z0-9_.:-]*(?:[ \t]*=[ \t]*(?:[^\s"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)`
	var h html
	for _, pair := range [][2]string{{`(?i)^<(?:script|pre|style|textarea)(?:\s|>|$)`, `(?i)</(?:script|pre|style|textarea)>`},
		{`^<!--`, `-->`}, {`^<\?`, `\?>`}, {`^<![A-Za-z]`, `>`}, {`^<!\[CDATA\[`, `\]\]>`}} {
		h.begin, h.end = append(h.begin, regexp.MustCompile(pair[0])), append(h.end, regexp.MustCompile(pair[1]))
	}
	h.tag = regexp.MustCompile(`(?i)^</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:\s|/?>|$)`)
	h.alone = regexp.MustCompile(`^(?:<([a-zA-Z][a-zA-Z0-9-]*)` + attribute + `* */?>|</([a-zA-Z][a-zA-Z0-9-]*) *>) *\n?$`)
	return &h
})

func (s *scanner) startHTML(text string, matched int) bool {
	if text[0] != '<' {
		return false
	}
	h := htmlBlocks()
	i := slices.IndexFunc(h.begin, func(r *regexp.Regexp) bool { return r.MatchString(text) })
	if i < 0 && !h.tag.MatchString(text) && (s.leaf == paragraph || !h.isAlone(text)) {
		return false
	}
	s.close(matched)
	s.leaf, s.htmlEnd = htmlBlock, nil
	if i >= 0 {
		if s.htmlEnd = h.end[i]; s.htmlEnd.MatchString(text) {
			s.leaf = noLeaf
		}
	}
	return true
}

// isAlone reports whether a line is a tag that begins a block. A script that only ends does not.
func (h *html) isAlone(text string) bool {
	m := h.alone.FindStringSubmatch(text)
	return m != nil && !slices.Contains([]string{"script", "style", "pre"}, strings.ToLower(m[1]+m[2]))
}

// startItem begins a list item. continues says that the line could continue a paragraph: then a number must be 1, and
// text must follow.
func (s *scanner) startItem(c *cursor, text string, continues bool, matched *int) bool {
	n := itemMark(text)
	after := strings.TrimLeft(text[n:], spaces)
	if n == 0 || len(text) > n && text[n] > ' ' || continues && (after == "" || n > 1 && strings.TrimLeft(text[:n-1], "0") != "1") {
		return false
	}
	s.close(*matched)
	indent := c.indent(4)
	c.skip(indent)
	c.take(n)
	width := c.indent(5)
	if width == 0 || width > 4 || after == "" {
		width = 1
	}
	c.skip(min(width, c.indent(width)))
	s.push(container{width: indent + n + width, empty: after == ""}, matched)
	return true
}

// itemMark returns the length of the mark of a list item: -, *, +, 1. or 1).
func itemMark(text string) int {
	if strings.IndexByte("-*+", text[0]) >= 0 {
		return 1
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if digits == 0 || digits > 9 || digits == len(text) || text[digits] != '.' && text[digits] != ')' {
		return 0
	}
	return digits + 1
}

func isUnderline(text string) bool {
	text = strings.TrimRight(text, spaces)
	return strings.Trim(text, "=") == "" || strings.Trim(text, "-") == ""
}

func isHeading(text string) bool {
	rest := strings.TrimLeft(text, "#")
	n := len(text) - len(rest)
	return 1 <= n && n <= 6 && (rest == "" || rest[0] <= ' ')
}

// isBreak reports whether a line is a thematic break: three or more of the same mark.
func isBreak(text string) bool {
	marks := strings.NewReplacer(" ", "", "\t", "").Replace(strings.TrimRight(text, "\r\n"))
	return len(marks) >= 3 && strings.IndexByte("-*_", marks[0]) >= 0 && strings.Trim(marks, marks[:1]) == ""
}

// spaces are the characters that a blank line may have.
const spaces = " \t\n\r"

// cursor is a place in a line. A tab ends at the next multiple of four columns, and may be consumed in part.
type cursor struct {
	line   string
	at     int // offset in line
	column int
	part   int // columns left of a tab before at
	next   int // offset of the next character that is not a space or a tab, if it is not before at
}

// rest returns the line from its next character that is not a space or a tab.
func (c *cursor) rest() string {
	for c.next = max(c.next, c.at); c.next < len(c.line) && (c.line[c.next] == ' ' || c.line[c.next] == '\t'); c.next++ {
	}
	return c.line[c.next:]
}

func (c *cursor) blank() bool { return strings.Trim(c.rest(), spaces) == "" }

// indent returns how many columns of space come next. It stops to count at enough.
func (c *cursor) indent(enough int) int {
	column := c.column + c.part
	for i := c.at; i < len(c.line) && column-c.column < enough; i++ {
		switch c.line[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return column - c.column
		}
	}
	return column - c.column
}

// skip consumes columns of space.
func (c *cursor) skip(columns int) {
	for ; columns > 0; columns-- {
		if c.part == 0 && c.line[c.at] == '\t' {
			c.part = 4 - c.column%4
			c.at++
		}
		if c.part > 0 {
			c.part--
		} else {
			c.at++
		}
		c.column++
	}
}

// take consumes characters of one column each.
func (c *cursor) take(n int) {
	c.at += n
	c.column += n
}

// quoteMark consumes the mark of a quotation and one column of space after it.
func (c *cursor) quoteMark() {
	c.skip(c.indent(4))
	c.take(1)
	c.skip(min(1, c.indent(1)))
}

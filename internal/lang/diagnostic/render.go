package diagnostic

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns text from a file for use in a message: in quotes, with control characters escaped, and shortened to
// less than a line.
func Quote(s string) string { return `"` + Printable(s) + `"` }

// Style specifies what a terminal can show. The zero Style is plain text.
type Style struct {
	Color bool // ANSI colors; no information depends on color alone
	Links bool // positions link to their files (OSC 8)
}

// Render writes diagnostics for people: message, position, the line with a caret, related places, the hint, and where
// to read more. file returns the contents of a file named in d, or nil if they are not available; then the line is
// omitted.
//
// Text from the file is escaped: control characters and characters that change the writing direction appear as escapes,
// so that a file cannot control the terminal.
func Render(w io.Writer, d Diagnostics, file func(name string) []byte, style Style) {
	r := renderer{w: bufio.NewWriter(w), Style: style, read: file, sources: map[string]*Source{}, explained: map[string]bool{}}
	for i, one := range d {
		if i > 0 {
			r.print("\n")
		}
		r.diagnostic(one)
	}
	r.w.Flush()
}

type renderer struct {
	Style
	w         *bufio.Writer
	read      func(string) []byte
	sources   map[string]*Source
	explained map[string]bool // codes whose explanation page was already mentioned
}

// print writes to the buffer, which keeps an error until Flush. The error is ignored: it could only be reported to the
// same writer.
func (r *renderer) print(format string, args ...any) { fmt.Fprintf(r.w, format, args...) }

const (
	bold   = "1"
	red    = "1;31"
	yellow = "1;33"
	blue   = "1;34"
)

func (r *renderer) paint(style, s string) string {
	if !r.Color {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

func severityStyle(s Severity) string {
	switch s {
	case Error:
		return red
	case Warning:
		return yellow
	}
	return blue
}

func (r *renderer) diagnostic(d Diagnostic) {
	style := severityStyle(d.Severity)
	r.print("%s: %s\n", r.paint(style, fmt.Sprintf("%s[%s]", d.Severity, d.Code)), r.paint(bold, printableAll(d.Message)))
	gutter := strings.Repeat(" ", len(fmt.Sprint(lastLine(d))))
	r.place(gutter, "┌─", d.Pos, "")
	r.snippet(d.Pos, d.Len, gutter, style, "^")
	for _, p := range d.Related {
		r.place(gutter, "├─", p.Pos, p.Message)
		r.snippet(p.Pos, p.Len, gutter, blue, "-")
	}
	r.note(gutter, "help", d.Hint)
	r.note(gutter, "fix", r.fixNote(d))
	if !r.explained[d.Code] {
		r.explained[d.Code] = true
		r.note(gutter, "docs", "flowrun explain "+d.Code)
	}
}

// lastLine returns the highest line number that is shown.
func lastLine(d Diagnostic) int {
	n := d.Pos.Line
	for _, p := range d.Related {
		n = max(n, p.Pos.Line)
	}
	return n
}

// place writes the line with the position of a snippet.
func (r *renderer) place(gutter, corner string, at Pos, message string) {
	place := at.String()
	if place == "" {
		return
	}
	if message != "" {
		message = ": " + printableAll(message)
	}
	r.print("%s %s %s%s\n", gutter, r.paint(blue, corner), r.link(at.File, printableAll(place)), message)
}

// link turns words into a link to a file, if the terminal supports links.
func (r *renderer) link(file, words string) string {
	path, err := filepath.Abs(file)
	if !r.Links || file == "" || err != nil {
		return words
	}
	target := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")} // on Windows, C:/ has no leading slash
	return "\x1b]8;;" + target.String() + "\x1b\\" + words + "\x1b]8;;\x1b\\"
}

// note writes a line below the snippet, after '='.
func (r *renderer) note(gutter, label, text string) {
	if text == "" {
		return
	}
	for i, line := range strings.Split(text, "\n") {
		mark := "= " + label + ":"
		if i > 0 {
			mark = strings.Repeat(" ", len(mark))
		}
		r.print("%s %s %s\n", gutter, r.paint(blue, mark), printableAll(line))
	}
}

// fixNote describes what validate --fix would do to the line.
func (r *renderer) fixNote(d Diagnostic) string {
	const how = "flowrun validate --fix applies this"
	s := r.source(d.Pos.File)
	if s == nil || len(d.Fix) == 0 {
		return ""
	}
	if len(d.Fix) == 1 {
		if line, ok := s.lineAfterEdit(d.Fix[0]); ok {
			return line + "   (" + how + ")"
		}
	}
	return how
}

// lineAfterEdit returns the line that results from an edit, if the edit stays within one short line.
func (s *Source) lineAfterEdit(e Edit) (string, bool) {
	from, to := e.From-s.bomLen, e.To-s.bomLen
	if from < 0 || to > len(s.Text) || strings.ContainsAny(e.Text, "\r\n") {
		return "", false
	}
	first, last := s.Pos(from).Line, s.Pos(to).Line
	start := s.Lines[first-1]
	end := start + len(s.Line(first))
	if first != last || to > end {
		return "", false
	}
	line := strings.TrimSpace(string(s.Text[start:from]) + e.Text + string(s.Text[to:end]))
	return line, line != "" && len(line) <= 100
}

// snippet writes the line of a position, and the line before it for context.
func (r *renderer) snippet(at Pos, length int, gutter, style, caret string) {
	s := r.source(at.File)
	if s == nil || at.Line < 1 || at.Line > len(s.Lines) {
		return
	}
	bar := r.paint(blue, "│")
	r.print("%s %s\n", gutter, bar)
	from, pad, carets := window(s.Line(at.Line), at.Col, max(1, length))
	if before := s.Line(at.Line - 1); len(before) > 0 && from == 0 {
		r.line(gutter, at.Line-1, cells(before, 0))
	}
	r.line(gutter, at.Line, cells(s.Line(at.Line), from))
	r.print("%s %s %s%s\n", gutter, bar, strings.Repeat(" ", pad), r.paint(style, strings.Repeat(caret, carets)))
}

// line writes one line of the file, without spaces at its end.
func (r *renderer) line(gutter string, number int, shown string) {
	if shown != "" {
		shown = " " + shown
	}
	r.print("%*d %s%s\n", len(gutter), number, r.paint(blue, "│"), shown)
}

func (r *renderer) source(file string) *Source {
	if s, ok := r.sources[file]; ok {
		return s
	}
	var s *Source
	if r.read != nil {
		if text := r.read(file); text != nil {
			s = NewSource(file, text)
		}
	}
	r.sources[file] = s
	return s
}

// maxCells is the maximum width of a shown line. Of a longer line, the part around the caret is shown.
const maxCells = 120

// window selects the part of a line to show. It returns the first character of that part, and the offset and number of
// the carets below it, in terminal cells.
func window(line []byte, col, length int) (from, pad, carets int) {
	runes := []rune(string(line[:min(len(line), prefixLen(line, col+maxCells))]))
	at := min(max(col-1, 0), len(runes))
	for _, c := range runes[:at] {
		pad += cellWidth(c)
	}
	for pad > maxCells*2/3 && from < at {
		pad -= cellWidth(runes[from])
		from++
	}
	if from > 0 {
		pad++ // for the ellipsis
	}
	for _, c := range runes[at:min(at+length, len(runes))] {
		carets += cellWidth(c)
	}
	return from, pad, min(max(carets, 1), max(maxCells-pad, 1))
}

// prefixLen returns the length in bytes of the first n characters of a line.
func prefixLen(line []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(line); n-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at
}

// cells formats a line from character number from on, at most maxCells wide.
func cells(line []byte, from int) string {
	var b strings.Builder
	width := 0
	line = line[prefixLen(line, from):]
	if from > 0 {
		b.WriteString("…")
		width++
	}
	for len(line) > 0 {
		c, size := utf8.DecodeRune(line)
		if width+cellWidth(c) > maxCells {
			b.WriteString("…")
			return b.String()
		}
		b.WriteString(escapeRune(c))
		width += cellWidth(c)
		line = line[size:]
	}
	return strings.TrimRight(b.String(), " ")
}

// escapeRune returns a character as it is shown: a tab as four spaces, and characters that are invisible or move the
// cursor as escapes.
func escapeRune(c rune) string {
	switch {
	case c == '\t':
		return "    "
	case c < ' ' || c == 0x7F:
		return fmt.Sprintf(`\x%02x`, c)
	case c == utf8.RuneError:
		return "�"
	case unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
		return fmt.Sprintf(`\u{%x}`, c)
	}
	return string(c)
}

// cellWidth returns the number of terminal cells of drawn(c).
func cellWidth(c rune) int {
	if s := escapeRune(c); len(s) > 1 && s != string(c) {
		return len(s)
	}
	switch {
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case isWide(c):
		return 2
	}
	return 1
}

// isWide reports whether terminals show a character in two cells.
func isWide(c rune) bool {
	if c < 0x1100 {
		return false
	}
	for _, r := range [...][2]rune{
		{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xA960, 0xA97C}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
		{0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD},
	} {
		if r[0] <= c && c <= r[1] {
			return true
		}
	}
	return false
}

// printableAll escapes the unsafe characters in text.
func printableAll(s string) string {
	var b strings.Builder
	for _, c := range s {
		b.WriteString(escapeRune(c))
	}
	return b.String()
}

// Printable returns text from a file for use in a message: escaped, and shortened to less than a line.
func Printable(s string) string {
	const maxLen = 60
	if cut := prefixLen([]byte(s[:min(len(s), 4*maxLen)]), maxLen); cut < len(s) {
		s = s[:cut] + "…"
	}
	var b strings.Builder
	for _, c := range s {
		switch c {
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		default:
			b.WriteString(escapeRune(c))
		}
	}
	return b.String()
}

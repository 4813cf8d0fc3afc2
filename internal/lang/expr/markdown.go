package expr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Markdown tools write references differently: a string that is only input.url, or placeholders in
// two braces, "{{preprocess.query}}". Both become the same Ref as in YAML tools, for the same
// Scope.

// bareRoots are the words that, followed by a path, make a whole string a reference. Every other
// root has to be written in {{...}}.
var bareRoots = []string{"input", "prev_step", "output", "preprocess"}

// ParseMarkdown parses a text of a Markdown tool. A text that is exactly one reference keeps the
// type of the value. References in a longer text are replaced by their text. A backslash before
// a reference makes it text.
//
// names is asked for the words input, preprocess, prev_step and output as for any other root
// (see Symbol.As).
func ParseMarkdown(src string, names MarkdownNames) (*Template, []Problem) {
	s := &markdownScanner{src: src, names: names}
	if !s.bareReference() {
		s.placeholders()
	}
	t := &Template{pieces: s.pieces, script: s.pieces, markdown: true}
	t.static = !slices.ContainsFunc(s.pieces, func(p piece) bool { return p.placeholder != nil })
	return t, s.problems
}

// MarkdownNames resolves the names of a Markdown tool.
type MarkdownNames interface {
	Names
	// Property reports whether {{name}} means {{input.name}}. alone is set if no path follows
	// the name. With a path, it is called only if Symbol does not know the name.
	Property(name string, alone bool) bool
}

// markdownScanner splits a text of a Markdown tool into text and placeholders.
type markdownScanner struct {
	src      string
	names    MarkdownNames
	pieces   []piece
	problems []Problem
}

// bareReference reads a text that is one reference, or one with a backslash before it, and reports
// whether it is.
func (s *markdownScanner) bareReference() bool {
	text, escaped := strings.CutPrefix(s.src, `\`)
	r, ok := readReference(text)
	if !ok && !escaped {
		s.malformedBare()
	}
	if !ok || len(r.path) == 0 || !slices.Contains(bareRoots, r.path[0].Field) || len(r.path) == 1 {
		return false
	}
	if escaped {
		s.pieces = []piece{{text: text}}
		return true
	}
	s.placeholder(r, 0, len(s.src), 0)
	return true
}

// placeholders reads the text and every {{...}} in it.
func (s *markdownScanner) placeholders() {
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			s.pieces = append(s.pieces, piece{text: text.String()})
			text.Reset()
		}
	}
	rest := 0
	for {
		open := strings.Index(s.src[rest:], "{{")
		if open < 0 {
			break
		}
		open += rest
		end := strings.Index(s.src[open:min(len(s.src), open+maxPlaceholder)], "}}")
		if end < 0 {
			s.unclosed(open)
			text.WriteString(s.src[rest : open+2])
			rest = open + 2
			continue
		}
		end += open + 2
		inner := s.src[open+2 : end-2]
		r, ok := readReference(strings.TrimSpace(inner))
		switch {
		case ok && open > rest && s.src[open-1] == '\\':
			text.WriteString(s.src[rest:open-1] + s.src[open:end])
		case ok:
			text.WriteString(s.src[rest:open])
			flush()
			s.placeholder(r, open, end-open, open+2+strings.Index(inner, strings.TrimSpace(inner)))
		default:
			s.malformed(open, end)
			text.WriteString(s.src[rest:end])
		}
		rest = end
	}
	text.WriteString(s.src[rest:])
	flush()
}

// malformed reports the braces from open to end, which are no reference: it is an error if they begin with a known name.
func (s *markdownScanner) malformed(open, end int) {
	written := s.src[open:end]
	root := strings.TrimSpace(written[2:])
	root = root[:wordLen(root)]
	p := problemf(CodeUndeclared, open, end-open, `write a name and a path, as in {{input.list[0]["a key"]}}`, "%s is not a reference, so it is kept as text", written)
	p.Warning = true
	known, ok := s.names.(Speller)
	switch {
	case ok && known.IsText(root):
		return
	case slices.Contains(bareRoots, root), s.names.Symbol(root).Class != Unknown:
		p = problemf(codeMalformed, open, end-open, "write a name and a path, as in {{input.list[0][\"a key\"]}}; if the braces are text, add "+root+" to x-allow",
			"%s begins with the name %s, but is not a reference", written, root)
	}
	s.problems = append(s.problems, p)
}

// malformedBare reports a text that is one word, and begins as a reference without braces does: input.list[index].
func (s *markdownScanner) malformedBare() {
	root := s.src[:wordLen(s.src)]
	rest := s.src[len(root):]
	if !slices.Contains(bareRoots, root) || !strings.HasPrefix(rest, ".") || !strings.Contains(rest, "[") || strings.ContainsFunc(rest, unicode.IsSpace) {
		return
	}
	s.problems = append(s.problems, problemf(codeMalformed, 0, len(s.src), `write a path, as in input.list[0]["a key"]; if it is meant as text, add !literal before it`,
		"%s begins with the name %s, but is not a reference", s.src, root))
}

// unclosed warns of a {{ with a reference after it but no }}. It stays as text.
func (s *markdownScanner) unclosed(open int) {
	inner, _, _ := strings.Cut(s.src[open+2:min(len(s.src), open+maxPlaceholder)], "}")
	name := strings.TrimSpace(inner)
	if _, ok := readReference(name); !ok || open > 0 && s.src[open-1] == '\\' {
		return
	}
	p := problemf(CodeUndeclared, open, 2, "write {{"+name+"}}", "{{ has no matching }}, so {{%s is kept as text", name)
	p.Warning = true
	s.problems = append(s.problems, p)
}

// placeholder adds a reference of n bytes at off. Its root begins at at.
func (s *markdownScanner) placeholder(r markdownRef, off, n, at int) {
	ref, p := r.withoutOutputs(s.names).resolve(s.names)
	ref.Off, ref.Len = off, n
	if p != nil {
		p.Off, p.Len = at, r.rootLen()
		s.problems = append(s.problems, *p)
	}
	s.pieces = append(s.pieces, piece{placeholder: &placeholder{off: off, len: n, ref: ref}})
}

// markdownRef is a reference as it is written: a path whose first segments are the root.
type markdownRef struct{ path []Segment }

func (w markdownRef) rootLen() int { return len(w.path[0].Field) }

// readReference parses a whole text as a name with a path after it.
func readReference(s string) (markdownRef, bool) {
	n := wordLen(s)
	if n == 0 || s[0] == '-' || isDigit(s[0]) {
		return markdownRef{}, false
	}
	path := []Segment{{Field: s[:n]}}
	for s = s[n:]; s != ""; {
		seg, n := readSegment(s)
		if n == 0 {
			return markdownRef{}, false
		}
		path, s = append(path, seg), s[n:]
	}
	return markdownRef{path}, true
}

// wordLen returns how many bytes at the start of s are a word of a path: letters and digits of
// any script, and _ $ -.
func wordLen(s string) int {
	for i, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) && !strings.ContainsRune("_$-", c) || c == utf8.RuneError {
			return i
		}
	}
	return len(s)
}

// readSegment reads .word, [0], ["a key"] or ['a key'] at the start of s. n is 0 if there is none.
func readSegment(s string) (seg Segment, n int) {
	switch {
	case s[0] == '.':
		n = wordLen(s[1:])
		if n == 0 {
			return Segment{}, 0
		}
		return Segment{Field: s[1 : 1+n]}, 1 + n
	case strings.HasPrefix(s, `["`), strings.HasPrefix(s, `['`):
		return readKey(s)
	case s[0] == '[':
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return Segment{}, 0
		}
		i, err := strconv.ParseUint(s[1:end], 10, 31)
		if err != nil || s[1:end] != strconv.FormatUint(i, 10) {
			return Segment{}, 0
		}
		return Segment{Index: int(i), IsIndex: true}, end + 1
	}
	return Segment{}, 0
}

// readKey reads ["..."], a JSON string, or ['...'], which has no escapes.
func readKey(s string) (Segment, int) {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[1] == '"':
			i++
		case s[i] != s[1]:
		case !strings.HasPrefix(s[i:], s[1:2]+"]"):
			return Segment{}, 0
		default:
			key := s[2:i]
			if s[1] == '"' && json.Unmarshal([]byte(s[1:i+1]), &key) != nil {
				return Segment{}, 0
			}
			return Segment{Field: key}, i + 2
		}
	}
	return Segment{}, 0
}

// resolve finds what the reference means.
func (w markdownRef) resolve(names MarkdownNames) (Ref, *Problem) {
	first, alone := w.path[0].Field, len(w.path) == 1
	ref, p, known := w.find(names)
	if (alone || !known) && names.Property(first, alone) {
		ref, p, known = markdownRef{append([]Segment{{Field: "input"}}, w.path...)}.find(names)
	}
	if !known {
		ref = Ref{Root: first, Path: w.path[1:]}
		unknown := problemf(CodeUnknown, 0, 0, `to keep it as text, put a backslash before it, or write !literal "`+w.String()+`"`, "unknown name %q", ref.Root)
		p = &unknown
	}
	ref.markdown = w.String()
	return ref, p
}

// find finds the root of the reference: the longest name that names knows, because names of steps
// may contain dots.
func (w markdownRef) find(names Names) (ref Ref, p *Problem, known bool) {
	words := 1
	for words < len(w.path) && !w.path[words].IsIndex {
		words++
	}
	for n := words; n > 0; n-- {
		id := rootOf(w.path[:n])
		sym := names.Symbol(id)
		if sym.Class == Unknown {
			continue
		}
		ref := Ref{Class: sym.Class, Root: id, Path: w.path[n:], kind: kindAny}
		if sym.As != "" {
			ref.Root = sym.As
		}
		return ref, ref.checkMarkdownPath(id, sym.Type), true
	}
	return Ref{}, nil, false
}

// String returns the reference as it is written.
func (w markdownRef) String() string { return w.path[0].Field + pathText(w.path[1:]) }

func rootOf(path []Segment) string {
	names := make([]string, len(path))
	for i, seg := range path {
		names[i] = seg.Field
	}
	return strings.Join(names, ".")
}

// checkMarkdownPath checks the path after the root, which was written as word. It converts the
// path into the result of a step to the form that scopes know.
func (r *Ref) checkMarkdownPath(word, typ string) *Problem {
	switch r.Class {
	case Step:
		return r.checkMarkdownResult(word)
	case Parameter:
		if len(r.Path) > 0 && slices.Contains([]string{"string", "number", "boolean"}, typ) {
			return fieldProblem(r, "write {{"+word+"}}; only arrays and objects have parts", "parameter %q is a %s and has no parts", word, typ)
		}
	case Variable:
		if len(r.Path) > 0 {
			return fieldProblem(r, "write {{"+word+"}}", "%q is text and has no parts", word)
		}
	}
	return nil
}

// checkMarkdownResult converts the path into a step's result: to its value, or to its text as it
// was printed. prev_step has both under a name. Other words may leave out output.
func (r *Ref) checkMarkdownResult(word string) *Problem {
	field, own := "value", word == "input" || word == "preprocess"
	if !own && len(r.Path) > 0 && (r.Path[0].Field == "output" || r.Path[0].Field == "outputText") {
		if r.Path[0].Field == "outputText" {
			field = "output"
		}
		r.Path = r.Path[1:]
	} else if word == "prev_step" {
		return fieldProblem(r, "write prev_step.output, and add a path for a part of it", "prev_step has the parts output and outputText")
	}
	if field == "output" && len(r.Path) > 0 {
		return fieldProblem(r, "write output, which is parsed as JSON if it is an object or a list", "outputText is text and has no parts")
	}
	r.Path = append([]Segment{{Field: field}}, r.Path...)
	return nil
}

// pathText writes a path as Markdown tools write it.
func pathText(path []Segment) string {
	var b strings.Builder
	for _, seg := range path {
		switch {
		case seg.IsIndex:
			fmt.Fprintf(&b, "[%d]", seg.Index)
		case wordLen(seg.Field) == len(seg.Field) && seg.Field != "":
			b.WriteString("." + seg.Field)
		default:
			b.WriteString("[" + valuetext.JSON(seg.Field) + "]")
		}
	}
	return b.String()
}

// markdownText writes a value inside a longer text of a Markdown tool: text as it is, lists and
// objects as compact JSON.
func markdownText(v Value) string {
	if v.Absent {
		return ""
	}
	switch v.V.(type) {
	case nil, []any:
		return valuetext.JSON(v.V)
	}
	return valuetext.Element(v.V)
}

package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Template is text with placeholders, parsed for one Shell. It does not change. Safe for concurrent
// use.
type Template struct {
	shell  Shell
	pieces []piece
	script []piece    // scripts only: the pieces as the shell will read them
	words  []argvWord // Argv only
	static bool

	markdown bool // see ParseMarkdown
}

// ParseTemplate splits src into text and placeholders. For a command or script it also finds out what
// surrounds each placeholder. If there is an error among the problems, the template must not be
// rendered. A script without placeholders is not parsed; SyntaxProblems does that.
func ParseTemplate(src string, sh Shell, names Names) (*Template, []Problem) {
	pieces, problems := scan(src, sh, names)
	t := &Template{shell: sh, pieces: pieces, script: pieces, static: true}
	for _, p := range pieces {
		t.static = t.static && p.placeholder == nil
	}
	switch {
	case sh == Argv:
		words, ps := splitArgv(src, pieces)
		t.words, problems = words, slices.Concat(problems, ps, lintArgv(src, words), lintBackslashes(src, pieces, onWindows))
	case !t.static && sh != Plain:
		problems = append(problems, t.place(src)...)
	}
	return t, problems
}

// Refs returns the references of the template in the order in which they are written, including those
// in conditions and branches.
func (t *Template) Refs() []Ref {
	var refs []Ref
	for _, p := range t.pieces {
		if p.placeholder != nil {
			refs = p.placeholder.refs(refs)
		}
	}
	return refs
}

// Sources returns the references whose values become part of the text. These are all except the
// references in conditions of choices.
func (t *Template) Sources() []Ref {
	var refs []Ref
	for _, p := range t.pieces {
		if p.placeholder != nil {
			refs = p.placeholder.sources(refs)
		}
	}
	return refs
}

// Static reports whether the template has no placeholders.
func (t *Template) Static() bool { return t.static }

// Parts returns the pieces of a Plain template t in their order, each as a template of its own: text without placeholders,
// or exactly one placeholder.
func Parts(t *Template) (parts []*Template) {
	for i, p := range t.pieces {
		parts = append(parts, &Template{shell: t.shell, pieces: t.pieces[i : i+1], static: p.placeholder == nil, markdown: t.markdown})
	}
	return parts
}

// LiteralText returns the text of the template without its placeholders, which are each a space.
func (t *Template) LiteralText() string {
	var b strings.Builder
	for _, p := range t.pieces {
		if p.placeholder != nil {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// Text renders a Plain template. It fails if a reference has no value, or if the text would be too
// large or contain a NUL byte.
func (t *Template) Text(sc Scope) (string, error) {
	return t.EncodedText(sc, func(_, value string) string { return value })
}

// EncodedText is Text that passes each value through encode, with the text before it.
func (t *Template) EncodedText(sc Scope, encode func(before, value string) string) (string, error) {
	var b strings.Builder
	var size valuetext.Total
	for _, p := range t.pieces {
		if p.placeholder == nil {
			b.WriteString(p.text)
			continue
		}
		text, err := t.placeholderText(p.placeholder, sc)
		if err != nil {
			return "", err
		}
		text = encode(b.String(), text)
		if err := size.Add(len(text), "the text"); err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	text := b.String()
	if strings.IndexByte(text, 0) >= 0 {
		return "", errNUL
	}
	return text, nil
}

// AuthorityRefs returns the references of a URL whose values take part in what its host is.
func (t *Template) AuthorityRefs() (refs []Ref) {
	before := ""
	for i, p := range t.pieces {
		switch {
		case p.placeholder == nil:
			before += p.text
		case HasAuthority(before):
		default:
			refs = p.placeholder.sources(refs)
			if before == "" && (i+1 == len(t.pieces) || !strings.HasPrefix(t.pieces[i+1].text, "://")) {
				before = "scheme://" // the value is the beginning of a URL, and not only its scheme
			}
			before += "x"
		}
	}
	return refs
}

// HasAuthority reports whether the beginning of a URL has all of scheme, host and port.
func HasAuthority(beginning string) bool {
	_, rest, ok := strings.Cut(beginning, "://")
	return ok && strings.ContainsAny(rest, "/?#")
}

// placeholderText returns the text that replaces a placeholder.
func (t *Template) placeholderText(ph *placeholder, sc Scope) (string, error) {
	v, _, err := ph.value(sc)
	if err != nil {
		return "", err
	}
	if t.markdown {
		return markdownText(v), nil
	}
	text, err := v.text()
	if err != nil {
		return "", fmt.Errorf("%s: %w", ph.name(), err)
	}
	return text, nil
}

// Value renders a Plain template whose result need not be text. If the template is exactly one
// placeholder, the value keeps its type; transforms are applied, its format is not. An absent value
// is nil.
func (t *Template) Value(sc Scope) (any, error) {
	if len(t.pieces) != 1 || t.pieces[0].placeholder == nil {
		return t.Text(sc)
	}
	v, _, err := t.pieces[0].placeholder.value(sc)
	if err != nil || v.Absent {
		return nil, err
	}
	return v.V, nil
}

// errNUL is returned because the operating system ends every argument and variable at a NUL byte.
var errNUL = errors.New("cannot pass a value with a NUL byte: the operating system would cut it off there; encode it first, as in {X:base64encode}")

func checkNUL(ph *placeholder, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return fmt.Errorf("%s: %w", ph.name(), errNUL)
	}
	return nil
}

// maxLength is the result of Length for anything longer. It prevents an overflow, also where an int has 32 bits.
const maxLength = 1 << 30

// Length returns the minimum length of the text in bytes, if each reference has the length that of
// returns. Choices and transformed references count as empty.
func (t *Template) Length(of func(Ref) int) int {
	n := 0
	for _, p := range t.pieces {
		switch {
		case p.placeholder == nil:
			n += len(p.text)
		case p.placeholder.choice == nil && len(p.placeholder.transforms) == 0:
			n += of(p.placeholder.ref)
		}
		n = min(n, maxLength)
	}
	return n
}

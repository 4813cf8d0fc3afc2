package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// scanner splits a template into text and placeholders, in one pass.
type scanner struct {
	src      string
	shell    Shell
	names    Names
	pieces   []piece
	problems []Problem
	text     strings.Builder // text since the last placeholder
	misspelt int             // length of the last text that is not a reference, although it was meant as one
}

// scan splits src. Braces that are not a reference stay as text.
func scan(src string, sh Shell, names Names) ([]piece, []Problem) {
	if strings.IndexByte(src, '{') < 0 {
		return []piece{{text: src}}, nil
	}
	s := &scanner{src: src, shell: sh, names: names}
	for i := 0; i < len(src); {
		next := strings.IndexByte(src[i:], '{')
		if next < 0 {
			s.text.WriteString(src[i:])
			break
		}
		s.text.WriteString(src[i : i+next])
		i += next
		i += s.brace(i)
	}
	s.flush()
	return s.pieces, s.problems
}

func (s *scanner) flush() {
	if s.text.Len() > 0 {
		s.pieces = append(s.pieces, piece{text: s.text.String()})
		s.text.Reset()
	}
}

// brace reads what starts with the brace at i, and returns how many bytes it read.
func (s *scanner) brace(i int) int {
	if i > 0 && s.src[i-1] == '$' {
		s.text.WriteByte('{')
		return 1
	}
	if n := s.escaped(i); n > 0 {
		s.text.WriteString(s.src[i+1 : i+n-1])
		return n
	}
	reported := len(s.problems)
	ph, n := s.reference(i)
	if n == 0 {
		ph, n = s.ternary(i)
	}
	if n == 0 {
		if len(s.problems) == reported && (i == 0 || s.src[i-1] != '{') {
			s.malformed(i)
		}
		s.text.WriteByte('{')
		return 1
	}
	s.flush()
	s.pieces = append(s.pieces, piece{placeholder: ph})
	return n
}

// escaped reads {{X}}. It is the text {X}, if X could be a reference or misspells one.
func (s *scanner) escaped(i int) int {
	if !strings.HasPrefix(s.src[i:], "{{") {
		return 0
	}
	inner := scanner{src: s.src, shell: s.shell, names: s.names}
	_, n := inner.reference(i + 1)
	if n == 0 && inner.misspelt == 0 {
		inner.malformed(i + 1)
	}
	n = max(n, inner.misspelt)
	if n == 0 || !strings.HasPrefix(s.src[i+1+n:], "}") {
		return 0
	}
	return n + 2
}

// Escape returns the source of a Plain template that renders as text: the braces that would be a reference, or an error,
// are doubled.
func Escape(text string, names Names) string {
	s := &scanner{src: text, names: names}
	var out strings.Builder
	from := 0
	for i := range len(text) {
		if i < from || text[i] != '{' || i > 0 && text[i-1] == '$' {
			continue
		}
		s.misspelt = 0
		_, n := s.reference(i)
		if n == 0 && s.misspelt == 0 {
			s.malformed(i)
		}
		if n = max(n, s.misspelt); n > 0 {
			out.WriteString(text[from:i] + "{" + text[i:i+n] + "}")
			from = i + n
		}
	}
	return out.String() + text[from:]
}

// reference reads {P}, {RAW:P} and {P:transform}. It returns 0 bytes if there is none.
func (s *scanner) reference(i int) (*placeholder, int) {
	body := s.src[i+1:]
	raw := strings.HasPrefix(body, "RAW:")
	if raw {
		body = body[len("RAW:"):]
	}
	n := refLen(body)
	if n == 0 || n == len(body) || n > maxPlaceholder || body[n] != '}' && body[n] != ':' {
		return nil, 0
	}
	end := closing(body, n)
	if end < 0 || body[n] == ':' && !transformShaped(body[n+1:end]) {
		return nil, 0
	}
	ref, typ, ok := resolve(body[:n], s.names)
	ref.Raw, ref.Off, ref.Len = raw, i, len(s.src)-i-len(body)+end+1
	if !ok {
		s.undeclared(body[:n], ref)
		return nil, 0
	}
	ph := &placeholder{off: i, len: ref.Len, ref: ref}
	s.report(checkRef(&ph.ref, typ, s.names))
	if raw && ref.Class != Parameter && ref.Class != Variable {
		s.report(rawProblem(ref))
	}
	if body[n] == ':' {
		ph.transforms = s.transforms(body[n+1:end], i+ref.Len-1-end+n+1)
	}
	return ph, ref.Len
}

// maxPlaceholder is how many bytes are read ahead after a brace. Without the limit, a text of many
// braces would take quadratic time.
const maxPlaceholder = 1000

// closing returns the offset of the brace that ends a reference: the first one on the line outside
// the parentheses of format(...). It returns -1 if there is none.
func closing(s string, from int) int {
	depth := 0
	for i := from; i < min(len(s), maxPlaceholder); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '}':
			if depth <= 0 {
				return i
			}
		case '\n', '{':
			return -1
		}
	}
	return -1
}

// transformShaped reports whether text after a colon could name transforms. {name: .field} could
// not: it is a jq program.
func transformShaped(list string) bool {
	for _, name := range valuetext.SplitTransforms(list) {
		word, pattern, parens := strings.Cut(name, "(")
		if !isName(word) || parens && !strings.HasSuffix(pattern, ")") {
			return false
		}
	}
	return true
}

func (s *scanner) report(p *Problem) {
	if p != nil {
		s.problems = append(s.problems, *p)
	}
}

func rawProblem(ref Ref) *Problem {
	p := problemf(codeRaw, ref.Off, ref.Len, "remove RAW:, and flowrun passes the value safely as data",
		"cannot use RAW with %q: only parameters and predefined variables can be raw", ref.Root)
	return &p
}

// transforms parses "trim:urlencode", which starts at off.
func (s *scanner) transforms(list string, off int) []valuetext.Transform {
	var ts []valuetext.Transform
	for _, name := range valuetext.SplitTransforms(list) {
		t, err := valuetext.NewTransform(name)
		switch {
		case errors.Is(err, valuetext.ErrJavaScript):
			s.problems = append(s.problems, problemf(codeTransform, off, len(name),
				"the transforms are "+valuetext.TransformList, "unknown transform %q", name))
		case err != nil:
			s.problems = append(s.problems, problemf(codeTransform, off, len(name), "", "%v", err))
		}
		ts = append(ts, t)
		off += len(name) + 1
	}
	return ts
}

// undeclared reports text that looks like a reference to something undeclared: an error if it misspells a declared name,
// else a warning if it is an {UPPER_CASE} name or a field of an unknown step.
func (s *scanner) undeclared(text string, ref Ref) {
	path := pathOf(text)
	root := strings.TrimSuffix(text, path)
	known, ok := s.names.(Speller)
	if ok && known.IsText(root) || s.knows(root) { // malformed looks at what follows a known name
		return
	}
	if ok && s.mayMisspell(root) {
		if meant := known.Misspelt(root); len(meant) > 0 {
			s.misspelt = ref.Len
			s.problems = append(s.problems, s.misspelling(root, meant, ref))
			return
		}
	}
	if message, hint := s.keptAsText(text, root, path); message != "" {
		s.problems = append(s.problems, Problem{Code: CodeUndeclared, Off: ref.Off, Len: ref.Len, Message: message, Hint: hint, Warning: true})
	}
}

// keptAsText returns a warning about text that looks like a reference, "" if it does not.
func (s *scanner) keptAsText(text, root, path string) (message, hint string) {
	kept := ", so {" + text + "} is kept as text"
	noStep := fmt.Sprintf("there is no step %q", root) + kept
	inside := s.insideHint(path)
	switch {
	case s.isStepField(path):
		return noStep, "check the name of the step"
	case inside != "":
		return noStep, inside
	case root == "state" && path != "" && s.shell != Python:
		return "the tool keeps no state" + kept, "declare the value: state: {NAME: {type: string}}"
	case s.shell != Python && isPlaceWord(root, path):
		return fmt.Sprintf("{%s} has no meaning here", root) + kept, "if the braces are text, add " + root + " to x-allow"
	case isUpperName(text):
		return fmt.Sprintf("{%s} is not a declared parameter, so it is kept as text", text), "declare it, or leave it unchanged if you want the braces"
	}
	return "", ""
}

// isPlaceWord reports whether a reference begins with a word that has a meaning in some places of a definition: in loops,
// handlers and conditions. Without a path, only those of a loop are probably no other text.
func isPlaceWord(root, path string) bool {
	switch root {
	case "item", "index":
		return true
	case "matrix", "run", "last":
		return path != ""
	}
	return false
}

// isStepField reports whether a path is one into the result of a step: .output or .outputs.NAME. Python has such paths of
// its own in formatted strings, so only whole fields count there.
func (s *scanner) isStepField(path string) bool {
	path = strings.TrimPrefix(path, ".")
	if _, field := stepFields[path]; field || s.shell == Python {
		return field
	}
	first := path[:max(strings.IndexAny(path, ".["), 0)]
	return first == "outputs" || first == "artifacts"
}

// insideHint returns what to write instead of {tool.step.output}, "" if the path of a reference is not of this form.
func (s *scanner) insideHint(path string) string {
	step, field, found := strings.Cut(strings.TrimPrefix(path, "."), ".")
	switch _, known := stepFields[field]; {
	case !found || !known:
		return ""
	case s.names.Symbol(step).Class == Step:
		return "write {" + step + "." + field + "}"
	case s.shell != Python && (field == "output" || field == "stdout" || field == "stderr" || field == "exit-code"):
		return "refer to a step of this tool, as in {STEP.output}; steps of a tool that it uses cannot be referred to"
	}
	return ""
}

// mayMisspell reports whether a name in braces may be a misspelled reference. In Python, a name in lower case may be a
// variable in an f-string.
func (s *scanner) mayMisspell(name string) bool { return s.shell != Python || isUpperName(name) }

// misspelling returns the problem with a reference that misspells one of the meant names.
func (s *scanner) misspelling(root string, meant []string, ref Ref) Problem {
	written := s.src[ref.Off : ref.Off+ref.Len]
	at := len("{")
	if ref.Raw {
		at = len("{RAW:")
	}
	corrected := make([]string, len(meant))
	for i, name := range meant {
		corrected[i] = written[:at] + name + written[at+len(root):]
	}
	return problemf(CodeMisspelt, ref.Off, ref.Len,
		fmt.Sprintf("write %s; if the braces are text, write {%s} or add %s to x-allow", strings.Join(corrected, " or "), written, root),
		"%s is not declared, but %s is", written, strings.Join(meant, " or "))
}

func isUpperName(s string) bool {
	return len(s) > 1 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// ternary reads {cond ? a : b}. It is a placeholder only if the condition mentions a known name
// and both branches are strings or references. Text of an awk or jq program rarely is.
func (s *scanner) ternary(i int) (*placeholder, int) {
	end, question, colon := ternaryMarks(s.src[i:])
	if question < 0 || colon < 0 || end < 0 {
		return nil, 0
	}
	body := s.src[i : i+end]
	cond := body[1:question]
	if !s.mentionsName(cond) {
		return nil, 0
	}
	then, ps1, ok1 := s.branch(body[question+1:colon], i+question+1)
	els, ps2, ok2 := s.branch(body[colon+1:], i+colon+1)
	if !ok1 || !ok2 {
		return nil, 0
	}
	c, problems := parseCondition(cond, s.names, condTernary)
	for _, p := range problems {
		p.Off += i + 1
		s.problems = append(s.problems, p)
	}
	s.problems = append(append(s.problems, ps1...), ps2...)
	for k := range c.refs {
		c.refs[k].Off += i + 1
	}
	return &placeholder{off: i, len: end + 1, choice: &choice{cond: c, then: then, els: els}}, end + 1
}

// ternaryMarks finds the closing brace of a text that starts with a brace, and the first ? and
// the last : outside quotes and inner braces. An offset is -1 if there is none on the line.
func ternaryMarks(s string) (end, question, colon int) {
	question, colon = -1, -1
	depth := 0
	var quote byte
	for i := 0; i < min(len(s), maxPlaceholder); i++ {
		c := s[i]
		switch {
		case c == '\n':
			return -1, -1, -1
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i, question, colon
			}
		case c == '?' && depth == 1 && question < 0:
			question = i
		case c == ':' && depth == 1 && question >= 0 && colon < 0:
			colon = i
		}
	}
	return -1, -1, -1
}

// mentionsName reports whether a condition mentions a known name outside strings, or misspells one.
func (s *scanner) mentionsName(cond string) bool {
	known, spells := s.names.(Speller)
	for _, t := range tokens(cond) {
		if t.kind != tokenName && t.kind != tokenPlaceholder {
			continue
		}
		text := strings.Trim(t.text, "{}")
		if _, _, ok := resolve(text, s.names); ok {
			return true
		}
		root := strings.TrimSuffix(text, pathOf(text))
		if spells && !known.IsText(root) && s.mayMisspell(root) && len(known.Misspelt(root)) > 0 {
			return true
		}
	}
	return false
}

// pathOf returns what follows the root of a reference if the root contains no dot.
func pathOf(text string) string {
	if i := strings.IndexAny(text, ".["); i > 0 {
		return text[i:]
	}
	return ""
}

// branch reads one side of a ternary: 'text', "text", P, {P} or P:transform.
func (s *scanner) branch(src string, off int) (branch, []Problem, bool) {
	text := strings.TrimSpace(src)
	off += strings.Index(src, text)
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && strings.IndexByte(text[1:], text[0]) == n-2 {
		return branch{literal: text[1 : n-1]}, nil, true
	}
	bare := !strings.HasPrefix(text, "{")
	if bare {
		text = "{" + text + "}"
		off--
	}
	inner := scanner{src: text, shell: s.shell, names: s.names}
	ph, n := inner.reference(0)
	for i := range inner.problems {
		inner.problems[i].Off += off
	}
	if bare && inner.misspelt == len(text) {
		p := &inner.problems[0]
		correction, _, _ := strings.Cut(p.Hint, ";")
		p.Off, p.Len, p.Hint = p.Off+1, p.Len-2, correction+"; if it is text, put it in quotes"
	}
	if n != len(text) {
		return branch{}, inner.problems, inner.misspelt == len(text)
	}
	ph.ref.Off += off
	if bare {
		ph.ref.Off++
		ph.ref.Len -= 2
	}
	return branch{isRef: true, ref: ph.ref, transforms: ph.transforms}, inner.problems, true
}

package keytable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// Parse parses the source as one YAML document and returns its top node, or nil if it cannot be read.
//
// If the text is not valid YAML, Parse quotes the values of commands that fail only because they contain ": ", and
// parses it again; d.repaired holds these lines. Other errors are explained by the first trap that scanTraps finds, or
// else by the message of the parser.
func (d *Decoder) Parse() *yaml.Node {
	root, err := ParseOne(d.Src.Text)
	if err != nil && !errors.Is(err, io.EOF) {
		if text := jsonAsYAML(d.Src.Text); text != nil {
			root, err = ParseOne(text)
		}
	}
	var second *secondDocument
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		d.Report(diagnostic.Diagnostic{Code: "empty-file", Severity: diagnostic.Error, Pos: diagnostic.Pos{File: d.Src.File, Line: 1, Col: 1},
			Message: "cannot read the definition: the file is empty", Hint: "a definition needs a name, a description and a command, such as bash: echo hello"})
		return nil
	case errors.As(err, &second):
		d.Report(diagnostic.Diagnostic{Code: "second-document", Severity: diagnostic.Error, Pos: diagnostic.Pos{File: d.Src.File, Line: d.lineOf(second.line), Col: 1}, Len: 3,
			Message: "cannot read the definition: a second YAML document begins here", Hint: "a file contains one tool: remove the '---' line, or move what follows to another file"})
		return root
	default:
		if root = d.repair(); root == nil {
			d.Report(d.explain(err))
		}
	}
	return root
}

// secondDocument is the error for a second document in the text.
type secondDocument struct{ line int }

func (e *secondDocument) Error() string { return "a second document" }

// ParseOne parses text that must contain exactly one document.
func ParseOne(text []byte) (root *yaml.Node, err error) {
	// yaml.v3 converts its own panics to errors. This also catches panics that are bugs in it, so that a file cannot
	// crash the program.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(withKnownVersion(text)))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, io.EOF
	}
	root = doc.Content[0]
	switch err := dec.Decode(&next); {
	case err == nil:
		return root, &secondDocument{next.Line}
	case errors.Is(err, io.EOF):
		return root, nil
	default:
		return nil, err
	}
}

// withKnownVersion returns the text with 1.1 in place of 1.2 in its directive %YAML, because the parser reads both versions
// but refuses that number.
func withKnownVersion(text []byte) []byte {
	const directive = "%YAML 1."
	for at := 0; at < len(text); {
		line, _, _ := bytes.Cut(text[at:], []byte("\n"))
		if number := at + len(directive); bytes.HasPrefix(line, []byte(directive+"2")) {
			return slices.Concat(text[:number], []byte("1"), text[number+1:])
		}
		if content := bytes.TrimSpace(line); len(content) > 0 && content[0] != '#' && line[0] != '%' {
			break
		}
		at += len(line) + 1
	}
	return text
}

// commandKeys are the keys whose value is a command or a long text, which may contain ": " by accident.
var commandKeys = map[string]bool{
	"bash": true, "sh": true, "cmd": true, "pwsh": true, "run": true, "script": true, "fallback": true,
	"default": true, "windows": true, "linux": true, "macos": true, "final-command": true,
}

// repair quotes the traps in commands and parses the source again. It returns nil, and reports nothing, if the text is
// still not valid YAML.
func (d *Decoder) repair() *yaml.Node {
	var quoted []trap
	scanTraps(d.Src, func(t trap) bool {
		if t.code == "colon-in-value" && commandKeys[t.key] && t.valueLine == t.line {
			quoted = append(quoted, t)
		}
		return !strings.HasPrefix(t.code, "unclosed-") // the rest of the file is inside the unclosed value
	})
	if len(quoted) == 0 {
		return nil
	}
	d.repairedText = quoteValues(d.Src, quoted)
	root, err := ParseOne(d.repairedText)
	if err != nil {
		return nil
	}
	d.repaired = make(map[int]bool, len(quoted))
	for _, t := range quoted {
		d.repaired[t.line] = true
		d.Report(diagnostic.Diagnostic{Code: "repaired-scalar", Severity: diagnostic.Warning, Pos: diagnostic.Pos{File: d.Src.File, Line: t.line, Col: t.col}, Len: 1,
			Message: fmt.Sprintf("the value of %q on line %d is not valid YAML, because it contains ': '; flowrun used the rest of the line as text", t.key, t.line),
			Hint:    fmt.Sprintf("write it as a block: '%s: |', and the command indented on the next line", t.key), Fix: asBlock(d.Src, t)})
	}
	return root
}

// ParseRepaired returns the top node and the text that was parsed, in which values of commands may have been quoted.
// The node is nil if the text is not valid YAML. Only repairs are reported.
func (d *Decoder) ParseRepaired() (root *yaml.Node, text []byte) {
	root, err := ParseOne(d.Src.Text)
	if err == nil {
		return root, d.Src.Text
	}
	return d.repair(), d.repairedText
}

// quoteValues returns the text of s with the value of each trap in single quotes. Line numbers stay the same; textOf
// takes the changed columns into account.
func quoteValues(s *diagnostic.Source, traps []trap) []byte {
	var out bytes.Buffer
	from := 0
	for _, t := range traps {
		start := s.Offset(t.line, t.valueCol)
		end := start + len(bytes.TrimRight(s.Text[start:s.Offset(t.line, 1)+len(s.Line(t.line))], " \t"))
		out.Write(s.Text[from:start])
		out.WriteByte('\'')
		out.Write(bytes.ReplaceAll(s.Text[start:end], []byte("'"), []byte("''")))
		out.WriteByte('\'')
		from = end
	}
	out.Write(s.Text[from:])
	return out.Bytes()
}

var (
	// countedFrom0 matches errors whose line yaml.v3 counts from 0: those of its parser, not of its scanner.
	countedFrom0  = diagnostic.Pattern(`^did not find expected (?:key|node content|',' or '[]}]'|'-' indicator|<document start>)`)
	yamlLine      = diagnostic.Pattern(`^yaml: (?:input error: )?(?:line (\d+): )?(.*)$`)
	unknownAnchor = diagnostic.Pattern(`unknown anchor '(.*)' referenced`)
)

// explain converts an error of the parser to a diagnostic: the first trap in the file, or else the parser's message
// with its approximate line.
func (d *Decoder) explain(err error) diagnostic.Diagnostic {
	m := yamlLine().FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if m == nil {
		m = []string{"", "", err.Error()}
	}
	if name := unknownAnchor().FindStringSubmatch(m[2]); name != nil {
		return d.unknownAnchor(name[1])
	}
	if strings.Contains(m[2], "exceeded max depth") {
		return diagnostic.Diagnostic{Code: "too-deep", Severity: diagnostic.Error, Pos: diagnostic.Pos{File: d.Src.File, Line: 1, Col: 1},
			Message: "cannot read the definition: it is nested deeper than 10000 levels", Hint: fmt.Sprintf("a definition can be nested %d levels deep", maxDepth)}
	}
	var first *trap
	scanTraps(d.Src, func(t trap) bool { first = &t; return false })
	if first != nil {
		return diagnostic.Diagnostic{Code: first.code, Severity: diagnostic.Error, Pos: diagnostic.Pos{File: d.Src.File, Line: first.line, Col: first.col}, Len: first.len, Message: first.message, Hint: first.hint, Fix: quoteFix(d.Src, *first)}
	}
	line, _ := strconv.Atoi(m[1])
	if line > 0 && countedFrom0().MatchString(m[2]) {
		line++
	}
	return diagnostic.Diagnostic{Code: "bad-yaml", Severity: diagnostic.Error, Pos: diagnostic.Pos{File: d.Src.File, Line: d.lineOf(line), Col: 1},
		Message: fmt.Sprintf("cannot read the definition: YAML error near this line: %s", m[2]),
		Hint:    "check the indentation and the quotes of this line and the lines before it"}
}

// lineOf limits a line number of the parser to the lines of the file.
func (d *Decoder) lineOf(n int) int { return min(max(n, 1), len(d.Src.Lines)) }

// unknownAnchor returns the error for *name without &name. Usually it is a value such as *.txt that was meant as text.
// The parser does not report its position.
func (d *Decoder) unknownAnchor(name string) diagnostic.Diagnostic {
	at := max(bytes.Index(d.Src.Text, []byte("*"+name)), 0)
	return diagnostic.Diagnostic{Code: "unknown-anchor", Severity: diagnostic.Error, Pos: d.Src.Pos(at), Len: len(name) + 1,
		Message: fmt.Sprintf("cannot resolve the alias *%s: there is no anchor &%s before it", diagnostic.Printable(name), diagnostic.Printable(name)),
		Hint:    fmt.Sprintf("if it is meant as text, quote the value: %q", "*"+name)}
}

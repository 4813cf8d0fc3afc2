package expr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// Class is the kind of thing that a name means.
type Class int

const (
	Unknown   Class = iota // not a reference: the braces are text
	Parameter              // a declared parameter
	Variable               // predefined: WORKSPACE, HOME, DATE, ...
	Step                   // a step of the same definition
	Env                    // env, or a variable of the process environment by its bare name
	Last                   // last: the previous attempt, in retry.when
	Local                  // bound in a small scope: item, index, matrix, run, value
	Arguments              // everything that a call was given; its fields are the values, declared or not
	State                  // what earlier runs of the tool have kept; its fields are the values
)

// Symbol is the meaning of a name when a definition is loaded.
type Symbol struct {
	Class Class
	Type  string // of a parameter: string, number, boolean, array or object; of a step: that of an artifact; "" if it is not known
	// As is the id for which this name is another word, as prev_step is for the step before. "" if
	// there is none. It is used for Markdown tools only.
	As string
}

// Names resolves names when a definition is loaded. Symbol is called with every candidate for the
// root of a reference, the longest first. It returns class Unknown for other text.
type Names interface {
	Symbol(id string) Symbol
}

// Speller is implemented by Names that can tell a misspelled name from other text. Misspelt returns the declared names
// that id probably misspells. IsText reports whether the author said that id is text.
type Speller interface {
	Misspelt(id string) []string
	IsText(id string) bool
}

// Declarer is implemented by Names whose steps can declare outputs. Outputs returns those of a step with their types, as in
// JSON Schema; "" is any type.
type Declarer interface {
	Outputs(step string) map[string]string
}

// Keeper is implemented by Names of tools that keep values between runs. State returns them with their types, as in JSON
// Schema.
type Keeper interface {
	State() map[string]string
}

// Segment is one part of a path into a value: .Field, or [Index] if IsIndex is set.
type Segment struct {
	Field   string
	Index   int
	IsIndex bool
}

// Ref is one mention of a value: {P}, {RAW:P}, {a.output}, {test.json[0].x}, {env.HOME}. Root is
// the longest known id. Off and Len are its place in the text that was parsed, including braces
// if it has them.
type Ref struct {
	Class    Class
	Root     string
	Path     []Segment
	Raw      bool
	Off, Len int

	decides  bool   // it is part of a condition
	kind     kind   // what its value can be, as far as the definition shows
	markdown string // the reference as it is written in a Markdown tool; "" in others
}

// Decides reports whether the reference is part of a condition, so that its value is compared and not inserted.
func (r Ref) Decides() bool { return r.decides }

// String returns the reference as it is written, in braces except for one of a Markdown tool.
func (r Ref) String() string {
	if r.markdown != "" {
		return r.markdown
	}
	var b strings.Builder
	b.WriteByte('{')
	if r.Raw {
		b.WriteString("RAW:")
	}
	b.WriteString(r.Root)
	for _, s := range r.Path {
		if s.IsIndex {
			fmt.Fprintf(&b, "[%d]", s.Index)
		} else {
			b.WriteString("." + s.Field)
		}
	}
	b.WriteByte('}')
	return b.String()
}

// The fields of a step and of the last attempt, with the kind of their values.
var (
	stepFields = map[string]kind{
		"output": kindText, "stdout": kindText, "error": kindText, "stderr": kindText,
		"exit-code": kindNumber, "duration": kindNumber, "attempts": kindNumber,
		"start-time": kindString, "end-time": kindString, "status": kindString,
		"json":    kindAny,
		"outputs": kindObject, "artifacts": kindAny,
	}
	lastFields = map[string]kind{
		"output": kindText, "error": kindText,
		"exit-code": kindNumber, "attempts": kindNumber, "timed-out": kindBool,
		"outputs": kindObject,
	}
)

const (
	stepFieldList = "output, error, stdout, stderr, exit-code, duration, start-time, end-time, status, attempts, json, artifacts"
	lastFieldList = "exit-code, output, error, attempts, timed-out, outputs"
)

// refLen returns how many bytes at the start of s can belong to a reference: an identifier with
// dashes, then fields and indexes.
func refLen(s string) int {
	if s == "" || !isNameStart(s[0]) {
		return 0
	}
	i := 1
	for i < len(s) && (isNameByte(s[i]) || s[i] == '-' || s[i] == '.' || s[i] == '[' || s[i] == ']') {
		i++
	}
	return i
}

func isNameStart(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isNameByte(c byte) bool { return isNameStart(c) || isDigit(c) }

// isName reports whether s is an identifier in shells.
func isName(s string) bool {
	if s == "" || !isNameStart(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}

// resolve parses text ("a.b.output") as a reference. Its root is the longest id that names knows.
// ok is false if no root is known or the rest is not a path. The text is not a reference then.
func resolve(text string, names Names) (ref Ref, typ string, ok bool) {
	for end := len(text); end > 0; end = strings.LastIndexAny(text[:end], ".[") {
		id := text[:end]
		sym := names.Symbol(id)
		if id == "env" {
			sym = Symbol{Class: Env}
		}
		if sym.Class == Unknown {
			continue
		}
		path, ok := parsePath(text[end:])
		return Ref{Class: sym.Class, Root: id, Path: path}, sym.Type, ok
	}
	return Ref{}, "", false
}

// parsePath parses ".field[0].x".
func parsePath(s string) ([]Segment, bool) {
	var path []Segment
	for s != "" {
		seg, rest, ok := nextSegment(s)
		if !ok {
			return nil, false
		}
		path, s = append(path, seg), rest
	}
	return path, true
}

func nextSegment(s string) (Segment, string, bool) {
	if s[0] == '[' {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return Segment{}, "", false
		}
		n, err := strconv.ParseUint(s[1:end], 10, 31)
		plain := err == nil && s[1:end] == strconv.FormatUint(n, 10) // [00] is not an index, because it would be shown as [0]
		return Segment{Index: int(n), IsIndex: true}, s[end+1:], plain
	}
	end := strings.IndexAny(s[1:], ".[") + 1
	if end == 0 {
		end = len(s)
	}
	field := s[1:end]
	ok := s[0] == '.' && field != "" && !strings.Contains(field, "]")
	return Segment{Field: field}, s[end:], ok
}

// checkRef sets what the reference can hold, and reports a path that cannot exist.
func checkRef(ref *Ref, typ string, names Names) *Problem {
	ref.kind = kindAny
	switch ref.Class {
	case Parameter:
		return checkParameter(ref, typ)
	case Variable:
		ref.kind = kindString
		if len(ref.Path) > 0 {
			return fieldProblem(ref, "write {"+ref.Root+"}", "%q is text and has no fields", ref.Root)
		}
	case Step:
		if len(ref.Path) > 0 && ref.Path[0].Field == "artifacts" {
			return checkArtifact(ref, typ)
		}
		return checkStep(ref, names)
	case Last:
		p := checkField(ref, "", lastFields, lastFieldList)
		if p == nil && ref.Path[0].Field == "outputs" {
			return checkOutput(ref, "the step", declaredBy(names, ref.Root))
		}
		return p
	case Env:
		ref.kind = kindText
		if ref.Root != "env" && len(ref.Path) == 0 {
			return nil // the caller allows a bare {NAME} for a variable
		}
		if len(ref.Path) != 1 || !isName(ref.Path[0].Field) {
			return fieldProblem(ref, "write {env.NAME}", "%s does not name an environment variable", *ref)
		}
	case Local:
		if len(ref.Path) == 0 {
			ref.kind = kindOfType(typ)
		}
	case State:
		if k, ok := names.(Keeper); ok {
			return checkState(ref, k.State())
		}
	}
	return nil
}

// checkState checks a reference to the values that a tool keeps.
func checkState(ref *Ref, kept map[string]string) *Problem {
	known := slices.Sorted(maps.Keys(kept))
	list := "the state has " + strings.Join(known, ", ")
	if len(ref.Path) == 0 || ref.Path[0].IsIndex {
		return fieldProblem(ref, "write {state.NAME}; "+list, "%s is not a value", *ref)
	}
	name := ref.Path[0].Field
	typ, ok := kept[name]
	switch {
	case !ok:
		return fieldProblem(ref, cmp.Or(diagnostic.DidYouMean(name, known), list), "the state has no value %q", name)
	case len(ref.Path) == 1:
		ref.kind = kindOfType(typ)
	case typ != "array" && typ != "object":
		return fieldProblem(ref, fmt.Sprintf("write {state.%s}; only arrays and objects have parts", name), "%q of the state has the type %s and has no parts", name, typ)
	}
	return nil
}

func checkParameter(ref *Ref, typ string) *Problem {
	if len(ref.Path) == 0 {
		ref.kind = kindOfType(typ)
		return nil
	}
	switch typ {
	case "string", "number", "boolean":
		return fieldProblem(ref, fmt.Sprintf("write {%s}; only arrays and objects have parts", ref.Root),
			"parameter %q is a %s and has no parts", ref.Root, typ)
	}
	return nil
}

func checkField(ref *Ref, noun string, fields map[string]kind, list string) *Problem {
	what := strings.TrimSpace(fmt.Sprintf("%s %q", noun, ref.Root))
	if len(ref.Path) == 0 {
		return fieldProblem(ref, fmt.Sprintf("write {%s.output} or another field (%s), or {{%s}} to keep it as text", ref.Root, list, ref.Root),
			"%s is not a value", what)
	}
	if i := ref.Path[0]; i.IsIndex {
		return fieldProblem(ref, fmt.Sprintf("write a field first; of a loop, {%s.outputs.NAME[%d]} is what one item wrote; the fields are %s", ref.Root, i.Index, list),
			"%s has no parts with numbers", what)
	}
	field := ref.Path[0].Field
	k, ok := fields[field]
	if !ok {
		hint := cmp.Or(diagnostic.DidYouMean(field, strings.Split(list, ", ")), "the fields are "+list)
		return fieldProblem(ref, hint, "%s has no field %q", what, field)
	}
	if len(ref.Path) > 1 && field != "json" && field != "outputs" {
		return fieldProblem(ref, fmt.Sprintf("{%s.json...} reads a part of a step's JSON output", ref.Root),
			"field %q of %s has no parts", field, what)
	}
	ref.kind = k
	return nil
}

// checkStep checks a reference to a step.
func checkStep(ref *Ref, names Names) *Problem {
	p := checkField(ref, "step", stepFields, stepFieldList)
	if p == nil && ref.Path[0].Field != "outputs" {
		return nil
	}
	declared := declaredBy(names, ref.Root)
	if p == nil {
		return checkOutput(ref, fmt.Sprintf("step %q", ref.Root), declared)
	}
	if len(declared) > 0 { // the hint names outputs too
		p = checkField(ref, "step", stepFields, stepFieldList+", outputs")
	}
	if len(ref.Path) == 2 && ref.Path[0].Field == "output" {
		if _, ok := declared[ref.Path[1].Field]; ok {
			p.Hint = fmt.Sprintf("write {%s.outputs.%s}", ref.Root, ref.Path[1].Field)
		}
	}
	return p
}

// declaredBy returns the declared outputs of what a root refers to, with their types.
func declaredBy(names Names, root string) map[string]string {
	if d, ok := names.(Declarer); ok {
		return d.Outputs(root)
	}
	return nil
}

// checkOutput checks a reference to the declared outputs of a step, or to one of them. Messages call the step what.
func checkOutput(ref *Ref, what string, declared map[string]string) *Problem {
	if len(declared) == 0 {
		return fieldProblem(ref, "declare them in the step, as in outputs: {version: string}", "%s has no declared outputs", what)
	}
	if len(ref.Path) == 1 {
		return nil
	}
	name := ref.Path[1].Field
	if ref.Path[1].IsIndex {
		name = fmt.Sprintf("[%d]", ref.Path[1].Index)
	}
	typ, ok := declared[name]
	switch {
	case !ok:
		known := slices.Sorted(maps.Keys(declared))
		hint := cmp.Or(diagnostic.DidYouMean(name, known), "its outputs are "+strings.Join(known, ", "))
		return fieldProblem(ref, hint, "%s has no output %q", what, name)
	case len(ref.Path) == 2:
		ref.kind = kindOfType(typ)
	case typ == "string", typ == "number", typ == "integer", typ == "boolean":
		return fieldProblem(ref, fmt.Sprintf("write {%s.outputs.%s}; only arrays and objects have parts", ref.Root, name),
			"output %q of %s has the type %s, which has no parts", name, what, typ)
	default:
		ref.kind = kindAny
	}
	return nil
}

// checkArtifact checks a reference to the path of an artifact: {build.artifacts.NAME}. A loop has a list of them.
func checkArtifact(ref *Ref, typ string) *Problem {
	if len(ref.Path) < 2 || ref.Path[1].IsIndex {
		return fieldProblem(ref, "write {"+ref.Root+".artifacts.NAME} with the name of one of its artifacts", "artifacts of step %q is not a value", ref.Root)
	}
	index := len(ref.Path) == 3 && ref.Path[2].IsIndex
	if len(ref.Path) > 2 && (!index || typ == "string") {
		return fieldProblem(ref, fmt.Sprintf("write {%s.artifacts.%s}; the name of an artifact has no dots", ref.Root, ref.Path[1].Field),
			"the artifact %q of step %q is a path and has no parts", ref.Path[1].Field, ref.Root)
	}
	if ref.kind = kindOfType(typ); index {
		ref.kind = kindString
	}
	return nil
}

func fieldProblem(ref *Ref, hint, format string, args ...any) *Problem {
	p := problemf(codeField, ref.Off, ref.Len, hint, format, args...)
	return &p
}

package keytable

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// Decoder holds the state of reading one document.
type Decoder struct {
	Src      *diagnostic.Source
	Root     *Object // the object at the top, for hints about misplaced keys
	Path     path
	repaired map[int]bool // lines whose value was quoted by repair
	expanded int          // number of nodes that aliases add

	repairedText []byte // the text with these values quoted

	Found            diagnostic.Diagnostics
	errors, warnings int

	objects []NamedObject // of a settings file

	Literals bool // !literal before a text is allowed: such a text contains no references

	// The last position whose offset was requested. Positions are requested in order, so this avoids counting from the
	// start of the line each time, which is slow for a large file on one line.
	atLine, atCol, atOffset int
}

// Report collects a diagnostic. It drops those beyond diagnostic.MaxCollected of their severity.
func (d *Decoder) Report(one diagnostic.Diagnostic) {
	n := &d.warnings
	if one.Severity == diagnostic.Error {
		n = &d.errors
	}
	if *n++; *n <= diagnostic.MaxCollected {
		d.Found = append(d.Found, one)
	}
}

// Full reports whether a report holds the errors so far only. Callers can then skip a hint that needs a search.
func (d *Decoder) Full() bool { return d.errors >= diagnostic.MaxDiagnostics }

// Fail reports an error at a node, with the current path.
func (d *Decoder) Fail(n *yaml.Node, code, message, hint string) {
	d.Report(d.Diagnostic(n, diagnostic.Error, code, message, hint))
}

// FailKey reports an error at a key of the current mapping.
func (d *Decoder) FailKey(key *yaml.Node, code, message, hint string) {
	d.Path.Push(key.Value)
	d.Fail(key, code, message, hint)
	d.Path.Pop()
}

// Warn reports a warning at a node, with the current path.
func (d *Decoder) Warn(n *yaml.Node, code, message, hint string) {
	d.Report(d.Diagnostic(n, diagnostic.Warning, code, message, hint))
}

// Diagnostic returns a diagnostic at a node, with the current path, without reporting it.
func (d *Decoder) Diagnostic(n *yaml.Node, s diagnostic.Severity, code, message, hint string) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{Code: code, Severity: s, Pos: d.Pos(n), Len: width(n), Path: d.Path.String(), Message: message, Hint: hint}
}

// Pos returns the position of a node. If something is missing at the end of the file, the parser reports a line after
// the last one; Pos then returns the start of the last line.
func (d *Decoder) Pos(n *yaml.Node) diagnostic.Pos {
	if n.Line > len(d.Src.Lines) {
		return diagnostic.Pos{File: d.Src.File, Line: len(d.Src.Lines), Col: 1}
	}
	return diagnostic.Pos{File: d.Src.File, Line: n.Line, Col: n.Column}
}

// Within calls read with a source that contains only a part of the current one.
func (d *Decoder) Within(part diagnostic.Span, read func()) {
	whole := d.Src
	d.Src, d.repaired, d.repairedText = whole.Only(part), nil, nil
	d.atLine, d.atCol, d.atOffset = 0, 0, 0
	read()
	d.Src, d.atLine = whole, 0
}

// width returns the number of characters of a node on its first line.
func width(n *yaml.Node) int {
	switch {
	case n.Kind == yaml.AliasNode:
		return 1 + len([]rune(n.Value))
	case n.Kind != yaml.ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 1
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return 2 + len([]rune(n.Value))
	}
	return max(1, len([]rune(n.Value)))
}

// Object decodes a mapping key by key. into must have the Go type that belongs to the Object.
func (d *Decoder) Object(o *Object, into any, n *yaml.Node) {
	d.ObjectAnd(o, into, n, func(key, value *yaml.Node) { d.unknownKey(o, key, value) })
}

// release drops what is inside an entry of a list that was decoded, because the nodes of a large file need more memory
// than the definition made of them. If the file has aliases, the entry may be needed again.
func (d *Decoder) release(entry *yaml.Node) {
	if d.expanded == 0 {
		entry.Content = nil
	}
}

// ObjectAnd is Object, but calls other for keys that the Object does not know.
func (d *Decoder) ObjectAnd(o *Object, into any, n *yaml.Node, other func(key, value *yaml.Node)) {
	n = Deref(n)
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, "a mapping of keys", d.objectHint(o, n))
		return
	}
	content := d.Merged(n)
	for i := 0; i+1 < len(content); i += 2 {
		key, value := content[i], content[i+1]
		if key.Kind != yaml.ScalarNode {
			continue
		}
		f := o.Field(key.Value)
		if f == nil && strings.HasPrefix(key.Value, "x-") {
			continue
		}
		if f == nil {
			other(key, value)
			continue
		}
		d.Path.Push(key.Value)
		f.Set(d, into, value)
		d.Path.Pop()
	}
	if o.check != nil {
		o.check(d, into, n, content)
	}
}

// ValueOf returns the value of a key in the content of a mapping, or nil.
func ValueOf(content []*yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value == key {
			return content[i+1]
		}
	}
	return nil
}

// KeyOf returns the node of a key in the content of a mapping, or nil.
func KeyOf(content []*yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value == key {
			return content[i]
		}
	}
	return nil
}

// foreignKey returns the key of flowrun for a key of similar programs, "" if there is none.
func foreignKey(key string) string {
	switch key {
	case "args", "parameters":
		return "with"
	case "needs", "depends", "dependsOn", "depends_on", "depends-on":
		return "wait-for"
	case "foreach", "loop", "for", "range", "with_items", "withItems":
		return "for-each"
	case "strategy":
		return "matrix"
	case "max_parallel", "maxParallel":
		return "max-parallel"
	case "on_error", "on-error", "onError", "rescue", "catch", "rollback":
		return "on-failure"
	case "retries", "max-attempts", "max_attempts":
		return "attempts"
	case "ignore-errors", "ignore_errors", "allow-failure", "allow_failure":
		return "continue-on-error"
	case "trigger", "triggers":
		return "on"
	case "notifications":
		return "notify"
	case "ensure", "always", "defer", "on-exit", "onexit", "handlers":
		return "finally"
	case "tasks":
		return "steps"
	case "if", "condition", "when":
		return "run-condition"
	case "env":
		return "environment"
	case "cwd":
		return "working-directory"
	case "uses", "tool":
		return "use-tool"
	case "sensitive":
		return "secrets"
	case "validate-pattern":
		return "pattern"
	case "compatible-with":
		return "min-cycod-version"
	}
	return ""
}

func (d *Decoder) unknownKey(o *Object, key, value *yaml.Node) {
	d.Path.Push(key.Value)
	one := d.Diagnostic(key, diagnostic.Error, "unknown-key", fmt.Sprintf("unknown key %s in %s", diagnostic.Quote(key.Value), o.Name), d.keyHint(o, key.Value, value))
	d.Path.Pop()
	if foreignKey(key.Value) == "" && o.hint(key.Value) == nil {
		one.Fix = d.renameFix(key, diagnostic.Near(key.Value, o.Keys()))
	}
	d.Report(one)
}

// renameFix returns the edit that replaces a key by the only similar name, and nil if there are none or several.
func (d *Decoder) renameFix(key *yaml.Node, near []string) []diagnostic.Edit {
	if len(near) != 1 || key.Style != 0 || d.repaired[key.Line] {
		return nil
	}
	return d.Src.Rename(d.Pos(key), key.Value, near[0])
}

// keyHint returns the hint for an unknown key: the object's own hint, the flowrun key with the same meaning, a similar
// key, the objects in which the key is valid, or the list of all keys.
func (d *Decoder) keyHint(o *Object, key string, value *yaml.Node) string {
	if hint := o.hint(key); hint != nil {
		return hint(Deref(value))
	}
	keys := o.Keys()
	ours := foreignKey(key)
	foreign := ours != ""
	if foreign && o.Field(ours) != nil {
		return fmt.Sprintf("write %q", ours)
	}
	if ask := diagnostic.DidYouMean(key, keys); ask != "" && !foreign {
		return ask
	}
	if homes := d.Root.around(o, key); len(homes) > 0 {
		return fmt.Sprintf("%q belongs in %s", key, strings.Join(homes, " or "))
	}
	if homes := d.Root.objectsWith(ours); foreign && len(homes) > 0 {
		return fmt.Sprintf("%q is named %q in flowrun and belongs in %s", key, ours, strings.Join(homes, " or "))
	}
	if foreign {
		return fmt.Sprintf("%q is named %q in flowrun, which this kind of file does not have", key, ours)
	}
	if len(keys) <= 12 {
		return "known keys: " + strings.Join(keys, ", ") + "; keys of your own begin with 'x-'"
	}
	return "remove it; keys of your own begin with 'x-'"
}

// reportUnquoted reports {NAME} without quotes, which YAML reads as a mapping.
func (d *Decoder) reportUnquoted(n *yaml.Node) {
	one := d.Diagnostic(n, diagnostic.Error, "unquoted-reference", fmt.Sprintf("YAML reads %s as a mapping because it is not quoted", diagnostic.Printable(placeholderText(n))),
		fmt.Sprintf("quote the value: \"%s\"", diagnostic.Printable(placeholderText(n))))
	one.Len = len([]rune(placeholderText(n)))
	one.Fix = d.Src.Rename(one.Pos, placeholderText(n), `"`+placeholderText(n)+`"`)
	d.Report(one)
}

// Describe describes a node for messages, with its value if it has one.
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	case n.Tag == "!!str":
		return "the text " + diagnostic.Quote(n.Value)
	}
	return "the value " + diagnostic.Printable(n.Value)
}

// FirstPlace returns the position of a node that is repeated later.
func (d *Decoder) FirstPlace(n *yaml.Node) diagnostic.Place {
	return diagnostic.Place{Pos: d.Pos(n), Len: width(n), Message: "first given here"}
}

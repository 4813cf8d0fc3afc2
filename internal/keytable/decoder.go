package tool

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// Decode reads a definition from the YAML or JSON text src of the named file, from a
// Markdown page where its name ends in .md, and returns it with everything wrong with
// it, sorted by place. The name of the file stands in diagnostics and gives the tool its
// name where the text has none; the file is not opened.
//
// The Definition is never nil. Where the Diagnostics hold an Error (see Err) it
// is only what could be read, good for a listing but not for a run.
func Decode(file string, src []byte) (*Definition, Diagnostics) {
	d := &decoder{src: newSource(file, src)}
	def := &draft{Definition: &Definition{Name: stem(file), File: file, Source: src}}
	def.Pos = Pos{file, 1, 1}
	if isPage(file) {
		d.page(def)
	} else {
		d.document(def)
	}
	return def.Definition, d.found.Sorted()
}

// decoder carries what is known while one document is read.
type decoder struct {
	src      *source
	root     *Object // the object at the top, to say where a misplaced key belongs
	path     path
	repaired map[int]bool // lines whose value was quoted by repair
	expanded int          // nodes that aliases add

	repairedText []byte // the text with these values quoted

	found            Diagnostics
	errors, warnings int

	literals bool // !literal may stand before a text: it holds no references then

	// The last place whose offset was asked for. Places are asked for in order,
	// so that a file on one long line is not counted from its start every time.
	atLine, atCol, atOffset int
}

func (d *decoder) document(def *draft) {
	if problem, bad := d.src.problem(); bad {
		d.report(problem)
		return
	}
	root := d.parse()
	if root == nil || !d.shape(root) {
		return
	}
	if root.Kind != yaml.MappingNode {
		d.fail(root, "wrong-type", "cannot read the definition: the file holds "+describe(root)+", not a mapping of keys", "begin with keys such as name: and description:")
		return
	}
	def.Pos = d.pos(root)
	d.root = toolObject
	d.object(toolObject, def, root)
	d.check(def)
}

// keep is how many diagnostics of one severity are collected before the rest is
// dropped unseen: more than are ever shown, few enough to stay fast.
const keep = 10 * MaxDiagnostics

func (d *decoder) report(one Diagnostic) {
	n := &d.warnings
	if one.Severity == Error {
		n = &d.errors
	}
	if *n++; *n <= keep {
		d.found = append(d.found, one)
	}
}

// full says whether another error would be dropped, so that nobody need look
// for a suggestion.
func (d *decoder) full() bool { return d.errors >= MaxDiagnostics }

// fail reports an error at a node, warn a warning, both with the current path.
func (d *decoder) fail(n *yaml.Node, code, message, hint string) {
	d.report(d.diagnostic(n, Error, code, message, hint))
}

// failKey reports an error at a key of the mapping at hand.
func (d *decoder) failKey(key *yaml.Node, code, message, hint string) {
	d.path.push(key.Value)
	d.fail(key, code, message, hint)
	d.path.pop()
}

func (d *decoder) warn(n *yaml.Node, code, message, hint string) {
	d.report(d.diagnostic(n, Warning, code, message, hint))
}

func (d *decoder) diagnostic(n *yaml.Node, s Severity, code, message, hint string) Diagnostic {
	return Diagnostic{Code: code, Severity: s, Pos: d.pos(n), Len: width(n), Path: d.path.String(), Message: message, Hint: hint}
}

// pos is the place of a node. The parser puts what is missing at the very end
// behind the last line.
func (d *decoder) pos(n *yaml.Node) Pos {
	if n.Line > len(d.src.lines) {
		return Pos{d.src.file, len(d.src.lines), 1}
	}
	return Pos{d.src.file, n.Line, n.Column}
}

// within reads a part of the source as if there were nothing else.
func (d *decoder) within(part span, read func()) {
	whole := d.src
	d.src, d.repaired, d.repairedText = whole.only(part), nil, nil
	d.atLine, d.atCol, d.atOffset = 0, 0, 0
	read()
	d.src, d.atLine = whole, 0
}

// width is how many characters of its first line a node takes.
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

// object reads a mapping key by key into the value of an Object's type.
func (d *decoder) object(o *Object, into any, n *yaml.Node) {
	d.objectAnd(o, into, n, func(key, _ *yaml.Node) { d.unknownKey(o, key) })
}

// objectAnd is object with something else to do about the keys that the Object does
// not know.
func (d *decoder) objectAnd(o *Object, into any, n *yaml.Node, other func(key, value *yaml.Node)) {
	n = deref(n)
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, "a mapping of keys")
		return
	}
	content := d.merged(n)
	for i := 0; i+1 < len(content); i += 2 {
		key, value := content[i], content[i+1]
		if key.Kind != yaml.ScalarNode || strings.HasPrefix(key.Value, "x-") {
			continue
		}
		f := o.Field(key.Value)
		if f == nil {
			other(key, value)
			continue
		}
		d.path.push(key.Value)
		f.set(d, into, value)
		d.path.pop()
	}
	if o.check != nil {
		o.check(d, into, n, content)
	}
}

// valueOf is the value of a key in the content of a mapping, nil for none;
// keyOf is the key itself.
func valueOf(content []*yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value == key {
			return content[i+1]
		}
	}
	return nil
}

func keyOf(content []*yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value == key {
			return content[i]
		}
	}
	return nil
}

// foreignKeys are words of other tools' formats and what they are called here.
var foreignKeys = map[string]string{
	"arguments": "with", "args": "with", "needs": "wait-for", "depends_on": "wait-for", "depends-on": "wait-for",
	"foreach": "for-each", "loop": "for-each", "for": "for-each", "range": "for-each", "with_items": "for-each", "withItems": "for-each",
	"strategy": "matrix", "max_parallel": "max-parallel", "maxParallel": "max-parallel",
	"on_error": "on-failure", "on-error": "on-failure", "onError": "on-failure", "rescue": "on-failure", "catch": "on-failure",
	"ensure": "finally", "always": "finally", "defer": "finally", "on-exit": "finally", "onexit": "finally", "handlers": "finally",
	"tasks": "steps", "if": "run-condition", "when": "run-condition", "env": "environment", "cwd": "working-directory", "uses": "use-tool",
}

func (d *decoder) unknownKey(o *Object, key *yaml.Node) {
	if d.full() {
		d.errors++
		return
	}
	d.path.push(key.Value)
	one := d.diagnostic(key, Error, "unknown-key", fmt.Sprintf("unknown key %s in %s", quote(key.Value), o.Name), d.keyHint(o, key.Value))
	d.path.pop()
	if _, foreign := foreignKeys[key.Value]; !foreign {
		one.Fix = d.renamed(key, Near(key.Value, o.keys()))
	}
	d.report(one)
}

// renamed is the edit that gives a key the one name that it can have meant.
func (d *decoder) renamed(key *yaml.Node, near []string) []Edit {
	if len(near) != 1 || key.Style != 0 || d.repaired[key.Line] {
		return nil
	}
	return d.src.rename(d.pos(key), key.Value, near[0])
}

// keyHint is the way out of an unknown key: the same word elsewhere, a word for
// the same thing, a near word, or the list of all.
func (d *decoder) keyHint(o *Object, key string) string {
	keys := o.keys()
	ours, foreign := foreignKeys[key]
	if foreign && o.Field(ours) != nil {
		return fmt.Sprintf("write %q", ours)
	}
	if ask := didYouMean(key, keys); ask != "" && !foreign {
		return ask
	}
	if homes := d.root.homes(key); len(homes) > 0 {
		return fmt.Sprintf("%q belongs in %s", key, strings.Join(homes, " or "))
	}
	if foreign {
		return fmt.Sprintf("%q is called %q here and belongs in %s", key, ours, strings.Join(d.root.homes(ours), " or "))
	}
	if len(keys) <= 12 {
		return "known keys: " + strings.Join(keys, ", ") + "; keys of your own begin with 'x-'"
	}
	return "remove it; keys of your own begin with 'x-'"
}

func (d *decoder) wrongType(n *yaml.Node, want string) {
	if isHole(n) {
		d.unquoted(n)
		return
	}
	d.fail(n, "wrong-type", fmt.Sprintf("expected %s, found %s", want, describe(n)), formHints[want])
}

// formHints is how the values that wrongType asks for are written.
var formHints = map[string]string{
	"text":               "write it on one line, in quotes if it begins with a sign, or as a block after '|'",
	"true or false":      "write true or false, without quotes",
	"a whole number":     "write digits, without quotes",
	"a duration":         `write milliseconds (5000) or a text with units ("1m30s")`,
	"a size":             "write bytes or a number with a unit: 10MB",
	"a list":             "write [a, b], or one line for each, beginning with '- '",
	"a mapping of keys":  "write 'key: value' lines, indented under this key",
	"a mapping of names": "write 'NAME: value' lines, indented under this key",
}

// unquoted reports {NAME} without quotes, which YAML reads as a mapping.
func (d *decoder) unquoted(n *yaml.Node) {
	one := d.diagnostic(n, Error, "unquoted-reference", fmt.Sprintf("YAML reads %s as a mapping because it is not quoted", printable(holeText(n))),
		fmt.Sprintf("quote the value: \"%s\"", printable(holeText(n))))
	one.Len = len([]rune(holeText(n)))
	one.Fix = d.src.rename(one.Pos, holeText(n), `"`+holeText(n)+`"`)
	d.report(one)
}

// describe is a node in words, with its value where it has one.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	case n.Tag == "!!str":
		return "the text " + quote(n.Value)
	}
	return "the value " + printable(n.Value)
}

// quote is text from a file as it may stand in a message: in quotes, without
// control characters, not longer than a line.
func quote(s string) string { return `"` + printable(s) + `"` }

// firstHere is the place of a node that something later repeats.
func (d *decoder) firstHere(n *yaml.Node) Place {
	return Place{Pos: d.pos(n), Len: width(n), Message: "first given here"}
}

package keytable

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// literalTag before a text of a Markdown tool means that the text contains no references.
const literalTag = "!literal"

// Limits on the shape of a document. Real definitions stay far below them. They prevent a hostile file from taking
// minutes or exhausting memory.
const (
	maxDepth    = 200
	maxExpanded = 1_000_000 // nodes that aliases may add
	MaxSteps    = 100_000
)

// Shape checks the structure of a document before its keys are read. It reports whether the document is safe to walk:
// its depth is limited, and its aliases have no cycles and a limited size. It also reports duplicate keys, keys that
// are not text and unknown tags, but these do not make the document unsafe.
//
// yaml.v3 checks none of this when it decodes into nodes.
func (d *Decoder) Shape(root *yaml.Node) bool {
	sh := shaper{d: d, sizes: map[*yaml.Node]extent{}, safe: true}
	sh.measure(root, 1)
	return sh.safe
}

// extent is the size of a node with its aliases expanded.
type extent struct{ nodes, depth int }

type shaper struct {
	d     *Decoder
	sizes map[*yaml.Node]extent // of anchors; the zero extent while the anchor is being measured
	safe  bool
}

func (sh *shaper) measure(n *yaml.Node, depth int) extent {
	if !sh.safe {
		return extent{1, 1}
	}
	if n.Kind == yaml.AliasNode {
		return sh.alias(n, depth)
	}
	if n.Anchor != "" {
		if known, ok := sh.sizes[n]; ok {
			return known
		}
		sh.sizes[n] = extent{}
	}
	if depth > maxDepth {
		sh.fail(n, "too-deep", fmt.Sprintf("cannot read the definition: it is nested deeper than %d levels", maxDepth), "flatten this part of the file")
	}
	sh.checkTag(n)
	s := extent{1, 1}
	if n.Kind == yaml.MappingNode {
		sh.checkKeys(n)
	}
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			sh.d.Path.pushIndex(i)
		case i%2 == 1:
			sh.d.Path.Push(n.Content[i-1].Value)
		default:
			sh.d.Path.Push("")
		}
		child := sh.measure(c, depth+1)
		sh.d.Path.Pop()
		s.nodes = min(s.nodes+child.nodes, maxExpanded*2) // limited, because it doubles with every level of nested aliases
		s.depth = max(s.depth, child.depth+1)
	}
	if n.Anchor != "" {
		sh.sizes[n] = s
	}
	return s
}

// alias adds the size of the node that an alias refers to. That node has already been measured, or is being measured:
// then it contains itself.
func (sh *shaper) alias(n *yaml.Node, depth int) extent {
	s, ok := sh.sizes[n.Alias]
	switch {
	case ok && s.nodes == 0:
		sh.fail(n, "cyclic-alias", fmt.Sprintf("cannot expand the alias *%s: it is inside its own anchor", diagnostic.Printable(n.Value)), "replace the alias with the value itself")
	case depth+s.depth > maxDepth:
		sh.fail(n, "too-deep", fmt.Sprintf("cannot expand the alias *%s: the definition would be nested deeper than %d levels", diagnostic.Printable(n.Value), maxDepth), "flatten this part of the file")
	}
	if sh.d.expanded += s.nodes; sh.d.expanded > maxExpanded {
		sh.fail(n, "alias-bomb", fmt.Sprintf("cannot expand the alias *%s: the aliases of this file expand to more than %d values", diagnostic.Printable(n.Value), maxExpanded), "use fewer aliases that contain aliases")
	}
	return s
}

func (sh *shaper) fail(n *yaml.Node, code, message, hint string) {
	if sh.safe {
		sh.d.Fail(n, code, message, hint)
	}
	sh.safe = false
}

// checkTag rejects tags that would change the type of a value.
func (sh *shaper) checkTag(n *yaml.Node) {
	if n.Style&yaml.TaggedStyle == 0 {
		return
	}
	switch tag := n.ShortTag(); {
	case tag == literalTag && sh.d.Literals && n.Kind == yaml.ScalarNode:
		return
	}
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map":
	default:
		sh.d.Fail(n, "unknown-tag", fmt.Sprintf("unknown YAML tag %s", diagnostic.Quote(n.Tag)), "remove the tag; if the value is meant as text, quote it")
	}
}

// checkKeys reports keys that are not text, and duplicate keys.
func (sh *shaper) checkKeys(n *yaml.Node) {
	var seen map[string]*yaml.Node
	if len(n.Content) > 16 {
		seen = make(map[string]*yaml.Node, len(n.Content)/2)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			if len(n.Content) != 2 || !IsPlaceholder(key) { // {{X}}: reported when the value is read
				sh.d.Fail(key, "bad-key", "a key must be text on one line", "if '{', '[' or '*' is meant as text, quote the value")
			}
			continue
		}
		if first := sh.earlierKey(n.Content[:i], seen, key); first != nil {
			sh.d.Path.Push(key.Value)
			sh.reportDuplicate(n, first, key, i)
			sh.d.Path.Pop()
		}
		if seen != nil {
			seen[key.Value] = key
		}
	}
}

// reportDuplicate reports a duplicate key, at index i of the mapping's content.
func (sh *shaper) reportDuplicate(n, first, key *yaml.Node, i int) {
	d := sh.d
	one := d.Diagnostic(key, diagnostic.Error, "duplicate-key", fmt.Sprintf("key %s is given twice: on line %d and on line %d", diagnostic.Quote(key.Value), first.Line, key.Line),
		"keep one of the two; if both are needed, merge their contents")
	one.Related = []diagnostic.Place{d.FirstPlace(first)}
	if d.Full() {
		d.Report(one)
		return
	}
	if before := n.Content[slices.Index(n.Content, first)+1]; equalNodes(before, n.Content[i+1]) {
		one.Hint, one.Fix = "remove one of the two; their values are equal", withoutEntry(d.Src, d.Pos(key))
	}
	d.Report(one)
}

// earlierKey returns the earlier key that is equal to this one, or nil. Small mappings, which are the most common, are
// searched without a map.
func (sh *shaper) earlierKey(before []*yaml.Node, seen map[string]*yaml.Node, key *yaml.Node) *yaml.Node {
	if seen != nil {
		return seen[key.Value]
	}
	for i := 0; i < len(before); i += 2 {
		if before[i].Kind == yaml.ScalarNode && before[i].Value == key.Value {
			return before[i]
		}
	}
	return nil
}

// Merged returns the content of a mapping with merge keys (<<) resolved. The mapping's own keys take precedence over
// merged ones, and earlier merges over later ones.
func (d *Decoder) Merged(n *yaml.Node) []*yaml.Node {
	merge := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		merge = merge || isMerge(n.Content[i])
	}
	if !merge {
		return n.Content
	}
	content := make([]*yaml.Node, 0, len(n.Content))
	known := map[string]bool{}
	add := func(key, value *yaml.Node) {
		if key.Kind == yaml.ScalarNode && !known[key.Value] {
			known[key.Value] = true
			content = append(content, key, value)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			add(n.Content[i], n.Content[i+1])
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			d.merge(n.Content[i], n.Content[i+1], add)
		}
	}
	return content
}

// merge adds the keys of one << value: a mapping or a list of mappings.
func (d *Decoder) merge(key, value *yaml.Node, add func(key, value *yaml.Node)) {
	if d.Path.inSecurity() {
		d.Fail(key, "merge-in-security", "cannot merge keys into a security section: permissions must be written out where they apply", "write the keys out instead of using <<")
		return
	}
	from := []*yaml.Node{Deref(value)}
	if from[0].Kind == yaml.SequenceNode {
		from = from[0].Content
	}
	for _, n := range from {
		n = Deref(n)
		if n.Kind != yaml.MappingNode {
			d.Fail(value, "wrong-type", "cannot merge "+Describe(n)+": << needs a mapping or a list of mappings", "write <<: *name, where &name is the anchor of a mapping")
			continue
		}
		inner := d.Merged(n)
		for i := 0; i+1 < len(inner); i += 2 {
			add(inner[i], inner[i+1])
		}
	}
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// Deref returns the node that an alias refers to, and any other node itself.
func Deref(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsPlaceholder reports whether a node is a {NAME} without quotes, as YAML reads it: a flow mapping of one key without
// a value. {{NAME}} is such a mapping whose key is another one.
func IsPlaceholder(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle == 0 || len(n.Content) != 2 {
		return false
	}
	key, value := n.Content[0], n.Content[1]
	return value.Kind == yaml.ScalarNode && value.Tag == "!!null" && value.Value == "" && (key.Kind == yaml.ScalarNode || IsPlaceholder(key))
}

// placeholderText returns the text of a placeholder in the file.
func placeholderText(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return "{" + placeholderText(n.Content[0]) + "}"
}

// path is the key path to the current node. It is a stack, which is formatted only for diagnostics.
type path []pathStep

type pathStep struct {
	key   string
	index int
}

// Push adds a key to the path.
func (p *path) Push(key string) { *p = append(*p, pathStep{key: key, index: -1}) }

func (p *path) pushIndex(i int) { *p = append(*p, pathStep{index: i}) }

// Pop removes the last key or index from the path.
func (p *path) Pop() { *p = (*p)[:len(*p)-1] }

// inSecurity reports whether the path leads into the security section of the tool or of a parameter.
func (p path) inSecurity() bool {
	return len(p) > 0 && p[0].key == "security" || len(p) > 2 && p[0].key == "parameters" && p[2].key == "security"
}

// String formats the path: steps[2].run-condition.
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.index >= 0:
			fmt.Fprintf(&b, "[%d]", s.index)
		case s.key == "":
		case b.Len() > 0:
			b.WriteString("." + diagnostic.Printable(s.key))
		default:
			b.WriteString(diagnostic.Printable(s.key))
		}
	}
	return b.String()
}

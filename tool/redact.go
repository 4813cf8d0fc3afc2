package tool

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// Redact is a definition in which every value and comment was put through hide, which
// answers most of them unchanged. What hide does not change in src comes back as it
// is; what it would still change after that (a key, or text that is no YAML) is
// hidden without regard to the shape.
func Redact(src []byte, hide func(string) string) []byte {
	if hide(string(src)) == string(src) {
		return src
	}
	var doc yaml.Node
	if yaml.Unmarshal(src, &doc) == nil {
		redact(&doc, hide)
		var b bytes.Buffer
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(2)
		if enc.Encode(&doc) == nil {
			src = b.Bytes()
		}
	}
	return []byte(hide(string(src)))
}

func redact(n *yaml.Node, hide func(string) string) {
	redactComments(n, hide)
	for i, inner := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 { // a key
			redactComments(inner, hide)
			continue
		}
		redact(inner, hide)
	}
	if hidden := hide(n.Value); n.Kind == yaml.ScalarNode && hidden != n.Value {
		n.Value, n.Tag, n.Style = hidden, "!!str", yaml.DoubleQuotedStyle
	}
}

func redactComments(n *yaml.Node, hide func(string) string) {
	n.HeadComment, n.LineComment, n.FootComment = hide(n.HeadComment), hide(n.LineComment), hide(n.FootComment)
}

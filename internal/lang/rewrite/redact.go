package rewrite

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// Redact applies hide to every value and comment of a definition. hide returns most texts unchanged. If it does not
// change src as a whole, src is returned as it is. Text that hide would still change afterwards, such as a key or text
// that is not YAML, is replaced without regard to the YAML structure.
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

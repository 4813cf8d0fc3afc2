package rewrite

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// WriteYAML writes a definition as people would: keys in the order of doc, texts of several lines as blocks, short
// lists on one line, and a blank line around entries of more than one line. Reading the result gives the same keys and
// values.
func WriteYAML(doc []keytable.Entry) ([]byte, error) {
	var out bytes.Buffer
	tall := false // the previous entry has several lines
	for i, e := range doc {
		one, err := encodeEntry(e)
		if err != nil {
			return nil, fmt.Errorf("cannot write the key %s: %w", diagnostic.Quote(e.Key), err)
		}
		lines := bytes.Count(one, []byte("\n"))
		if i > 0 && (tall || lines > 1) {
			out.WriteByte('\n')
		}
		out.Write(one)
		tall = lines > 1
	}
	return out.Bytes(), nil
}

func encodeEntry(e keytable.Entry) ([]byte, error) {
	n := mappingNode([]keytable.Entry{e})
	restore := hideEmoji(n)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	err := enc.Close()
	return restore(b.Bytes()), err
}

func mappingNode(entries []keytable.Entry) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, e := range entries {
		n.Content = append(n.Content, textNode(e.Key), valueNode(e.Value))
	}
	return n
}

func valueNode(v keytable.Value) *yaml.Node {
	switch {
	case v.Map != nil:
		return mappingNode(v.Map)
	case v.List != nil:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if fitsOneLine(v.List) {
			n.Style = yaml.FlowStyle
		}
		for _, item := range v.List {
			n.Content = append(n.Content, valueNode(item))
		}
		return n
	case v.Text != nil:
		return textNode(v.Text.S)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: cmp.Or(v.Spelling(), "null")} // a number, a boolean or null
}

// otherInYAML11 matches texts that are booleans, numbers, times or marks to readers of YAML 1.1, such as PyYAML. flowrun and
// other readers of YAML 1.2 take them as text. y and n are booleans in YAML 1.1 too, but to none of its common readers.
var otherInYAML11 = diagnostic.Pattern(`^([yY]es|YES|[nN]o|NO|[oO]n|ON|[oO]ff|OFF|=|<<|` +
	`[-+]?0b[01_]+|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[-+]?[0-9._]+([eE][-+]?[0-9]+)?|` +
	`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?)$`)

// textNode chooses the style of a text. The emitter itself quotes texts that would otherwise be read as another type.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case s == "":
	case otherInYAML11().MatchString(s):
		n.Style = yaml.DoubleQuotedStyle
	case strings.Contains(s, "\r") || strings.TrimLeft(s, " \t\n") != s || strings.HasSuffix(s, "\n\n"):
		n.Style = yaml.DoubleQuotedStyle // a block would not keep its beginning or end
	case strings.Contains(s, "\n"),
		strings.Contains(s, "'") && (strings.Contains(s, ": ") || strings.Contains(s, " #")): // quotes inside quotes are hard to read
		n.Style = yaml.LiteralStyle
	}
	return n
}

// maxOnOneLine is the maximum number of characters of the items of a list that is written on one line.
const maxOnOneLine = 60

var bareWord = diagnostic.Pattern(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

func fitsOneLine(list []keytable.Value) bool {
	total := 0
	for _, v := range list {
		n := valueNode(v)
		if n.Kind != yaml.ScalarNode || !bareWord().MatchString(n.Value) {
			return false
		}
		total += len(n.Value)
	}
	return total <= maxOnOneLine
}

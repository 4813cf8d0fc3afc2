package keytable

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// This file creates edits that fix a file. An edit changes only what is necessary. If the text does not have the
// expected form, there is no edit.

// equalNodes reports whether two nodes have the same content, written in the same way.
func equalNodes(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Tag == b.Tag && a.Value == b.Value && a.Anchor == b.Anchor && a.Alias == b.Alias &&
		slices.EqualFunc(a.Content, b.Content, equalNodes)
}

// withoutEntry removes the entry of a block mapping whose key is at a position: its line, and the lines below that are
// indented further. Comments and blank lines at its end are kept.
func withoutEntry(s *diagnostic.Source, key diagnostic.Pos) []diagnostic.Edit {
	line := s.Line(key.Line)
	indent := key.Col - 1
	if len(bytes.TrimLeft(line[:min(indent, len(line))], " ")) > 0 {
		return nil // after a dash or a bracket
	}
	last := key.Line
	for n := key.Line + 1; n <= len(s.Lines); n++ {
		body := bytes.TrimLeft(s.Line(n), " ")
		depth := len(s.Line(n)) - len(body)
		switch {
		case len(bytes.TrimSpace(body)) == 0 || body[0] == '#' && depth <= indent:
			continue
		case depth > indent, depth == indent && bytes.HasPrefix(body, []byte("- ")):
			last = n
			continue
		}
		break
	}
	return s.Edit(s.Lines[key.Line-1], endOf(s, last), "")
}

// endOf returns the offset after a line and its line break.
func endOf(s *diagnostic.Source, line int) int {
	if line < len(s.Lines) {
		return s.Lines[line]
	}
	return len(s.Text)
}

// asBlock turns a value that YAML could not read into a block scalar below its key.
func asBlock(s *diagnostic.Source, t trap) []diagnostic.Edit {
	from := s.Offset(t.valueLine, t.valueCol)
	to := s.Lines[t.valueLine-1] + len(s.Line(t.valueLine))
	before := s.Text[s.Lines[t.valueLine-1]:from]
	column := bytes.LastIndex(before, []byte(t.key+":"))
	if column < 0 || from >= to {
		return nil
	}
	value := strings.TrimRight(string(s.Text[from:to]), " \t") // a block would keep spaces at its end
	return s.Edit(from, to, "|-"+s.Newline()+strings.Repeat(" ", column+2)+value)
}

// quoteFix puts the value of a trap into quotes, if that is sufficient.
func quoteFix(s *diagnostic.Source, t trap) []diagnostic.Edit {
	switch t.code {
	case "unquoted-reference", "reserved-character", "colon-in-value":
	default:
		return nil
	}
	line := string(s.Line(t.line))
	f := split(line)
	value := f.value
	if i := strings.Index(value, " #"); i >= 0 {
		value = strings.TrimRight(value[:i], " \t")
	}
	if f.key == "" || value == "" || t.code == "colon-in-value" && t.valueLine != t.line || continues(s, t.line, f) {
		return nil
	}
	from := s.Lines[t.line-1] + f.at
	return s.Edit(from, from+len(value), quotedValue(value))
}

// continues reports whether the value on a line continues on the lines below.
func continues(s *diagnostic.Source, line int, f lineParts) bool {
	for n := line + 1; n <= len(s.Lines); n++ {
		if body := bytes.TrimLeft(s.Line(n), " "); len(bytes.TrimSpace(body)) > 0 {
			return len(s.Line(n))-len(body) > f.indent
		}
	}
	return false
}

// quotedValue quotes a text with the kind of quotes that needs no escapes.
func quotedValue(s string) string {
	if strings.ContainsAny(s, `"\`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return `"` + s + `"`
}

// NameEdit returns the edit that gives a step or a test in a block mapping a unique name: word with a
// number.
func (d *Decoder) NameEdit(n *yaml.Node, word string) []diagnostic.Edit {
	if n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 || n.Line > len(d.Src.Lines) {
		return nil
	}
	key := n.Content[0]
	if key.Kind != yaml.ScalarNode || key.Line != n.Line || key.Column != n.Column {
		return nil
	}
	at := d.Src.Offset(n.Line, n.Column)
	number := 1
	if i := len(d.Path); i > 0 && d.Path[i-1].index >= 0 {
		number = d.Path[i-1].index + 1
	}
	name := fmt.Sprintf("%s-%d", word, number)
	for bytes.Contains(d.Src.Text, []byte(name)) {
		number++
		name = fmt.Sprintf("%s-%d", word, number)
	}
	return d.Src.Edit(at, at, "name: "+name+d.Src.Newline()+strings.Repeat(" ", n.Column-1))
}

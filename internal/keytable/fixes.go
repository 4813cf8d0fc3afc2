package tool

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// This file holds what mends a file: edits that change what they must and nothing
// else. None where the text is not of the form that the edit was thought for.

// equal says whether two nodes hold the same, written in the same way.
func equal(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Tag == b.Tag && a.Value == b.Value && a.Anchor == b.Anchor && a.Alias == b.Alias &&
		slices.EqualFunc(a.Content, b.Content, equal)
}

// withoutEntry removes the entry of a block mapping whose key stands at a place: its
// line, and the lines below that are further to the right. Comments and empty lines
// at its end stay.
func (s *source) withoutEntry(key Pos) []Edit {
	line := s.line(key.Line)
	indent := key.Col - 1
	if len(bytes.TrimLeft(line[:min(indent, len(line))], " ")) > 0 {
		return nil // behind a dash or a bracket
	}
	last := key.Line
	for n := key.Line + 1; n <= len(s.lines); n++ {
		body := bytes.TrimLeft(s.line(n), " ")
		depth := len(s.line(n)) - len(body)
		switch {
		case len(bytes.TrimSpace(body)) == 0 || body[0] == '#' && depth <= indent:
			continue
		case depth > indent, depth == indent && bytes.HasPrefix(body, []byte("- ")):
			last = n
			continue
		}
		break
	}
	return s.edit(s.lines[key.Line-1], s.endOf(last), "")
}

// endOf is the offset behind a line and its break.
func (s *source) endOf(line int) int {
	if line < len(s.lines) {
		return s.lines[line]
	}
	return len(s.text)
}

// asBlock writes a value that YAML could not read as a block scalar, below its key.
func (s *source) asBlock(t trap) []Edit {
	from := s.offset(t.valueLine, t.valueCol)
	to := s.lines[t.valueLine-1] + len(s.line(t.valueLine))
	before := s.text[s.lines[t.valueLine-1]:from]
	column := bytes.LastIndex(before, []byte(t.key+":"))
	if column < 0 || from >= to {
		return nil
	}
	value := strings.TrimRight(string(s.text[from:to]), " \t") // at its end a block would keep them
	return s.edit(from, to, "|-"+s.newline()+strings.Repeat(" ", column+2)+value)
}

// quoted puts the value of a trap into quotes, where that is all it needs.
func (s *source) quoted(t trap) []Edit {
	switch t.code {
	case "unquoted-reference", "reserved-character", "colon-in-value":
	default:
		return nil
	}
	line := string(s.line(t.line))
	f := split(line)
	value := f.value
	if i := strings.Index(value, " #"); i >= 0 {
		value = strings.TrimRight(value[:i], " \t")
	}
	if f.key == "" || value == "" || t.code == "colon-in-value" && t.valueLine != t.line || s.goesOn(t.line, f) {
		return nil
	}
	from := s.lines[t.line-1] + f.at
	return s.edit(from, from+len(value), quotedValue(value))
}

// goesOn says whether the value of a line has more lines below.
func (s *source) goesOn(line int, f parts) bool {
	for n := line + 1; n <= len(s.lines); n++ {
		if body := bytes.TrimLeft(s.line(n), " "); len(bytes.TrimSpace(body)) > 0 {
			return len(s.line(n))-len(body) > f.indent
		}
	}
	return false
}

// quotedValue is a text in the quotes that need no escapes.
func quotedValue(s string) string {
	if strings.ContainsAny(s, `"\`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return `"` + s + `"`
}

// named gives a step of a block mapping a name that no other has.
func (d *decoder) named(n *yaml.Node) []Edit {
	if n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 || n.Line > len(d.src.lines) {
		return nil
	}
	key := n.Content[0]
	if key.Kind != yaml.ScalarNode || key.Line != n.Line || key.Column != n.Column {
		return nil
	}
	at := d.src.offset(n.Line, n.Column)
	number := 1
	if i := len(d.path); i > 0 && d.path[i-1].index >= 0 {
		number = d.path[i-1].index + 1
	}
	name := fmt.Sprintf("step-%d", number)
	for bytes.Contains(d.src.text, []byte(name)) {
		number++
		name = fmt.Sprintf("step-%d", number)
	}
	return d.src.edit(at, at, "name: "+name+d.src.newline()+strings.Repeat(" ", n.Column-1))
}

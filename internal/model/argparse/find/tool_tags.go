package find

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// toolTag reads a tag named after the tool, <search>, with a tag or an attribute for each parameter.
func (s *scanner) toolTag(start int) bool {
	s.Pos = start + 1
	for s.Pos < len(s.Text) && (token.IsWordByte(s.Text[s.Pos]) || s.Text[s.Pos] == '-' || s.Text[s.Pos] == ':') {
		s.Pos++
	}
	tag := s.Text[start+1 : s.Pos]
	if k := s.SkipSpaces(s.Pos); s.ByteAt(k) != '>' && !s.Has(k, "/>") && !s.IsKey(k) {
		return true // prose
	}
	n := node.Node{Kind: node.Object, Off: s.At(start)}
	closed, ok := s.attributes(&n)
	if !ok {
		return false
	}
	if !closed && !s.parameterTags(&n, tag, start) {
		if _, lines := s.linesAt(s.SkipSpaces(s.Pos)); lines && s.Bad == nil && len(n.Children) == 0 {
			s.marked++
			s.Fix("tag", start)
			return s.linesUpTo("</" + tag + ">")
		}
		return s.Bad == nil // other text: prose
	}
	s.add(n, start, "tag")
	return true
}

// parameterTags reads the parameter tags inside a tag, and its closing tag. It returns false if the tag contains an object
// or prose.
func (s *scanner) parameterTags(n *node.Node, tag string, start int) bool {
	body := s.Pos
	if s.Pos = s.SkipSpaces(body); s.ByteAt(s.Pos) == '{' {
		s.marked++
		s.Fix("tag", start)
		return false
	}
	for {
		s.Pos = s.SkipSpaces(s.Pos)
		name, rest, end := s.tagAt(s.Pos)
		shut := s.ByteAt(s.Pos+1) == '/'
		switch {
		case end > 0 && shut && name == tag:
			s.Pos = end
			return true
		case end > 0 && !shut && s.parameterTag(name, rest) != "":
		case len(n.Children) == 0:
			s.Pos = body
			return false
		case s.Pos >= len(s.Text) || end == 0 && !strings.Contains(s.Text[s.Pos:], ">"):
			return s.Truncated()
		default:
			return s.FailAt("syntax", s.Pos, "expected <PARAMETER> or </%s>", tag)
		}
		at := end
		k, ok := s.taggedValue(name, s.parameterTag(name, rest), end, func(next string) bool {
			return next == tag || next == name || s.InputName(next)
		})
		if !ok {
			return false
		}
		if text := s.Text[at:s.Pos]; slices.ContainsFunc(s.Root.Properties, func(p schema.Property) bool { return strings.Contains(text, "<"+p.Name+">") }) {
			return s.FailAt("ambiguous", at, "%s: it is not clear where the value ends: it contains the tag of a parameter", report.Quote(name))
		}
		n.Children = append(n.Children, k)
	}
}

// heldParameters reads these parameter tags and the closing tag.
func (s *scanner) heldParameters(tag, rest string, start, end int) bool {
	if callee := attribute(rest); strings.Contains(rest, "name=") && !s.Calls(callee, int(s.At(start))) {
		return false
	}
	n := node.Node{Kind: node.Object, Off: s.At(start)}
	s.Pos = end
	if !s.parameterTags(&n, tag, start) {
		return false
	}
	s.add(n, start, "tag")
	return true
}

// argPairs reads <arg_key>NAME</arg_key><arg_value>VALUE</arg_value> after the name of the tool, as GLM writes them. The
// opening <arg_value> may be missing.
func (s *scanner) argPairs() bool {
	start := s.Pos
	before := s.Text[max(0, start-token.MaxKey):start]
	callee := strings.TrimSpace(before[strings.LastIndexByte(before, '>')+1:])
	if callee != "" && !s.Calls(callee, int(s.At(start))) {
		return false
	}
	n := node.Node{Kind: node.Object, Off: s.At(start)}
	for s.Has(s.Pos, "<arg_key>") {
		at := s.Pos + len("<arg_key>")
		name, _, closed := strings.Cut(s.Text[at:], "</arg_key>")
		if !closed {
			return s.Truncated()
		}
		s.Pos = s.SkipSpaces(at + len(name) + len("</arg_key>"))
		if s.Has(s.Pos, "<arg_value>") {
			s.Pos += len("<arg_value>")
		}
		value, _, closed := strings.Cut(s.Text[s.Pos:], "</arg_value>")
		switch {
		case !closed:
			return s.Truncated()
		case strings.Contains(value, "<arg_") || strings.Contains(value, "</tool_call>"):
			return s.FailAt("ambiguous", s.Pos, "%s: it is not clear where the value ends: it contains a tag, or a closing tag is missing", report.Quote(name))
		}
		k := node.Node{Name: strings.TrimSpace(name), NameOff: s.At(at), Off: s.At(s.Pos)}
		n.Children = append(n.Children, s.rawValue(k, value))
		s.Pos = s.SkipSpaces(s.Pos + len(value) + len("</arg_value>"))
	}
	switch {
	case s.Pos >= len(s.Text):
		return s.Truncated()
	case !s.Has(s.Pos, "</tool_call"):
		return s.FailAt("ambiguous", s.Pos, "expected <arg_key> or </tool_call>")
	}
	s.add(n, start, "tag")
	return true
}

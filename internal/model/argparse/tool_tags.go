package argparse

import (
	"slices"
	"strings"
)

// toolTag reads a tag named after the tool, <search>, with a tag or an attribute for each
// parameter.
func (s *scanner) toolTag(start int) bool {
	s.pos = start + 1
	for s.pos < len(s.text) && (isWordByte(s.text[s.pos]) || s.text[s.pos] == '-' || s.text[s.pos] == ':') {
		s.pos++
	}
	tag := s.text[start+1 : s.pos]
	if k := s.skipSpaces(s.pos); s.byteAt(k) != '>' && !s.has(k, "/>") && !s.isKey(k) {
		return true // prose
	}
	n := node{kind: object, off: s.at(start)}
	closed, ok := s.attributes(&n)
	if !ok {
		return false
	}
	if !closed && !s.parameterTags(&n, tag, start) {
		if _, lines := s.linesAt(s.skipSpaces(s.pos)); lines && s.bad == nil && len(n.children) == 0 {
			s.marked++
			s.fix("tag", start)
			return s.linesUpTo("</" + tag + ">")
		}
		return s.bad == nil // other text: prose
	}
	s.add(n, start, "tag")
	return true
}

// attributes reads the attributes of a tag up to its end. closed reports whether it ends with
// />.
func (s *tagReader) attributes(n *node) (closed, ok bool) {
	for {
		s.pos = s.skipSpaces(s.pos)
		switch {
		case s.pos >= len(s.text):
			return false, s.truncated()
		case s.text[s.pos] == '>':
			s.pos++
			return false, true
		case s.has(s.pos, "/>"):
			s.pos += 2
			return true, true
		}
		at, end := s.pos, s.bareKey(s.pos)
		q := s.byteAt(end + 1)
		if word := s.bareKey(end + 1); end > at && s.byteAt(end) == '=' && word > end+1 {
			s.pos = word
			n.children = append(n.children, node{kind: bare, name: s.text[at:end], nameOff: s.at(at), off: s.at(end + 1), text: s.text[end+1 : word]})
			continue
		}
		if end == at || s.byteAt(end) != '=' || q != '"' && q != '\'' {
			return false, s.failAt("syntax", at, "expected NAME=\"VALUE\" in the tag")
		}
		value, _, found := strings.Cut(s.text[end+2:], string(q))
		if !found {
			return false, s.truncated()
		}
		name := s.text[at:end]
		if strings.Contains(value, "&") && strings.Contains(value, ";") {
			return false, s.failAt("ambiguous", end+2, "%s: & may begin an entity or be text; send JSON", quote(name))
		}
		s.pos = end + 2 + len(value) + 1
		n.children = append(n.children, s.rawValue(node{name: name, nameOff: s.at(at), off: s.at(end + 2)}, value))
	}
}

// parameterTags reads the parameter tags inside a tag, and its closing tag. It returns false
// if the tag contains an object or prose.
func (s *scanner) parameterTags(n *node, tag string, start int) bool {
	body := s.pos
	if s.pos = s.skipSpaces(body); s.byteAt(s.pos) == '{' {
		s.marked++
		s.fix("tag", start)
		return false
	}
	for {
		s.pos = s.skipSpaces(s.pos)
		name, rest, end := s.tagAt(s.pos)
		shut := s.byteAt(s.pos+1) == '/'
		switch {
		case end > 0 && shut && name == tag:
			s.pos = end
			return true
		case end > 0 && !shut && s.parameterTag(name, rest) != "":
		case len(n.children) == 0:
			s.pos = body
			return false
		case s.pos >= len(s.text) || end == 0 && !strings.Contains(s.text[s.pos:], ">"):
			return s.truncated()
		default:
			return s.failAt("syntax", s.pos, "expected <PARAMETER> or </%s>", tag)
		}
		at := end
		k, ok := s.taggedValue(name, s.parameterTag(name, rest), end, func(next string) bool {
			return next == tag || next == name || s.inputName(next)
		})
		if !ok {
			return false
		}
		if text := s.text[at:s.pos]; slices.ContainsFunc(s.root.Properties, func(p Property) bool { return strings.Contains(text, "<"+p.Name+">") }) {
			return s.failAt("ambiguous", at, "%s: it is not clear where the value ends: it contains the tag of a parameter", quote(name))
		}
		n.children = append(n.children, k)
	}
}

// parameterTag returns the parameter that a tag stands for, by its own name or its attribute,
// or "".
func (s *tagReader) parameterTag(name, rest string) string {
	switch {
	case name == "parameter" || name == "param" || name == "arg":
		return attribute(rest)
	case rest == "" && s.inputName(name):
		return name
	}
	return ""
}

// holdsParameters reports whether the tag that ends at end contains parameter tags.
func (s *tagReader) holdsParameters(end int) bool {
	k := s.skipSpaces(end)
	name, rest, inner := s.tagAt(k)
	return inner > 0 && s.byteAt(k+1) != '/' && s.parameterTag(name, rest) != ""
}

// heldParameters reads these parameter tags and the closing tag.
func (s *scanner) heldParameters(tag, rest string, start, end int) bool {
	if callee := attribute(rest); strings.Contains(rest, "name=") && !s.calls(callee, int(s.at(start))) {
		return false
	}
	n := node{kind: object, off: s.at(start)}
	s.pos = end
	if !s.parameterTags(&n, tag, start) {
		return false
	}
	s.add(n, start, "tag")
	return true
}

// argPairs reads <arg_key>NAME</arg_key><arg_value>VALUE</arg_value> after the name of the
// tool, as GLM writes them. The opening <arg_value> may be missing.
func (s *scanner) argPairs() bool {
	start := s.pos
	before := s.text[max(0, start-maxKey):start]
	callee := strings.TrimSpace(before[strings.LastIndexByte(before, '>')+1:])
	if callee != "" && !s.calls(callee, int(s.at(start))) {
		return false
	}
	n := node{kind: object, off: s.at(start)}
	for s.has(s.pos, "<arg_key>") {
		at := s.pos + len("<arg_key>")
		name, _, closed := strings.Cut(s.text[at:], "</arg_key>")
		if !closed {
			return s.truncated()
		}
		s.pos = s.skipSpaces(at + len(name) + len("</arg_key>"))
		if s.has(s.pos, "<arg_value>") {
			s.pos += len("<arg_value>")
		}
		value, _, closed := strings.Cut(s.text[s.pos:], "</arg_value>")
		switch {
		case !closed:
			return s.truncated()
		case strings.Contains(value, "<arg_") || strings.Contains(value, "</tool_call>"):
			return s.failAt("ambiguous", s.pos, "%s: it is not clear where the value ends: it contains a tag, or a closing tag is missing", quote(name))
		}
		k := node{name: strings.TrimSpace(name), nameOff: s.at(at), off: s.at(s.pos)}
		n.children = append(n.children, s.rawValue(k, value))
		s.pos = s.skipSpaces(s.pos + len(value) + len("</arg_value>"))
	}
	switch {
	case s.pos >= len(s.text):
		return s.truncated()
	case !s.has(s.pos, "</tool_call"):
		return s.failAt("ambiguous", s.pos, "expected <arg_key> or </tool_call>")
	}
	s.add(n, start, "tag")
	return true
}

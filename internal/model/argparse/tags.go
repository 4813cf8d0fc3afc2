package argparse

import (
	"slices"
	"strings"
)

// These tags surround thinking sections and calls.
var (
	thinkingTags = []string{"think", "thinking", "reasoning", "thought", "reflection", "analysis"}
	callTags     = []string{"tool_call", "tool_calls", "tool_use", "tool", "function_call", "function_calls", "arguments", "parameters", "args", "input", "json", "call"}
)

// thoughts skips the thinking sections at the start of a text.
func (s *scanner) thoughts(start int) bool {
	s.pos = start
	for {
		s.pos = s.skipSpaces(s.pos)
		name, rest, end := s.tagAt(s.pos)
		if end == 0 || rest != "" || !slices.Contains(thinkingTags, strings.ToLower(name)) || s.byteAt(s.pos+1) == '/' {
			return true
		}
		if !s.thinking(strings.ToLower(name), end, false) {
			return false
		}
	}
}

// tagAt returns the name of the tag at i, the text after the name, and the end of the tag, 0
// if there is no tag.
func (d *tagReader) tagAt(i int) (name, rest string, end int) {
	if d.byteAt(i) != '<' {
		return "", "", 0
	}
	j := i + 1
	if d.byteAt(j) == '/' {
		j++
	}
	k := j
	for k < len(d.text) && k-j < 40 && (isWordByte(d.text[k]) || d.text[k] == '-' || d.text[k] == ':') {
		k++
	}
	shut := strings.IndexByte(d.text[k:min(len(d.text), k+300)], '>')
	d.Use(40)
	if k == j || shut < 0 {
		return "", "", 0
	}
	return d.text[j:k], d.text[k : k+shut], k + shut + 1
}

// tag skips a tag, or reads its content.
func (s *scanner) tag() bool {
	start := s.pos
	name, rest, end := s.tagAt(start)
	shut := s.byteAt(start+1) == '/'
	if end == 0 {
		return s.sign()
	}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	name = strings.ToLower(name)
	switch {
	case slices.Contains(thinkingTags, name) && rest == "":
		return s.thinking(name, end, shut)
	case shut && (slices.Contains(callTags, name) || name == "function" || name == "invoke" || s.isTool(name)):
		s.marked = max(s.marked-1, 0)
		s.pos = end
	case shut && name != "parameter":
		s.pos = end
	case name == "function" && strings.HasPrefix(strings.TrimSpace(rest), "="), name == "invoke" || name == "function" && strings.Contains(rest, "name="):
		return s.taggedCall(name, attribute(rest), start, end)
	case name == "arg_key" && s.marked > 0 && rest == "":
		return s.argPairs()
	case name == "parameter" || name == "param" || name == "arg_key" || name == "arg_value":
		return s.failAt("ambiguous", start, "the tag <%s> is outside of a call", name)
	case isToolWord(name) && name != "function" && s.marked > 0 && name != "tool":
		callee, _, _ := strings.Cut(s.text[end:min(len(s.text), end+maxKey)], "<")
		s.pos = end
		return s.calls(strings.TrimSpace(callee), int(s.at(end)))
	case slices.Contains(callTags, name) && s.holdsParameters(end):
		return s.heldParameters(s.text[start+1:start+1+len(name)], rest, start, end)
	case slices.Contains(callTags, name):
		s.pos = end
		s.marked++
		s.fix("tag", start)
		return s.linesUpTo("</" + name + ">")
	case !shut && s.isTool(name):
		return s.toolTag(start)
	default:
		s.pos++
	}
	return true
}

// sign skips a < that does not start a tag. A tag that is truncated at the end of the text is
// an error.
func (s *scanner) sign() bool {
	s.pos++
	i := s.pos
	if s.byteAt(i) == '/' {
		i++
	}
	end := s.bareKey(i)
	name := strings.ToLower(s.text[i:end])
	known := name == "parameter" || name == "function" || name == "invoke" || slices.Contains(callTags, name)
	if end > i && (end == len(s.text) || known && len(s.text)-end < maxKey && !strings.Contains(s.text[end:], ">")) {
		return s.truncated()
	}
	return true
}

// inKnownTag refuses an object inside a tag that is not part of a call: it may be the value of
// something else.
func (s *tagReader) inKnownTag(start, shut int) bool {
	from := max(0, shut-300)
	open := strings.LastIndexByte(s.text[from:shut], '<')
	if open < 0 {
		return true
	}
	name, _, end := s.tagAt(from + open)
	name = strings.ToLower(name[strings.LastIndexByte(name, ':')+1:])
	if end != shut+1 || slices.Contains(thinkingTags, name) || slices.Contains(callTags, name) || name == "function" || name == "invoke" || s.isTool(name) || s.byteAt(from+open+1) == '/' {
		return true
	}
	return s.failAt("ambiguous", start, "this object is inside the tag <%s>, which is not part of a call", name)
}

// attribute returns the name in a tag: =NAME or name="NAME".
func attribute(rest string) string {
	_, v, _ := strings.Cut(rest, "=")
	v, _, _ = strings.Cut(strings.TrimSpace(v), " ")
	return strings.Trim(v, `"'/ `)
}

// thinking skips a thinking section. A closing tag without an opening one discards everything
// before it.
func (s *scanner) thinking(name string, end int, shut bool) bool {
	s.fix("thinking", s.pos)
	if shut {
		if s.sawThinking {
			return s.failAt("ambiguous", s.pos, "the thinking section is closed twice")
		}
		if s.loose {
			return s.failAt("ambiguous", s.pos, "this tag may end the thinking section or be part of the value before it")
		}
		s.found, s.marked, s.sawThinking = nil, 0, true
		s.pos = end
		return true
	}
	s.sawThinking = true
	i := strings.Index(s.text[end:], "</"+name+">")
	if i < 0 {
		return s.failAt("truncated", len(s.text), "the thinking section is not closed, so the call was truncated")
	}
	s.pos = end + i + len(name) + 3
	return true
}

// taggedCall reads <function=NAME> with an object, lines, or a tag for each parameter.
func (s *scanner) taggedCall(tag, callee string, start, end int) bool {
	if !s.calls(callee, int(s.at(start))) {
		return false
	}
	s.pos = s.skipSpaces(end)
	s.marked++
	if s.byteAt(s.pos) == '{' {
		s.fix("tag", start)
		return true // read by run
	}
	if _, lines := s.linesAt(s.pos); lines {
		s.fix("tag", start)
		return s.linesUpTo("</" + tag + ">")
	}
	n := node{kind: object, off: s.at(start)}
	for {
		s.pos = s.skipSpaces(s.pos)
		name, rest, end := s.tagAt(s.pos)
		switch {
		case s.pos >= len(s.text):
			return s.truncated()
		case end > 0 && s.byteAt(s.pos+1) == '/' && name == tag:
			s.pos = end
			s.add(n, start, "tag")
			s.marked--
			return true
		case end == 0 && !strings.Contains(s.text[s.pos:], ">"):
			return s.truncated()
		case end == 0 || s.byteAt(s.pos+1) == '/' || s.parameterTag(name, rest) == "":
			return s.failAt("syntax", s.pos, "expected <parameter=NAME> or </%s>", tag)
		}
		k, ok := s.taggedValue(name, s.parameterTag(name, rest), end, func(next string) bool {
			return next == name || next == "function" || next == "invoke" || s.inputName(name) && s.inputName(next)
		})
		if !ok {
			return false
		}
		n.children = append(n.children, k)
	}
}

// taggedValue reads the value of a parameter whose opening tag ends at end. mayFollow reports
// which tags may follow it.
func (s *tagReader) taggedValue(tag, name string, end int, mayFollow func(string) bool) (node, bool) {
	start := s.pos
	n := node{name: name, nameOff: s.at(start), off: s.at(end)}
	shut := "</" + tag + ">"
	skip := 0
	text, cdata := s.cdata(end)
	if cdata {
		skip = strings.Index(s.text[end:], "]]>")
	}
	i := strings.Index(s.text[end+skip:], shut)
	if i < 0 {
		return n, s.truncated()
	}
	i += skip
	if !cdata {
		text = s.text[end : end+i]
	} else if !isSpaces(s.text[end+skip+len("]]>") : end+i]) {
		return n, s.failAt("ambiguous", end+skip, "%s: unexpected text after ]]>", quote(name))
	}
	s.pos = end + i + len(shut)
	k := s.skipSpaces(s.pos)
	next, _, nextEnd := s.tagAt(k)
	if k < len(s.text) && (s.text[k] != '<' || nextEnd > 0 && !mayFollow(next)) || strings.Contains(text, "<"+tag+"=") || strings.Contains(text, "<"+tag+" name=") {
		return n, s.failAt("ambiguous", s.pos, "%s: it is not clear where the value ends: it contains a tag, or a closing tag is missing", quote(name))
	}
	if cdata {
		n.kind, n.text = quoted, text
		return n, true
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "<") || s.schemaOf(name).allows("string") {
		text, ok := s.unindented(text, start)
		return s.rawValue(n, text), ok || s.failAt("ambiguous", end, "%s: it is not clear whether the indentation is part of the text; send JSON", quote(name))
	}
	return s.childTags(n, end, text)
}

// unindented removes the indentation of a one-line text between tags that are indented on
// lines of their own. start is the position of the opening tag. ok is false for several lines,
// where the indentation may be part of the text.
func (s *tagReader) unindented(text string, start int) (_ string, ok bool) {
	line, broken := strings.CutPrefix(text, "\n")
	i := strings.LastIndexByte(line, '\n')
	if !broken || i < 0 {
		return text, true
	}
	indent := line[i+1:]
	if indent == "" || !isSpaces(indent) || s.text[start-s.column(start):start] != indent {
		return text, true
	}
	return strings.TrimSpace(line), !strings.Contains(line[:i], "\n")
}

// schemaOf returns the schema of a parameter, or nil.
func (s *tagReader) schemaOf(name string) *Schema {
	if p, _ := s.property(s.root, name); p >= 0 {
		return s.root.Properties[p].Schema
	}
	return nil
}

// childTags reads a value written as tags: the items of an array in tags with the same name,
// or the members of an object. from is the position of the text.
func (s *tagReader) childTags(n node, from int, text string) (node, bool) {
	inner := s.schemaOf(n.name)
	n.kind = array
	if inner.allows("object") {
		n.kind = object
	}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		name, after, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		value, next, closed := strings.Cut(after, "</"+name+">")
		if !ok || !closed || rest[0] != '<' || strings.ContainsAny(name, " /<=") || strings.ContainsAny(value, "<\n") || n.kind == array && len(n.children) > 0 && name != n.children[0].name {
			return n, s.failAt("ambiguous", from, "%s: it is not clear what the tags inside the value mean; send JSON", quote(n.name))
		}
		s.Use(len(rest))
		n.children = append(n.children, node{kind: quoted, name: name, nameOff: n.off, off: n.off, text: value})
		rest = next
	}
	return n, s.spend(0, from)
}

// rawValue returns the node for the raw text between the tags of a parameter. A text loses one
// line break at each end; other types are parsed later.
func (s *tagReader) rawValue(n node, text string) node {
	if s.schemaOf(n.name).allows("string") {
		if rest, windows := strings.CutPrefix(text, "\r\n"); windows {
			text = strings.TrimSuffix(strings.TrimSuffix(rest, "\n"), "\r")
		} else {
			text = strings.TrimSuffix(strings.TrimPrefix(text, "\n"), "\n")
		}
		n.kind, n.text = quoted, text
		return n
	}
	n.kind, n.text = bare, strings.TrimSpace(text)
	n.off += int32(strings.Index(text, n.text))
	return n
}

// cdata returns the content of the CDATA section at i.
func (s *tagReader) cdata(i int) (string, bool) {
	rest, ok := strings.CutPrefix(s.text[s.skipSpaces(i):], "<![CDATA[")
	if !ok {
		return "", false
	}
	text, _, closed := strings.Cut(rest, "]]>")
	return text, closed
}

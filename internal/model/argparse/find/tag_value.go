package find

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// attribute returns the name in a tag: =NAME or name="NAME".
func attribute(rest string) string {
	_, v, _ := strings.Cut(rest, "=")
	v, _, _ = strings.Cut(strings.TrimSpace(v), " ")
	return strings.Trim(v, `"'/ `)
}

// These tags surround thinking sections and calls.
var (
	thinkingTags = []string{"think", "thinking", "reasoning", "thought", "reflection", "analysis"}
	callTags     = []string{"tool_call", "tool_calls", "tool_use", "tool", "function_call", "function_calls", "arguments", "parameters", "args", "input", "json", "call"}
)

// tagReader reads values between tags.
type tagReader struct{ *grammar.Parser }

// tagAt returns the name of the tag at i, the text after the name, and the end of the tag, 0 if there is no tag.
func (d *tagReader) tagAt(i int) (name, rest string, end int) {
	if d.ByteAt(i) != '<' {
		return "", "", 0
	}
	j := i + 1
	if d.ByteAt(j) == '/' {
		j++
	}
	k := j
	for k < len(d.Text) && k-j < 40 && (token.IsWordByte(d.Text[k]) || d.Text[k] == '-' || d.Text[k] == ':') {
		k++
	}
	shut := strings.IndexByte(d.Text[k:min(len(d.Text), k+300)], '>')
	d.Use(40)
	if k == j || shut < 0 {
		return "", "", 0
	}
	return d.Text[j:k], d.Text[k : k+shut], k + shut + 1
}

// inKnownTag refuses an object inside a tag that is not part of a call: it may be the value of something else.
func (s *tagReader) inKnownTag(start, shut int) bool {
	from := max(0, shut-300)
	open := strings.LastIndexByte(s.Text[from:shut], '<')
	if open < 0 {
		return true
	}
	name, _, end := s.tagAt(from + open)
	name = strings.ToLower(name[strings.LastIndexByte(name, ':')+1:])
	if end != shut+1 || slices.Contains(thinkingTags, name) || slices.Contains(callTags, name) || name == "function" || name == "invoke" || s.IsTool(name) || s.ByteAt(from+open+1) == '/' {
		return true
	}
	return s.FailAt("ambiguous", start, "this object is inside the tag <%s>, which is not part of a call", name)
}

// taggedValue reads the value of a parameter whose opening tag ends at end. mayFollow reports which tags may follow it.
func (s *tagReader) taggedValue(tag, name string, end int, mayFollow func(string) bool) (node.Node, bool) {
	start := s.Pos
	n := node.Node{Name: name, NameOff: s.At(start), Off: s.At(end)}
	shut := "</" + tag + ">"
	skip := 0
	text, cdata := s.cdata(end)
	if cdata {
		skip = strings.Index(s.Text[end:], "]]>")
	}
	i := strings.Index(s.Text[end+skip:], shut)
	if i < 0 {
		return n, s.Truncated()
	}
	i += skip
	if !cdata {
		text = s.Text[end : end+i]
	} else if !node.IsSpaces(s.Text[end+skip+len("]]>") : end+i]) {
		return n, s.FailAt("ambiguous", end+skip, "%s: unexpected text after ]]>", report.Quote(name))
	}
	s.Pos = end + i + len(shut)
	k := s.SkipSpaces(s.Pos)
	next, _, nextEnd := s.tagAt(k)
	if k < len(s.Text) && (s.Text[k] != '<' || nextEnd > 0 && !mayFollow(next)) || strings.Contains(text, "<"+tag+"=") || strings.Contains(text, "<"+tag+" name=") {
		return n, s.FailAt("ambiguous", s.Pos, "%s: it is not clear where the value ends: it contains a tag, or a closing tag is missing", report.Quote(name))
	}
	if cdata {
		n.Kind, n.Text = node.Quoted, text
		return n, true
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "<") || s.schemaOf(name).Allows("string") {
		text, ok := s.unindented(text, start)
		return s.rawValue(n, text), ok || s.FailAt("ambiguous", end, "%s: it is not clear whether the indentation is part of the text; send JSON", report.Quote(name))
	}
	return s.childTags(n, end, text)
}

// unindented removes the indentation of a one-line text between tags that are indented on lines of their own. start is the
// position of the opening tag. ok is false for several lines, where the indentation may be part of the text.
func (s *tagReader) unindented(text string, start int) (_ string, ok bool) {
	line, broken := strings.CutPrefix(text, "\n")
	i := strings.LastIndexByte(line, '\n')
	if !broken || i < 0 {
		return text, true
	}
	indent := line[i+1:]
	if indent == "" || !node.IsSpaces(indent) || s.Text[start-s.Column(start):start] != indent {
		return text, true
	}
	return strings.TrimSpace(line), !strings.Contains(line[:i], "\n")
}

// schemaOf returns the schema of a parameter, or nil.
func (s *tagReader) schemaOf(name string) *schema.Schema {
	if p, _ := s.Property(s.Root, name); p >= 0 {
		return s.Root.Properties[p].Schema
	}
	return nil
}

// childTags reads a value written as tags: the items of an array in tags with the same name, or the members of an object.
// from is the position of the text.
func (s *tagReader) childTags(n node.Node, from int, text string) (node.Node, bool) {
	inner := s.schemaOf(n.Name)
	n.Kind = node.Array
	if inner.Allows("object") {
		n.Kind = node.Object
	}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		name, after, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		value, next, closed := strings.Cut(after, "</"+name+">")
		if !ok || !closed || rest[0] != '<' || strings.ContainsAny(name, " /<=") || strings.ContainsAny(value, "<\n") || n.Kind == node.Array && len(n.Children) > 0 && name != n.Children[0].Name {
			return n, s.FailAt("ambiguous", from, "%s: it is not clear what the tags inside the value mean; send JSON", report.Quote(n.Name))
		}
		s.Use(len(rest))
		n.Children = append(n.Children, node.Node{Kind: node.Quoted, Name: name, NameOff: n.Off, Off: n.Off, Text: value})
		rest = next
	}
	return n, s.Spend(0, from)
}

// rawValue returns the node for the raw text between the tags of a parameter. A text loses one line break at each end;
// other types are parsed later.
func (s *tagReader) rawValue(n node.Node, text string) node.Node {
	if s.schemaOf(n.Name).Allows("string") {
		if rest, windows := strings.CutPrefix(text, "\r\n"); windows {
			text = strings.TrimSuffix(strings.TrimSuffix(rest, "\n"), "\r")
		} else {
			text = strings.TrimSuffix(strings.TrimPrefix(text, "\n"), "\n")
		}
		n.Kind, n.Text = node.Quoted, text
		return n
	}
	n.Kind, n.Text = node.Bare, strings.TrimSpace(text)
	n.Off += int32(strings.Index(text, n.Text))
	return n
}

// cdata returns the content of the CDATA section at i.
func (s *tagReader) cdata(i int) (string, bool) {
	rest, ok := strings.CutPrefix(s.Text[s.SkipSpaces(i):], "<![CDATA[")
	if !ok {
		return "", false
	}
	text, _, closed := strings.Cut(rest, "]]>")
	return text, closed
}

// attributes reads the attributes of a tag up to its end. closed reports whether it ends with />.
func (s *tagReader) attributes(n *node.Node) (closed, ok bool) {
	for {
		s.Pos = s.SkipSpaces(s.Pos)
		switch {
		case s.Pos >= len(s.Text):
			return false, s.Truncated()
		case s.Text[s.Pos] == '>':
			s.Pos++
			return false, true
		case s.Has(s.Pos, "/>"):
			s.Pos += 2
			return true, true
		}
		at, end := s.Pos, s.BareKey(s.Pos)
		q := s.ByteAt(end + 1)
		if word := s.BareKey(end + 1); end > at && s.ByteAt(end) == '=' && word > end+1 {
			s.Pos = word
			n.Children = append(n.Children, node.Node{Kind: node.Bare, Name: s.Text[at:end], NameOff: s.At(at), Off: s.At(end + 1), Text: s.Text[end+1 : word]})
			continue
		}
		if end == at || s.ByteAt(end) != '=' || q != '"' && q != '\'' {
			return false, s.FailAt("syntax", at, "expected NAME=\"VALUE\" in the tag")
		}
		value, _, found := strings.Cut(s.Text[end+2:], string(q))
		if !found {
			return false, s.Truncated()
		}
		name := s.Text[at:end]
		if strings.Contains(value, "&") && strings.Contains(value, ";") {
			return false, s.FailAt("ambiguous", end+2, "%s: & may begin an entity or be text; send JSON", report.Quote(name))
		}
		s.Pos = end + 2 + len(value) + 1
		n.Children = append(n.Children, s.rawValue(node.Node{Name: name, NameOff: s.At(at), Off: s.At(end + 2)}, value))
	}
}

// parameterTag returns the parameter that a tag stands for, by its own name or its attribute, or "".
func (s *tagReader) parameterTag(name, rest string) string {
	switch {
	case name == "parameter" || name == "param" || name == "arg":
		return attribute(rest)
	case rest == "" && s.InputName(name):
		return name
	}
	return ""
}

// holdsParameters reports whether the tag that ends at end contains parameter tags.
func (s *tagReader) holdsParameters(end int) bool {
	k := s.SkipSpaces(end)
	name, rest, inner := s.tagAt(k)
	return inner > 0 && s.ByteAt(k+1) != '/' && s.parameterTag(name, rest) != ""
}

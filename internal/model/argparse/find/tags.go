package find

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// thoughts skips the thinking sections at the start of a text.
func (s *scanner) thoughts(start int) bool {
	s.Pos = start
	for {
		s.Pos = s.SkipSpaces(s.Pos)
		name, rest, end := s.tagAt(s.Pos)
		if end == 0 || rest != "" || !slices.Contains(thinkingTags, strings.ToLower(name)) || s.ByteAt(s.Pos+1) == '/' {
			return true
		}
		if !s.thinking(strings.ToLower(name), end, false) {
			return false
		}
	}
}

// tag skips a tag, or reads its content.
func (s *scanner) tag() bool {
	start := s.Pos
	name, rest, end := s.tagAt(start)
	shut := s.ByteAt(start+1) == '/'
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
	case shut && (slices.Contains(callTags, name) || name == "function" || name == "invoke" || s.IsTool(name)):
		s.marked = max(s.marked-1, 0)
		s.Pos = end
	case shut && name != "parameter":
		s.Pos = end
	case name == "function" && strings.HasPrefix(strings.TrimSpace(rest), "="), name == "invoke" || name == "function" && strings.Contains(rest, "name="):
		return s.taggedCall(name, attribute(rest), start, end)
	case name == "arg_key" && s.marked > 0 && rest == "":
		return s.argPairs()
	case name == "parameter" || name == "param" || name == "arg_key" || name == "arg_value":
		return s.FailAt("ambiguous", start, "the tag <%s> is outside of a call", name)
	case schema.IsToolWord(name) && name != "function" && s.marked > 0 && name != "tool":
		callee, _, _ := strings.Cut(s.Text[end:min(len(s.Text), end+token.MaxKey)], "<")
		s.Pos = end
		return s.Calls(strings.TrimSpace(callee), int(s.At(end)))
	case (slices.Contains(callTags, name) || s.Tool == "" && !shut && !s.InputName(name)) && s.holdsParameters(end):
		return s.heldParameters(s.Text[start+1:start+1+len(name)], rest, start, end)
	case slices.Contains(callTags, name):
		s.Pos = end
		s.marked++
		s.Fix("tag", start)
		return s.linesUpTo("</" + name + ">")
	case !shut && s.IsTool(name):
		return s.toolTag(start)
	default:
		s.Pos++
	}
	return true
}

// sign skips a < that does not start a tag. A tag that is truncated at the end of the text is an error.
func (s *scanner) sign() bool {
	s.Pos++
	i := s.Pos
	if s.ByteAt(i) == '/' {
		i++
	}
	end := s.BareKey(i)
	name := strings.ToLower(s.Text[i:end])
	known := name == "parameter" || name == "function" || name == "invoke" || slices.Contains(callTags, name)
	if end > i && (end == len(s.Text) || known && len(s.Text)-end < token.MaxKey && !strings.Contains(s.Text[end:], ">")) {
		return s.Truncated()
	}
	return true
}

// thinking skips a thinking section. A closing tag without an opening one discards everything before it.
func (s *scanner) thinking(name string, end int, shut bool) bool {
	s.Fix("thinking", s.Pos)
	if shut {
		if s.sawThinking {
			return s.FailAt("ambiguous", s.Pos, "the thinking section is closed twice")
		}
		if s.loose {
			return s.FailAt("ambiguous", s.Pos, "this tag may end the thinking section or be part of the value before it")
		}
		s.found, s.marked, s.sawThinking = nil, 0, true
		s.Pos = end
		return true
	}
	s.sawThinking = true
	i := strings.Index(s.Text[end:], "</"+name+">")
	if i < 0 {
		return s.FailAt("truncated", len(s.Text), "the thinking section is not closed, so the call was truncated")
	}
	s.Pos = end + i + len(name) + 3
	return true
}

// taggedCall reads <function=NAME> with an object, lines, or a tag for each parameter.
func (s *scanner) taggedCall(tag, callee string, start, end int) bool {
	if !s.Calls(callee, int(s.At(start))) {
		return false
	}
	s.Pos = s.SkipSpaces(end)
	s.marked++
	if s.ByteAt(s.Pos) == '{' {
		s.Fix("tag", start)
		return true // read by run
	}
	if _, lines := s.linesAt(s.Pos); lines {
		s.Fix("tag", start)
		return s.linesUpTo("</" + tag + ">")
	}
	n := node.Node{Kind: node.Object, Off: s.At(start)}
	for {
		s.Pos = s.SkipSpaces(s.Pos)
		name, rest, end := s.tagAt(s.Pos)
		switch {
		case s.Pos >= len(s.Text):
			return s.Truncated()
		case end > 0 && s.ByteAt(s.Pos+1) == '/' && name == tag:
			s.Pos = end
			s.add(n, start, "tag")
			s.marked--
			return true
		case end == 0 && !strings.Contains(s.Text[s.Pos:], ">"):
			return s.Truncated()
		case end == 0 || s.ByteAt(s.Pos+1) == '/' || s.parameterTag(name, rest) == "":
			return s.FailAt("syntax", s.Pos, "expected <parameter=NAME> or </%s>", tag)
		}
		k, ok := s.taggedValue(name, s.parameterTag(name, rest), end, func(next string) bool {
			return next == name || next == "function" || next == "invoke" || s.InputName(name) && s.InputName(next)
		})
		if !ok {
			return false
		}
		n.Children = append(n.Children, k)
	}
}

// fence reads the line of a code fence. After an opening fence, candidates are marked. The fence ends with the candidate
// that is read, not at the next backticks: these may be part of a text.
func (s *scanner) fence() bool {
	mark := s.Text[s.Pos]
	start := s.Pos
	for s.ByteAt(s.Pos) == mark {
		s.Pos++
	}
	if s.marked > 0 {
		s.marked--
		s.fenced = false
		return true
	}
	s.marked++
	s.fenced = true
	// the language of the fence: json, tool_call, python
	end := s.Pos
	for end < len(s.Text) && end-s.Pos < 40 && (token.IsWordByte(s.Text[end]) || s.Text[end] == '+' || s.Text[end] == '-') {
		end++
	}
	if k := s.SkipLineSpaces(end); s.LineEnd(k) || strings.ContainsRune("{[<", rune(s.Text[k])) {
		s.Pos = k
	} else if word := strings.ToLower(s.Text[s.Pos:end]); word == "json" || word == "json5" || word == "tool_call" {
		s.Pos = k
	}
	s.Fix("fence", start)
	return s.linesUpTo(strings.Repeat(string(mark), 3))
}

package find

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// word skips a word of prose, or reads the call that starts with it: search(query="x").
func (s *scanner) word() bool {
	start := s.Pos
	end := s.BareKey(start)
	if end == start {
		s.Pos++
		return true
	}
	name := strings.Trim(s.Text[start:end], ".")
	open := end
	atStart := start == s.first || s.marked > 0 && len(s.found) == 0
	if atStart {
		open = s.SkipLineSpaces(end)
	}
	if k, ok := s.spacedPairs(name, start, open); ok {
		return s.region(k, len(s.Text))
	}
	if s.ByteAt(open) != '(' {
		s.Pos = end
		s.noteLoose(s.assigned(name, end))
		return s.addressed(start, end)
	}
	dispatcher := slices.Contains(dispatchers, schema.LastPart(name)) && !s.IsTool(name)
	ours := s.IsTool(name) || slices.Contains(wrappers, name) && s.arguments(open, atStart)
	s.Pos = open
	if !ours && !dispatcher {
		if !s.arguments(open, atStart) {
			s.Pos = end
			return true
		}
		if !s.Calls(name, int(s.At(start))) {
			return false
		}
	}
	n, ok := s.parenthesis(dispatcher)
	if !ok {
		return false
	}
	if from := s.wrapped(start); from < start {
		start = from
		s.Pos++
	} else if !s.alone(start) {
		return false
	}
	s.add(n, start, "call")
	return true
}

// pairs reads names and values in the brackets at pos: (p=10, d=100).
func (s *scanner) pairs(closer byte) bool {
	start := s.Pos
	s.Pos++
	n, ok := s.Members(start, lookahead.Frame{Closer: closer, Schema: s.Root})
	if ok {
		s.add(n, start, "bracket")
	}
	return ok
}

// isPairs reports whether the bracket at pos contains names and values. It must be at the start of the text, or of the
// fence or tag.
func (s *scanner) isPairs() bool {
	if s.Pos != s.first && (s.marked == 0 || len(s.found) > 0) {
		return false
	}
	k := s.SkipSpaces(s.Pos + 1)
	if !s.InputAt(k) {
		return false
	}
	after := s.BareKey(k)
	if q := s.QuoteAt(k); q != nil {
		at, size := s.NextClose(q, k+len(q.Open))
		after = at + size
	}
	after = s.SkipSpaces(after)
	return s.ByteAt(after) == '=' || s.Definite(s.SkipLineSpaces(after+s.SeparatorAt(after)))
}

// spacedPairs reports whether the text starts with the name of the tool and names with values follow: search query="cats"
// limit=5.
func (s *scanner) spacedPairs(name string, start, after int) (int, bool) {
	if start != s.first || !s.IsTool(name) || s.ByteAt(after) == '(' {
		return 0, false
	}
	if s.ByteAt(after) == ':' {
		after = s.SkipLineSpaces(after + 1)
	}
	return after, s.InputAt(after) && s.QuoteAt(after) == nil && s.IsSeparator(s.BareKey(after))
}

// addressed refuses prose that names another tool: "Action: NAME", "to=functions.NAME" and "[TOOL_CALLS]NAME", before the
// object or a marker such as [ARGS].
func (s *scanner) addressed(start, end int) bool {
	i := end + 1
	switch word := s.Text[start:end]; {
	case word == "to" && s.Has(i, "functions."):
	case (word == "Action" || word == "Tool" || word == "Function") && s.ByteAt(end) == ':' && (start == 0 || s.Text[start-1] == '\n'):
		i = s.SkipLineSpaces(i)
	case strings.HasSuffix(strings.TrimRight(s.Text[:start], " "), "[TOOL_CALLS]") && s.beforeArguments(s.SkipLineSpaces(end)):
		i = start
	default:
		return true
	}
	name := s.Text[i:s.BareKey(i)]
	return name == "" || s.Calls(name, int(s.At(i)))
}

// beforeArguments reports whether an object or a marker is at i.
func (s *scanner) beforeArguments(i int) bool {
	return s.ByteAt(i) == '{' || s.ByteAt(i) == '[' && s.marker(i) > i+1
}

// dispatchers are the functions that models call with the name of a tool.
var dispatchers = []string{"execute_tool", "call_tool", "callTool", "use_tool", "run_tool", "invoke_tool", "tool_call", "tool", "execute"}

// wrappers are the language functions that models write around arguments.
var wrappers = []string{"dict", "print", "json.dumps", "json.loads", "JSON.stringify", "JSON.parse"}

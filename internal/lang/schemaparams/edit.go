package schemaparams

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// Edit returns the edit that replaces the block of a schema by the converted mapping. It returns nil if the result does
// not say everything, or if the schema is not a block of its own lines.
func Edit(s *diagnostic.Source, n *yaml.Node, r Result) []diagnostic.Edit {
	if !r.Complete || n.Style&yaml.FlowStyle != 0 || n.Line < 1 || refers(n) {
		return nil
	}
	indent := n.Column - 1
	first := s.Line(n.Line)
	if indent > len(first) || len(bytes.TrimLeft(first[:indent], " ")) > 0 {
		return nil
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(r.Node); err != nil {
		return nil
	}
	pad := strings.Repeat(" ", indent)
	text := pad + strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), "\n", s.Newline()+pad)
	last := lastLine(s, n.Line, indent)
	from := s.Lines[n.Line-1]
	to := s.Lines[last-1] + len(s.Line(last))
	return s.Edit(from, to, text)
}

// lastLine returns the last line of a block that begins on a line.
func lastLine(s *diagnostic.Source, line, indent int) int {
	last := line
	for i := line + 1; i <= len(s.Lines); i++ {
		text := s.Line(i)
		body := bytes.TrimLeft(text, " ")
		if len(bytes.TrimSpace(body)) == 0 {
			continue
		}
		if len(text)-len(body) < indent {
			break
		}
		last = i
	}
	return last
}

// refers reports whether a node contains anchors or aliases, which may be used elsewhere.
func refers(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return true
	}
	for _, c := range n.Content {
		if refers(c) {
			return true
		}
	}
	return false
}

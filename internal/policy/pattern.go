package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// levels are the tags that say what a tool does, from harmless on (S1-215).
var levels = []string{"read", "write", "run"}

// highRisk is the level of a tool that has none of these tags.
const highRisk = 3

// Pattern names tools: tool:NAME, tool:TAG, tool:read, tool:write, tool:run, or * for
// every tool (S1-216).
type Pattern struct {
	word   string // what follows tool:, or *
	origin string
}

// ParsePattern reads a pattern. origin says where it was written, as in "--auto-deny"
// or "config.yaml:3"; it stands in reasons.
func ParsePattern(s, origin string) (Pattern, error) {
	word, ok := strings.CutPrefix(s, "tool:")
	bad := func(why string) (Pattern, error) {
		return Pattern{}, fmt.Errorf("%q is no pattern: %s", s, why)
	}
	switch {
	case s == "*":
		return Pattern{"*", origin}, nil
	case !ok && slices.Contains(levels, s):
		return bad("write tool:" + s)
	case !ok:
		return bad("write tool:NAME, tool:TAG, tool:read, tool:write, tool:run, or * for every tool")
	case word == "":
		return bad("a name or a tag is missing after tool:")
	case strings.ContainsAny(word, "*?["):
		return bad("patterns have no wildcards; * alone means every tool, tool:TAG all that have the tag")
	case strings.ContainsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return bad("neither names nor tags have blanks in them; give one pattern each")
	}
	return Pattern{word, origin}, nil
}

// String is the pattern as it was written.
func (p Pattern) String() string {
	if p.word == "*" {
		return "*"
	}
	return "tool:" + p.word
}

// said is the pattern and who said it.
func (p Pattern) said() string {
	if p.origin == "" {
		return p.String()
	}
	return p.String() + " (" + p.origin + ")"
}

// level is the pattern's level, -1 where it is no tool:read, write or run.
func (p Pattern) level() int { return slices.Index(levels, p.word) }

// named says whether the pattern is the tool's name, or that of the tool it is an
// alias of.
func (p Pattern) named(t Tool) bool { return slices.Contains(t.names(), p.word) }

// allowed says whether the pattern covers the tool in words of its own; what a level
// covers is the weaker reason and another question.
func (p Pattern) allowed(t Tool) bool {
	return p.word == "*" || p.level() < 0 && (p.word == t.Name || slices.Contains(t.Tags, p.word))
}

// covers says whether the pattern is a level as high as the tool's.
func (p Pattern) covers(t Tool) bool { return p.level() >= 0 && t.level() <= p.level() }

// denies says whether the pattern denies the tool.
func (p Pattern) denies(t Tool) bool {
	return p.word == "*" || p.named(t) || slices.Contains(t.Tags, p.word) || p.level() >= 0 && t.level() >= p.level()
}

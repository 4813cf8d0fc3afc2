package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// levels are the tags that say what a tool does, from harmless on.
var levels = []string{"read", "write", "run"}

// highRisk is the level of a tool that has none of these tags.
const highRisk = 3

// Pattern names tools: tool:NAME, tool:TAG, tool:read, tool:write, tool:run, or * for
// every tool.
type Pattern struct {
	word     string // what follows tool:, or *
	origin   string
	place    Place
	nameOnly bool
}

// Place is whose a tool is, and whose settings a pattern was written in. A pattern that
// allows a tool by its name means the tool of its own place: the settings of a user do
// not mean the tool of a project that goes by the same name.
type Place string

// The places. Anywhere is that of command lines, and of tools that are in no file.
const (
	Anywhere Place = ""
	OfUser   Place = "user" // or of the machine
	Project  Place = "project"
)

// In returns the pattern as one that was written in the settings of a place.
func (p Pattern) In(where Place) Pattern {
	p.place = where
	return p
}

// ByName returns the pattern as one that allows by name only: there is a tool of that
// name, so whoever wrote it did not mean a tag.
func (p Pattern) ByName() Pattern {
	p.nameOnly = true
	return p
}

// Tag is the tag that the pattern may mean, "" if it cannot be one.
func (p Pattern) Tag() string {
	if p.word == "*" || p.level() >= 0 {
		return ""
	}
	return p.word
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
		return Pattern{word: "*", origin: origin}, nil
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
	return Pattern{word: word, origin: origin}, nil
}

// String is the pattern as it was written.
func (p Pattern) String() string {
	if p.word == "*" {
		return "*"
	}
	return "tool:" + p.word
}

// source is the pattern and who said it.
func (p Pattern) source() string {
	if p.origin == "" {
		return p.String()
	}
	return p.String() + " (" + p.origin + ")"
}

// level is the pattern's level, -1 where it is no tool:read, write or run.
func (p Pattern) level() int { return slices.Index(levels, p.word) }

// names reports whether the pattern allows the tool by its very name, not by that of
// the tool it is an alias of.
func (p Pattern) names(t Tool) bool {
	switch {
	case p.level() >= 0:
		return false
	case t.File != "": // a relative path in settings would mean a file of every folder
		return p.word == t.File || p.word == t.Written && t.Written != "" && p.place != OfUser
	}
	return p.word == t.Name && (p.place == Anywhere || t.Place == Anywhere || p.place == t.Place)
}

// allows reports whether the pattern allows the tool by its name, by a tag that is no
// level, or as *. What a level covers is the weaker reason and another question.
func (p Pattern) allows(t Tool) bool {
	tagged := t.File == "" && p.level() < 0 && !p.nameOnly && slices.Contains(t.Tags, p.word)
	return p.word == "*" || p.names(t) || tagged
}

// covers reports whether the pattern is a level as high as the tool's.
func (p Pattern) covers(t Tool) bool { return p.level() >= 0 && t.vouched() && t.level() <= p.level() }

// denies reports whether the pattern denies the tool, or one it is an alias of.
func (p Pattern) denies(t Tool) bool {
	said := func(t Tool) bool { return p.word == t.Name || slices.Contains(t.Tags, p.word) }
	return p.word == "*" || t.anyOf(said) || p.level() >= 0 && t.level() >= p.level()
}

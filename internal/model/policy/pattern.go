package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// levels are the tags that say what a tool does, from the lowest risk to the highest.
var levels = []string{"read", "write", "run"}

// highRisk is the level of a tool that has none of these tags.
const highRisk = 3

// Pattern names tools: tool:NAME, tool:TAG, tool:read, tool:write, tool:run, or * for every tool.
type Pattern struct {
	word     string // the text after tool:, or *
	origin   string
	place    Place
	nameOnly bool
}

// Place is the owner of a tool, or of the settings in which a pattern was written. A pattern that allows a tool
// by name means a tool of its own place: the settings of a user do not mean a tool of the same name in a
// project.
type Place string

// The places. Anywhere is the place of command lines, and of tools without a file.
const (
	Anywhere Place = ""
	OfUser   Place = "user" // or of the machine
	Project  Place = "project"
)

// In returns the pattern as one from the settings of a place.
func (p Pattern) In(where Place) Pattern {
	p.place = where
	return p
}

// ByName returns the pattern as one that allows by name only. Use it if there is a tool of that name: the pattern
// then does not mean a tag.
func (p Pattern) ByName() Pattern {
	p.nameOnly = true
	return p
}

// Tag returns the tag that the pattern may mean, "" if it cannot be one.
func (p Pattern) Tag() string {
	if p.word == "*" || p.level() >= 0 {
		return ""
	}
	return p.word
}

// ParsePattern parses a pattern. origin is where it was written, such as "--auto-deny" or "config.yaml:3"; reasons
// show it.
func ParsePattern(s, origin string) (Pattern, error) {
	word, ok := strings.CutPrefix(s, "tool:")
	bad := func(why string) (Pattern, error) {
		return Pattern{}, fmt.Errorf("invalid pattern %q: %s", s, why)
	}
	switch {
	case s == "*":
		return Pattern{word: "*", origin: origin}, nil
	case !ok && slices.Contains(levels, s):
		return bad("write tool:" + s)
	case !ok:
		return bad("write tool:NAME, tool:TAG, tool:read, tool:write, tool:run, or * for every tool")
	case word == "":
		return bad("the name or tag after tool: is missing")
	case strings.ContainsAny(word, "*?["):
		return bad("wildcards are not supported; * means every tool, tool:TAG every tool with the tag")
	case strings.ContainsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return bad("names and tags have no spaces; write one pattern for each")
	}
	return Pattern{word: word, origin: origin}, nil
}

// String returns the pattern as it was written.
func (p Pattern) String() string {
	if p.word == "*" {
		return "*"
	}
	return "tool:" + p.word
}

// source returns the pattern with its origin.
func (p Pattern) source() string {
	if p.origin == "" {
		return p.String()
	}
	return p.String() + " (" + p.origin + ")"
}

// level returns the level of the pattern, -1 if it is not tool:read, tool:write or tool:run.
func (p Pattern) level() int { return slices.Index(levels, p.word) }

// names reports whether the pattern allows the tool by its own name. The name of the tool that an alias stands for
// does not count.
func (p Pattern) names(t Tool) bool {
	switch {
	case p.level() >= 0:
		return false
	case t.File != "": // a relative path in settings would match a file in every folder
		return p.word == t.File || p.word == t.Written && t.Written != "" && p.place != OfUser
	}
	return p.word == t.Name && (p.place == Anywhere || t.Place == Anywhere || p.place == t.Place)
}

// allows reports whether the pattern allows the tool by its name, by a tag that is not a level, or as *. Levels are a
// weaker reason and are checked by covers.
func (p Pattern) allows(t Tool) bool {
	tagged := t.File == "" && p.level() < 0 && !p.nameOnly && slices.Contains(t.Tags, p.word)
	return p.word == "*" || p.names(t) || tagged
}

// covers reports whether the pattern is a level at least as high as the tool's.
func (p Pattern) covers(t Tool) bool { return p.level() >= 0 && t.vouched() && t.level() <= p.level() }

// denies reports whether the pattern denies the tool, or a tool that it is an alias of.
func (p Pattern) denies(t Tool) bool {
	named := func(t Tool) bool { return p.word == t.Name || slices.Contains(t.Tags, p.word) }
	return p.word == "*" || t.anyOf(named) || p.level() >= 0 && t.level() >= p.level()
}

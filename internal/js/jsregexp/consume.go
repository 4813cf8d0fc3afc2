package jsregexp

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// OneByOne reports whether goja must find the matches of an expression one after the other. When it finds all at once,
// which is much faster, it loses empty matches behind others and those of the flag y, and with the flag u it finds more than
// the first. The pattern is translated.
func OneByOne(pattern, flags string) bool {
	global, unicode := strings.Contains(flags, "g"), strings.Contains(flags, "u")
	return strings.Contains(flags, "y") || global && mayBeEmpty(pattern) || !global && unicode && otherEngineNeeded().MatchString(pattern)
}

// otherEngineNeeded matches patterns with assertions about other places than the beginning and the end, and with references to groups.
var otherEngineNeeded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(\?[=!<]|\\[1-9k]`) })

// escape matches an escape of several characters.
var escape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]+\}|c[A-Za-z]|[pP]\{[^}]*\}|k<[^>]*>|[0-9]+|[bB])`)
})

// mayBeEmpty reports whether some matches of a pattern may be empty and others not.
func mayBeEmpty(pattern string) bool {
	c := consumer{translator: translator{rest: pattern}}
	all := c.alternatives() && c.rest == ""
	return !all && c.consumes
}

// consumer reads a pattern from its beginning to its end.
type consumer struct {
	translator
	consumes bool // some matches may have a character
}

// alternatives reads until the end of a group, and reports whether all alternatives have a character.
func (c *consumer) alternatives() bool {
	all := true
	for {
		some := false
		for c.rest != "" && c.rest[0] != '|' && c.rest[0] != ')' {
			some = c.term() || some
		}
		all = all && some
		if !c.skip("|") {
			return all
		}
	}
}

// term reads one part of an alternative with its quantifier, and reports whether it has a character.
func (c *consumer) term() (has bool) {
	switch {
	case c.skip("(?=") || c.skip("(?!") || c.skip("(?<=") || c.skip("(?<!"):
		before := c.consumes
		c.alternatives()
		c.consumes = before
		c.skip(")")
	case c.skip("("):
		if c.skip("?<") {
			_, c.rest, _ = strings.Cut(c.rest, ">")
		}
		c.skip("?:")
		has = c.alternatives()
		c.skip(")")
	case c.skip("["):
		for c.rest != "" && c.rest[0] != ']' {
			c.character()
		}
		has, c.consumes = c.skip("]"), true
	case escape().MatchString(c.rest):
		one := c.take(len(escape().FindString(c.rest)))
		has = !strings.ContainsAny(one[1:2], "bBk123456789")
		c.consumes = c.consumes || !strings.ContainsAny(one[1:2], "bB")
	default:
		one := c.character()
		has = one != "^" && one != "$"
		c.consumes = c.consumes || has
	}
	return c.repeated() && has
}

// repeated reads a quantifier, and reports whether it is for at least one time.
func (c *consumer) repeated() bool {
	least := 1
	if c.skip("*") || c.skip("?") {
		least = 0
	} else if body, rest, ok := strings.Cut(c.rest, "}"); ok && strings.HasPrefix(body, "{") {
		first, _, _ := strings.Cut(body[1:], ",")
		if n, err := strconv.Atoi(first); err == nil {
			least, c.rest = n, rest
		}
	} else {
		c.skip("+")
	}
	c.skip("?")
	return least > 0
}

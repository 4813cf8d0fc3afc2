package expr

import "strings"

// tokenKind is the kind of a token that flowrun has to know before expr-lang parses a condition.
type tokenKind int

const (
	tokenOther       tokenKind = iota // operators, numbers, spaces: copied
	tokenName                         // a bare word, with the path that follows it
	tokenPlaceholder                  // {ref}
	tokenString                       // '...', "..." or `...`
)

type token struct {
	kind tokenKind
	off  int
	text string
}

// tokens splits a condition. The joined texts of the tokens are the source.
func tokens(src string) []token {
	var ts []token
	for i := 0; i < len(src); {
		kind, n := nextToken(src[i:])
		if last := len(ts) - 1; kind == tokenOther && n == 1 && last >= 0 && ts[last].kind == tokenOther {
			ts[last].text = src[ts[last].off : i+n]
		} else {
			ts = append(ts, token{kind, i, src[i : i+n]})
		}
		i += n
	}
	return ts
}

func nextToken(s string) (tokenKind, int) {
	switch c := s[0]; {
	case c == '\'' || c == '"' || c == '`':
		return tokenString, stringLen(s)
	case c == '{':
		if n := refLen(s[1:]); n > 0 && n < maxPlaceholder && strings.HasPrefix(s[1+n:], "}") {
			return tokenPlaceholder, n + 2
		}
	case isNameStart(c):
		return tokenName, refLen(s)
	case isDigit(c):
		return tokenOther, numberLen(s)
	case strings.HasPrefix(s, ".."):
		return tokenOther, 2
	case c == '.' || c == '#' || c == '$':
		// a member or a pointer: the name after it is not a word of its own
		n := 1
		for n < len(s) && isNameByte(s[n]) {
			n++
		}
		return tokenOther, n
	}
	return tokenOther, 1
}

// numberLen returns the length of a number with the letters joined to it (1e9, 0x1f), so that they are
// not read as a name.
func numberLen(s string) int {
	n := 1
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	return n
}

// stringLen returns the length of the string literal at the start of s. An unclosed one extends to the
// end.
func stringLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

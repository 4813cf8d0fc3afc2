package argparse

import (
	"strings"
	"unicode"
)

// fold makes one word of the ways in which a name is written: fileName, file_name,
// File-Name and FILE NAME.
func fold(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x80 || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == ' ' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || unicode.IsSpace(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, s)
}

// sameTool tells whether a text names the tool that is called. Of a dotted name the last
// part is enough.
func sameTool(given, tool string) bool {
	g, t := fold(given), fold(tool)
	return g == t || lastPart(g) == t || g == lastPart(t)
}

func lastPart(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

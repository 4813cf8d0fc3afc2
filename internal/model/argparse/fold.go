package argparse

import (
	"strings"
	"unicode"
)

// fold returns the same word for all spellings of a name: fileName, file_name, File-Name, FILE
// NAME.
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

// sameTool reports whether two names refer to the same tool. The last part of a dotted name is
// sufficient.
func sameTool(given, tool string) bool {
	g, t := fold(given), fold(tool)
	return g == t || lastPart(g) == t || g == lastPart(t)
}

func lastPart(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

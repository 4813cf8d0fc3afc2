package cache

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Base splits a pattern into the folder that contains everything it can match, and the rest of the pattern, relative
// to that folder. The error says why the text is not a valid pattern.
func Base(pattern string) (folder, rest string, err error) {
	p, err := clean(pattern)
	if err != nil {
		return "", "", err
	}
	folder, rest = doublestar.SplitPattern(p)
	return folder, rest, nil
}

// Covers reports whether a pattern matches a path, or a folder above it. Both use / as the separator.
func Covers(pattern, path string) bool { return covered([]string{pattern}, path) }

// Matches reports whether a pattern matches a path itself. Both use / as the separator.
func Matches(pattern, path string) bool {
	ok, _ := doublestar.Match(pattern, path)
	return ok
}

// IsName reports whether a pattern is the name of a file or a folder: it has no wildcards, or only escaped ones.
func IsName(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return false
		}
	}
	return true
}

// Literal returns a pattern that matches only a text.
func Literal(text string) string {
	if !strings.ContainsAny(text, `*?[{\`) {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		if strings.ContainsRune(`*?[{\`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

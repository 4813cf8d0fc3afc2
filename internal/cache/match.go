package cache

import "github.com/bmatcuk/doublestar/v4"

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

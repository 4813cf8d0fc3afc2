package cache

import "github.com/bmatcuk/doublestar/v4"

// Base is the folder in which everything lies that a pattern can match, and the rest of
// the pattern, which counts from there. The error says why a text is no pattern.
func Base(pattern string) (folder, rest string, err error) {
	p, err := clean(pattern)
	if err != nil {
		return "", "", err
	}
	folder, rest = doublestar.SplitPattern(p)
	return folder, rest, nil
}

// Covers says whether a pattern matches a path, or a folder that it lies in. Both have /
// between their parts.
func Covers(pattern, path string) bool { return covered([]string{pattern}, path) }

// Matches says whether a pattern matches a path itself. Both have / between their parts.
func Matches(pattern, path string) bool {
	ok, _ := doublestar.Match(pattern, path)
	return ok
}

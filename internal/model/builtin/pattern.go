package builtin

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/cache"
)

// globPattern is a checked glob pattern. It matches paths with / as the separator, relative to a folder.
type globPattern struct {
	pattern string
	names   bool // has no / and matches the last part of a path
	depth   int  // how many folders below the start it can match
}

// Limits of patterns. Matching tries every combination of the alternatives in braces.
const (
	maxPattern      = 1000
	maxCombinations = 500
)

// pattern parses a glob pattern. With names, a pattern without / matches names at any depth.
func pattern(text string, names bool) (globPattern, error) {
	if err := checkPattern(text); err != nil {
		return globPattern{}, err
	}
	g := globPattern{pattern: strings.TrimPrefix(path.Clean(text), "./"), depth: math.MaxInt}
	if !strings.Contains(text, "**") {
		g.depth = strings.Count(text, "/")
	}
	if names && !strings.Contains(text, "/") {
		g.names, g.depth = true, math.MaxInt
	}
	return g, nil
}

func checkPattern(text string) error {
	switch {
	case len(text) > maxPattern:
		return fmt.Errorf("the pattern %s is %d bytes long; the limit is %d", quotedPiece(text), len(text), maxPattern)
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("the pattern %s contains a NUL byte, which no path can contain", quotedPiece(text))
	case combinations(text) > maxCombinations:
		return fmt.Errorf("the pattern %s has too many alternatives in braces; use several patterns", quotedPiece(text))
	case slices.Contains(strings.Split(text, "/"), ".."):
		return fmt.Errorf("the pattern %s contains ..; patterns match only below path: set path to the folder to start from", quotedPiece(text))
	}
	if err := cache.CheckInput(text); err != nil {
		return fmt.Errorf("invalid pattern %s: %w", quotedPiece(text), err)
	}
	return nil
}

// combinations returns an upper bound for the texts that the braces of a pattern expand to; it stops counting above
// maxCombinations.
func combinations(text string) int {
	total := 1
	for part := range strings.SplitSeq(text, "{") {
		if total *= strings.Count(part, ",") + 1; total > maxCombinations {
			break
		}
	}
	return total
}

// fits reports whether a path matches.
func (g globPattern) fits(rest string) bool {
	if g.names {
		rest = path.Base(rest)
	}
	return cache.Matches(g.pattern, rest)
}

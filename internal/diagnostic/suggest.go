package diagnostic

import (
	"cmp"
	"slices"
	"strings"
)

// maxSuggestions is how many names a did-you-mean offers; maxCandidates bounds
// the names it looks at, so that a file of 100,000 steps cannot make it slow.
const (
	maxSuggestions = 3
	maxCandidates  = 2000
)

// Near is the candidates closest to a misspelt word, best first, for a
// did-you-mean: at most three, and none whose Damerau-Levenshtein distance is
// more than a third of the word, or the whole of a short one.
func Near(word string, candidates []string) []string {
	type match struct {
		name     string
		distance int
	}
	var found []match
	limit := max(1, min(len(word), 64)/3)
	for _, c := range candidates[:min(len(candidates), maxCandidates)] {
		if c == "" || c == word || len(c)-len(word) > limit || len(word)-len(c) > limit || len(word) > 64 {
			continue
		}
		if n := distance(strings.ToLower(word), strings.ToLower(c)); n <= limit && n < max(len(word), len(c)) {
			found = append(found, match{c, n})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, 0, maxSuggestions)
	for _, m := range found {
		if len(names) < maxSuggestions && !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	return names
}

// DidYouMean is the question for near names, empty when there are none.
func DidYouMean(word string, candidates []string) string {
	if names := Near(word, candidates); len(names) > 0 {
		return Ask(names)
	}
	return ""
}

func Ask(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = Quote(n)
	}
	return "did you mean " + strings.Join(quoted, " or ") + "?"
}

// distance is the Damerau-Levenshtein distance of two words: insertions,
// deletions, replacements and swaps of neighbours each cost one.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

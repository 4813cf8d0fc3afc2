package diagnostic

import (
	"cmp"
	"slices"
	"strings"
)

// maxSuggestions is the maximum number of names in a did-you-mean. maxCandidates limits the number of names that are
// compared, so that a file with 100,000 steps does not become slow.
const (
	maxSuggestions = 3
	maxCandidates  = 2000
)

// Near returns the candidates most similar to a misspelled word, best first, for a did-you-mean: at most three. Their
// Damerau-Levenshtein distance is at most a third of the word's length (but at least 1 is allowed), and less than the
// length of the longer word.
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
		if n := Distance(strings.ToLower(word), strings.ToLower(c)); n <= limit && n < max(len(word), len(c)) {
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

// Merge returns the names of some sets, sorted, as candidates for Near: as many of each set as Near compares.
func Merge(sets ...Words) (candidates []string) {
	for _, names := range sets {
		candidates = append(candidates, names[:min(len(names), maxCandidates)]...)
	}
	slices.Sort(candidates)
	return candidates
}

// DidYouMean returns a question that suggests similar names, or "" if there are none.
func DidYouMean(word string, candidates []string) string {
	if names := Near(word, candidates); len(names) > 0 {
		return Suggestion(names)
	}
	return ""
}

func Suggestion(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = Quote(n)
	}
	return "did you mean " + strings.Join(quoted, " or ") + "?"
}

// Distance returns the Damerau-Levenshtein distance of two words: an insertion, a deletion, a replacement and a swap of
// neighbors each cost 1.
func Distance(a, b string) int {
	var short [3 * 48]int // on the stack, because most words are short
	rows, n := short[:], len(b)+1
	if 3*n > len(rows) {
		rows = make([]int, 3*n)
	}
	before, last, row := rows[:n], rows[n:2*n], rows[2*n:3*n]
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

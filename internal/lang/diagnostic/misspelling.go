package diagnostic

import (
	"iter"
	"slices"
	"strings"
)

// minMisspelt is the minimum length of a misspelled name. In a shorter one, another letter usually makes another name.
const minMisspelt = 3

// Misspelt returns the names that a word probably misspells, sorted: those with the smallest Damerau-Levenshtein
// distance, if it is 1, or 2 in words of six letters and more. The word must also be written like the name: all in
// capitals, without any, or mixed.
func Misspelt(word string, names iter.Seq[string]) []string {
	if len(word) < minMisspelt {
		return nil
	}
	var found []string
	limit := min(len(word)/3, 2)
	for name := range names {
		if name == word {
			return nil
		}
		if len(name)-len(word) > limit || len(word)-len(name) > limit || shape(name) != shape(word) {
			continue
		}
		switch n := Distance(word, name); {
		case n < limit:
			limit, found = n, []string{name}
		case n == limit && !slices.Contains(found, name):
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// shape returns how a name uses capitals.
func shape(name string) string {
	switch name {
	case strings.ToUpper(name):
		return "upper"
	case strings.ToLower(name):
		return "lower"
	}
	return "mixed"
}

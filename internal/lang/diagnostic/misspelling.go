package diagnostic

import (
	"iter"
	"slices"
	"sort"
	"strings"
)

// minMisspelt is the minimum length of a misspelled name. In a shorter one, another letter usually makes another name.
const minMisspelt = 3

// Words is a set of names, sorted.
type Words []string

// NewWords returns names as a set.
func NewWords(names iter.Seq[string]) Words { return slices.Compact(slices.Sorted(names)) }

// Misspelt returns the names that a word probably misspells, sorted: those with the smallest Damerau-Levenshtein
// distance, if it is 1, or 2 in words of six letters and more. The word must also be written like the name: all in
// capitals, without any, or mixed. A word that is one of the names misspells none.
//
// It compares the word with the beginnings of names, so a search in many names reads only few of them.
func Misspelt(word string, sets ...Words) []string {
	if len(word) < minMisspelt {
		return nil
	}
	s := nameSearch{word: word, shape: shape(word), limit: min(len(word)/3, maxEdits)}
	s.rows = make([]editRow, len(word)+maxEdits+1)
	for k := range s.rows[0] {
		s.rows[0][k] = s.within(k-maxEdits, k-maxEdits)
	}
	for _, names := range sets {
		s.walk(names, 0)
	}
	if s.limit == 0 {
		return nil
	}
	slices.Sort(s.found)
	return slices.Compact(s.found)
}

// maxEdits is the largest distance of a misspelled name.
const maxEdits = 2

// editRow has the distances between the beginning of a name, whose length is the number of the row, and those beginnings
// of the word that are at most maxEdits shorter or longer: the one that is k-maxEdits longer is at k.
type editRow [2*maxEdits + 1]int

// nameSearch finds the names that are nearest to a word.
type nameSearch struct {
	word, shape string
	limit       int       // the largest distance that is searched for
	rows        []editRow // of the beginnings of the current name
	found       []string  // those whose distance is limit
}

// walk searches names, sorted, that have the same first bytes.
func (s *nameSearch) walk(names []string, same int) {
	if len(names) > 0 && len(names[0]) == same {
		if k := len(s.word) - same + maxEdits; k < len(editRow{}) {
			s.match(names[0], s.rows[same][k])
		}
		names = names[1:]
	}
	if same+1 == len(s.rows) {
		return
	}
	for len(names) > 0 {
		next := names[0][same]
		end := sort.Search(len(names), func(i int) bool { return names[i][same] > next })
		if s.row(names[0], same+1) <= s.limit {
			s.walk(names[:end], same+1)
		}
		names = names[end:]
	}
}

// row computes the row of the first i bytes of a name from those before it, and returns the smallest distance in it.
func (s *nameSearch) row(name string, i int) int {
	row, before, smallest := &s.rows[i], &s.rows[i-1], maxEdits+1
	for k := range row {
		j := i + k - maxEdits
		n := s.within(j, i)
		if j > 0 && j <= len(s.word) {
			n = before[k]
			if s.word[j-1] != name[i-1] {
				n++
			}
			if k > 0 {
				n = min(n, row[k-1]+1)
			}
			if k+1 < len(row) {
				n = min(n, before[k+1]+1)
			}
			if i > 1 && j > 1 && s.word[j-1] == name[i-2] && s.word[j-2] == name[i-1] {
				n = min(n, s.rows[i-2][k]+1)
			}
		}
		row[k] = n
		smallest = min(smallest, n)
	}
	return smallest
}

// within returns the distance n of a beginning of the word of length j to an empty one or from it, and a distance that is
// too large if there is none of that length.
func (s *nameSearch) within(j, n int) int {
	if j < 0 || j > len(s.word) {
		return maxEdits + 1
	}
	return n
}

func (s *nameSearch) match(name string, distance int) {
	if distance > s.limit || shape(name) != s.shape {
		return
	}
	if distance < s.limit {
		s.limit, s.found = distance, nil
	}
	s.found = append(s.found, name)
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

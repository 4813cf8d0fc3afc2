package quoting

import (
	"strings"
	"sync"
)

// WordSet is a set of words. The first question splits them, so that a set which is not used costs
// nothing when the program starts.
type WordSet struct {
	Words string // separated by white space

	once sync.Once
	set  map[string]bool
}

func (s *WordSet) Has(word string) bool {
	s.once.Do(func() {
		s.set = map[string]bool{}
		for _, w := range strings.Fields(s.Words) {
			s.set[w] = true
		}
	})
	return s.set[word]
}

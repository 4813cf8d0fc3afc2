package author

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// footnotes returns the reason of each row, with a number such as [1] in place of a sentence that several rows have, and
// these sentences by their numbers.
func footnotes(rows []importer.Row) (reasons, notes []string) {
	count := map[string]int{}
	for _, r := range rows {
		for _, sentence := range strings.Split(r.Reason, "; ") {
			count[sentence]++
		}
	}
	for _, r := range rows {
		var words []string
		for _, sentence := range strings.Split(r.Reason, "; ") {
			if sentence == "" || count[sentence] == 1 || len(sentence) < minFootnote {
				words = append(words, sentence)
				continue
			}
			i := slices.Index(notes, sentence)
			if i < 0 {
				i, notes = len(notes), append(notes, sentence)
			}
			words = append(words, fmt.Sprintf("[%d]", i+1))
		}
		reasons = append(reasons, strings.Join(words, "; "))
	}
	return reasons, notes
}

// minFootnote is the length from which a sentence is longer than the trouble of looking it up.
const minFootnote = 40

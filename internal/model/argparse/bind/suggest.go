package bind

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// suggest adds the names that were probably meant to the refusal, most similar first.
func (r *binder) suggest(word string, known []string) {
	type near struct {
		name string
		far  int
	}
	if len(word) > 64 {
		return
	}
	var found []near
	given := schema.Fold(word)
	for _, name := range known[:min(len(known), 500)] {
		if len(name) > 64 {
			continue
		}
		f := schema.Fold(name)
		far := diagnostic.Distance(given, f)
		switch most := max(len(given), len(f)); {
		case far <= max(1, most/3):
		case len(given) > 1 && len(f) > 1 && (strings.Contains(given, f) || strings.Contains(f, given)):
			far = most
		case len(given) == 1 && strings.HasPrefix(f, given), len(f) == 1 && strings.HasPrefix(given, f):
			far = most
		default:
			continue
		}
		found = append(found, near{name, far})
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.far, b.far) })
	for _, n := range found[:min(len(found), 3)] {
		r.Bad.Suggest(n.name)
	}
}

package toolfiles

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Filter selects tools of a list. The zero Filter selects all.
type Filter struct {
	Scope    tool.Scope // "" for any
	Tags     []string   // all of them must match; tags in the metadata count too
	Category string
	Search   string // every word must occur in the name, the description or the keywords
	Platform string // the tool must support it
}

// Choose removes the tools that the filter does not select from a list, and returns the modified list. Case is
// ignored.
func (f Filter) Choose(list []library.Listed) []library.Listed {
	return slices.DeleteFunc(list, func(e library.Listed) bool { return !f.matches(&e) })
}

func (f Filter) matches(e *library.Listed) bool {
	for _, tag := range f.Tags {
		if !containsWord(e.Tags, tag) && !containsWord(e.SearchTags, tag) {
			return false
		}
	}
	return (f.Scope == "" || f.Scope == e.Scope) &&
		(f.Category == "" || strings.EqualFold(f.Category, e.Category)) &&
		(f.Platform == "" || len(e.Platforms) == 0 || containsWord(e.Platforms, f.Platform)) &&
		f.matchesSearch(e)
}

func containsWord(list []string, word string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, word) })
}

func (f Filter) matchesSearch(e *library.Listed) bool {
	if f.Search == "" {
		return true
	}
	text := strings.ToLower(strings.Join(append([]string{e.Name, e.Description}, e.SearchKeywords...), "\n"))
	for _, word := range strings.Fields(strings.ToLower(f.Search)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// Order sorts a list by "name", "category" (tools without one last) or "scope" (in the
// order in which names are looked up). It is stable.
func Order(list []library.Listed, by string) {
	rank := func(s tool.Scope) int {
		return slices.Index([]tool.Scope{tool.ScopeGo, tool.ScopeLocal, tool.ScopeUser, tool.ScopeGlobal}, s)
	}
	slices.SortStableFunc(list, func(a, b library.Listed) int {
		switch by {
		case "category":
			without := func(e library.Listed) int { return min(1, len(e.Category)) }
			return cmp.Or(-cmp.Compare(without(a), without(b)), cmp.Compare(strings.ToLower(a.Category), strings.ToLower(b.Category)))
		case "scope":
			return cmp.Compare(rank(a.Scope), rank(b.Scope))
		}
		return 0
	})
}

package mcp

import (
	"path"
	"slices"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// Filter selects the tools that a Server offers. The zero Filter selects the tools that are
// defined in files. Patterns are those of path.Match.
type Filter struct {
	Tools   []string // names; if there are any, built-in and discovered tools can be selected too
	Tags    []string // a tool must have one of them
	Exclude []string // names
	Also    []string // names that are offered beside those that the other fields select
	// Permits, if set, is asked about each of these tools too.
	Permits func(*engine.Plan) bool
}

// names returns the names that may be selected.
func (f Filter) names(lib *library.Library) (names []string) {
	for _, e := range lib.List() {
		names = append(names, e.Name)
	}
	if len(f.Tools) > 0 {
		for _, d := range lib.Provided() { // may have to run a discovery command
			names = append(names, d.Name)
		}
	}
	names = append(names, f.Also...)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !f.selectsName(name) })
}

func (f Filter) selectsName(name string) bool {
	return (len(f.Tools) == 0 || matchesAny(f.Tools, name) || slices.Contains(f.Also, name)) && !matchesAny(f.Exclude, name)
}

// Selects reports whether a tool with a name and tags is selected, if Permits has nothing against it.
func (f Filter) Selects(name string, tags []string) bool {
	tagged := func(tag string) bool { return slices.Contains(tags, tag) }
	return f.selectsName(name) && (len(f.Tags) == 0 || slices.Contains(f.Also, name) || slices.ContainsFunc(f.Tags, tagged))
}

// selects reports whether a compiled tool is offered.
func (f Filter) selects(p *engine.Plan) bool {
	return f.Selects(p.Name(), p.Definition.Tags) && (f.Permits == nil || f.Permits(p))
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

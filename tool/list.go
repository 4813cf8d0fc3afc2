package tool

import (
	"cmp"
	"os"
	"slices"
)

// Listed is one definition a Library knows, for listings.
type Listed struct {
	Name        string
	Scope       Scope
	Path        string // empty for tools registered from Go
	Description string
	Tags        []string // those at the top, the ones with security meaning (S1-224)
	// Category, Subcategory, SearchTags and SearchKeywords are what metadata says
	// (S1-220 to S1-223).
	Category, Subcategory      string
	SearchTags, SearchKeywords []string
	Platforms                  []string // empty = all (S1-225)
	Version                    string   // of the tool itself (S1-012)
	Deprecated                 bool     // S1-015
	DeprecatedMessage          string   // S1-016
	// ShadowedBy is the path (or scope, for one without a file) of the tool of
	// the same name that is found first; empty where this one is found.
	ShadowedBy  string
	Diagnostics Diagnostics // what is wrong with the file
}

// Broken is why the tool cannot run, on one line with its place: the first error in
// its file. It is empty where there is none.
func (e Listed) Broken() string {
	if i := slices.IndexFunc(e.Diagnostics, isError); i >= 0 {
		return e.Diagnostics[i].String()
	}
	return ""
}

// List is every definition in the scopes, sorted by name, the one that Lookup
// finds before those it shadows. Files with errors are there with what could be
// read, and those that cannot be opened by the names of their files.
func (l *Library) List() []Listed {
	var all []Listed
	for _, def := range l.registeredAll() {
		all = append(all, listed(def, nil))
	}
	for _, f := range l.folders {
		for _, file := range l.files(f.path) {
			if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
				continue // no definition: an editor's lock, a pipe
			}
			def, found, err := l.load(file, f.scope)
			if err != nil {
				def, found = unreadable(file, f.scope, err)
			}
			all = append(all, listed(def, found))
		}
	}
	slices.SortStableFunc(all, func(a, b Listed) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(all); i++ {
		switch first := all[i-1]; {
		case first.Name != all[i].Name:
		case first.ShadowedBy != "":
			all[i].ShadowedBy = first.ShadowedBy
		default:
			all[i].ShadowedBy = cmp.Or(first.Path, string(first.Scope))
		}
	}
	return all
}

func listed(def *Definition, found Diagnostics) Listed {
	m := def.Metadata
	return Listed{
		Name: def.Name, Scope: def.Scope, Path: def.File, Description: def.Description, Tags: def.Tags,
		Category: m.Category, Subcategory: m.Subcategory, SearchTags: m.Tags, SearchKeywords: m.SearchKeywords,
		Platforms: def.Platforms, Version: def.Version, Deprecated: def.Deprecated, DeprecatedMessage: def.DeprecatedMessage,
		Diagnostics: found,
	}
}

// unreadable is what is known of a file that cannot be opened.
func unreadable(file string, scope Scope, err error) (*Definition, Diagnostics) {
	return &Definition{Name: stem(file), File: file, Scope: scope}, Diagnostics{{Code: "unreadable", Severity: Error, Pos: Pos{file, 1, 1},
		Message: err.Error(), Hint: "make the file readable, or remove it"}}
}

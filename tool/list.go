package tool

import (
	"cmp"
	"slices"
)

// Listed is one definition a Library knows, for listings.
type Listed struct {
	Name        string
	Scope       Scope
	Path        string // empty for tools registered from Go
	Description string
	Tags        []string
	Category    string
	MoreTags    []string // of metadata; they say nothing about rights
	Keywords    []string // metadata.search-keywords
	Platforms   []string // empty = all
	// ShadowedBy is the path (or scope, for one without a file) of the tool of
	// the same name that is found first; empty where this one is found.
	ShadowedBy  string
	Diagnostics Diagnostics // what is wrong with the file
}

// List is every definition in the scopes, sorted by name, the one that Lookup
// finds before those it shadows. Files with errors are there with what could be
// read, and one that cannot be opened says so in its Diagnostics.
func (l *Library) List() []Listed {
	var all []Listed
	for _, def := range l.registeredAll() {
		all = append(all, listed(def, nil))
	}
	for _, f := range l.folders {
		all = append(all, l.listFolder(f)...)
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

func (l *Library) listFolder(f folder) (all []Listed) {
	for _, file := range l.files(f.path) {
		def, found, err := l.load(file, f.scope)
		if err != nil {
			def = &Definition{Name: stem(file), File: file, Scope: f.scope}
			found = Diagnostics{{Code: "unreadable", Severity: Error, Pos: Pos{file, 1, 1}, Message: err.Error(), Hint: "make it readable, or remove it"}}
		}
		all = append(all, listed(def, found))
	}
	return all
}

func listed(def *Definition, found Diagnostics) Listed {
	return Listed{
		Name: def.Name, Scope: def.Scope, Path: def.File, Description: def.Description,
		Tags: def.Tags, Category: def.Metadata.Category, MoreTags: def.Metadata.Tags, Keywords: def.Metadata.SearchKeywords,
		Platforms: def.Platforms, Diagnostics: found,
	}
}

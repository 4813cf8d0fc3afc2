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
	// ShadowedBy is the path (or scope, for one without a file) of the tool of
	// the same name that is found first; empty where this one is found.
	ShadowedBy  string
	Diagnostics Diagnostics // what is wrong with the file
}

// List is every definition in the scopes, sorted by name, the one that Lookup
// finds before those it shadows. Files that cannot be read are left out; files
// with errors are there with what could be read.
func (l *Library) List() []Listed {
	var all []Listed
	for _, def := range l.registeredAll() {
		all = append(all, listed(def, nil))
	}
	for _, f := range l.folders {
		for _, file := range l.files(f.path) {
			if def, found, err := l.load(file, f.scope); err == nil {
				all = append(all, listed(def, found))
			}
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
	return Listed{
		Name: def.Name, Scope: def.Scope, Path: def.File, Description: def.Description,
		Tags: def.Tags, Category: def.Metadata.Category, Diagnostics: found,
	}
}

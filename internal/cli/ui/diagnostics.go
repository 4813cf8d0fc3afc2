package ui

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// MaxDiagnostics is how many problems are shown by default: one or two screens.
const MaxDiagnostics = 20

// LimitDiagnostics returns at most limit diagnostics (0 means all), and how many it has left out.
// Errors come before warnings and notes, because they must be fixed first.
func LimitDiagnostics(ds tool.Diagnostics, limit int) (tool.Diagnostics, int) {
	if limit == 0 || len(ds) <= limit {
		return ds, 0
	}
	first, left := diagnostic.WorstFirst(ds, limit)
	return first, len(left)
}

// WithPaths returns diagnostics in which each file has the path that name gives it: console.ShortPath for people,
// InRepository for other programs.
func WithPaths(ds tool.Diagnostics, name func(file string) string) tool.Diagnostics {
	ds = slices.Clone(ds)
	for i := range ds {
		ds[i].Pos.File = name(ds[i].Pos.File)
		ds[i].Related = slices.Clone(ds[i].Related)
		for j := range ds[i].Related {
			ds[i].Related[j].Pos.File = name(ds[i].Related[j].Pos.File)
		}
	}
	return ds
}

// InRepository returns the path of a file as reports for other programs have it: relative to the root of the checkout of
// GitHub Actions, which is what annotations and code scanning expect whatever the working directory is. Elsewhere, and for files outside the
// checkout, it is relative to the working directory if it can be.
func InRepository(file string) string {
	root := os.Getenv("GITHUB_WORKSPACE")
	full, err := filepath.Abs(file)
	if root == "" || file == "" || err != nil {
		return console.ShortPath(file)
	}
	if rel, err := filepath.Rel(root, full); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return console.ShortPath(file)
}

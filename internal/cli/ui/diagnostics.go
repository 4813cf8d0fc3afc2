package ui

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/tool"
)

// MaxShown is how many problems are drawn where nobody asks for more: a screen or two.
const MaxShown = 20

// Capped is the first diagnostics, at most limit of them (0: all), and how many are
// left. Errors come before warnings and notes, because they must be mended first.
func Capped(ds tool.Diagnostics, limit int) (tool.Diagnostics, int) {
	if limit == 0 || len(ds) <= limit {
		return ds, 0
	}
	rank := map[tool.Severity]int{tool.Error: 0, tool.Warning: 1, tool.Note: 2}
	ds = slices.Clone(ds)
	slices.SortStableFunc(ds, func(x, y tool.Diagnostic) int { return rank[x.Severity] - rank[y.Severity] })
	return ds[:limit], len(ds) - limit
}

// Count is a number with its word, which takes an s for more than one.
func Count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Relative is diagnostics with the paths of files below the working directory as they
// are called from there.
func Relative(ds tool.Diagnostics) tool.Diagnostics {
	ds = slices.Clone(ds)
	for i := range ds {
		ds[i].Pos.File = ShortPath(ds[i].Pos.File)
		ds[i].Related = slices.Clone(ds[i].Related)
		for j := range ds[i].Related {
			ds[i].Related[j].Pos.File = ShortPath(ds[i].Related[j].Pos.File)
		}
	}
	return ds
}

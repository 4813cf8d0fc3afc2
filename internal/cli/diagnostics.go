package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/findings"
	"github.com/flowrun/flowrun/tool"
)

// mostShown is how many problems are drawn where nobody asks for more: a screen or two.
const mostShown = 20

// printDiagnostics prints the result of a validation on stdout. source gives the texts
// of files.
func (env *Env) printDiagnostics(ds tool.Diagnostics, targets int, f validateFlags, source func(string) []byte) error {
	switch f.output {
	case "json":
		b, err := ds.MarshalDocument()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.Stdout, "%s\n", b)
		return err
	case "github":
		return findings.GitHub(env.Stdout, relative(ds))
	case "sarif":
		return findings.SARIF(env.Stdout, relative(ds), Version, source)
	}
	shown, left := capped(ds, f.limit)
	tool.Render(env.Stdout, relative(shown), source, env.style(env.Stdout))
	if left > 0 {
		fmt.Fprintf(env.Stdout, "\n+%d more; --limit 0 shows every one\n", left)
	}
	if len(ds) > 0 {
		fmt.Fprintln(env.Stdout)
	}
	_, err := fmt.Fprintln(env.Stdout, summary(ds, targets))
	return err
}

// capped is the first diagnostics, at most limit of them (0: all), and how many are
// left. Errors come before warnings and notes, because they must be mended first.
func capped(ds tool.Diagnostics, limit int) (tool.Diagnostics, int) {
	if limit == 0 || len(ds) <= limit {
		return ds, 0
	}
	rank := map[tool.Severity]int{tool.Error: 0, tool.Warning: 1, tool.Note: 2}
	ds = slices.Clone(ds)
	slices.SortStableFunc(ds, func(x, y tool.Diagnostic) int { return rank[x.Severity] - rank[y.Severity] })
	return ds[:limit], len(ds) - limit
}

// summary is the last line: what was checked and what came of it.
func summary(ds tool.Diagnostics, targets int) string {
	var parts []string
	fixable := 0
	for _, s := range []tool.Severity{tool.Error, tool.Warning, tool.Note} {
		n := 0
		for _, d := range ds {
			if d.Severity == s {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, counted(n, string(s)))
		}
	}
	for _, d := range ds {
		if len(d.Fix) > 0 {
			fixable++
		}
	}
	words := count(targets)
	if ds.Err() != nil {
		words = counted(targets, "definition") + " checked"
	}
	if len(parts) > 0 {
		words += ": " + strings.Join(parts, ", ")
	}
	if fixable > 0 {
		words += fmt.Sprintf("; flowrun validate --fix can mend %d", fixable)
	}
	return words
}

// counted is a number with its word, which takes an s for more than one.
func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func count(n int) string {
	switch n {
	case 0:
		return "there are no definitions"
	case 1:
		return "1 definition is valid"
	}
	return fmt.Sprintf("%d definitions are valid", n)
}

// relative is diagnostics with the paths of files below the working directory as they
// are called from there.
func relative(ds tool.Diagnostics) tool.Diagnostics {
	ds = slices.Clone(ds)
	for i := range ds {
		ds[i].Pos.File = shortPath(ds[i].Pos.File)
		ds[i].Related = slices.Clone(ds[i].Related)
		for j := range ds[i].Related {
			ds[i].Related[j].Pos.File = shortPath(ds[i].Related[j].Pos.File)
		}
	}
	return ds
}

package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/plural"
)

// Limits of an answer of glob.
const (
	maxGlobbed = 500     // files in the answer
	maxFound   = 200_000 // files that are found and sorted
)

// recentPeriod is how long a file counts as recently changed.
const recentPeriod = 24 * time.Hour

func (f *files) glob() gostep.GoTool {
	return gostep.GoTool{
		Name: "glob", DisplayName: "Glob", Tags: []string{"read"}, Reads: true,
		Description: "Finds files whose paths match a pattern such as **/*.go or src/**/*.{ts,tsx} and returns their absolute paths: files changed in the last 24 hours come first, newest first, then the others by name. Hidden files are included; files ignored by .gitignore and the .git folder are not.",
		Schema: parsed(`{
			"type": "object",
			"properties": {
				"pattern": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The pattern, relative to path. * matches anything except /, ** any number of folders, ? one character, [a-z] one character of a range, {a,b} either alternative. A plain name such as go.mod matches only that file directly in path.", "examples": ["**/*.go"]},
				"path": {"type": "string", "minLength": 1, "description": "The folder to search, absolute or relative to the workspace. Default: the workspace.", "examples": ["src"]},
				"file_filtering_options": ` + filteringSchema + `
			},
			"required": ["pattern"],
			"additionalProperties": false
		}`),
		Describe: func(p map[string]any) string {
			return fmt.Sprintf("Finds files that match %s%s", quotedPiece(values(p).text("pattern")), within(p))
		},
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			rs := f.roots(in)
			text := values(in.Params).text("pattern")
			p, rest, err := rs.begin(values(in.Params).text("path"), text)
			if err != nil {
				return nil, err
			}
			g, err := pattern(rest, false)
			if err != nil {
				return nil, err
			}
			return globFiles(ctx, rs, p, text, g, in.Params)
		},
	}
}

// within returns the folder of a search in words.
func within(v values) string {
	if p := v.text("path"); p != "" {
		return " in " + p
	}
	return ""
}

// begin returns the folder that contains everything a pattern can match, and the rest of the pattern. A pattern that
// is an absolute path starts at the root of the file system.
func (rs *roots) begin(folder, text string) (place, string, error) {
	if err := checkPattern(filepath.ToSlash(text)); err != nil {
		return place{}, "", err
	}
	base, rest, err := cache.Base(text)
	if err != nil {
		return place{}, "", err
	}
	base = filepath.FromSlash(base)
	if !filepath.IsAbs(base) {
		p, err := rs.searched(folder)
		if err == nil {
			err = isFolder(p)
		}
		if err != nil || base == "." {
			return p, rest, err
		}
		base = filepath.Join(p.path, base)
	}
	p, err := rs.find(base)
	return p, rest, err
}

// globFile is a file that was found.
type globFile struct {
	path    string
	changed time.Time
}

func globFiles(ctx context.Context, rs *roots, p place, text string, g globPattern, v values) (*gostep.Content, error) {
	var list []globFile
	more := false
	w := &walk{ctx: ctx, gitIgnore: v.gitIgnore(), depth: g.depth, visit: func(e entry) error {
		if e.typ.IsDir() || !g.fits(e.rest) {
			return nil
		}
		if len(list) == maxFound {
			more = true
			return errEnough
		}
		if changed, ok := rs.changed(e); ok {
			list = append(list, globFile{e.path, changed})
		}
		return nil
	}}
	if err := w.from(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, notFolder(p, err)
	}
	sortFound(list, time.Now())
	return foundFiles(list, more, text, p, w), nil
}

// changed returns when a file was last written; ok is false if it is not a regular file. A link counts as its target,
// if that is in a granted folder.
func (rs *roots) changed(e entry) (time.Time, bool) {
	info, err := e.dir.Lstat(e.name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		var p place
		if p, err = rs.find(e.path); err == nil {
			var dir *os.Root
			if dir, err = p.parent(false); err == nil {
				info, err = dir.Lstat(p.name())
				dir.Close()
			}
		}
	}
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// sortFound sorts recently changed files first, the newest first, and the others by name.
func sortFound(list []globFile, now time.Time) {
	recent := func(f globFile) bool { return now.Sub(f.changed) < recentPeriod }
	slices.SortFunc(list, func(a, b globFile) int {
		switch x, y := recent(a), recent(b); {
		case x != y && x:
			return -1
		case x != y:
			return 1
		case x && !a.changed.Equal(b.changed):
			return b.changed.Compare(a.changed)
		}
		return cmp.Compare(a.path, b.path)
	})
}

func foundFiles(list []globFile, more bool, text string, p place, w *walk) *gostep.Content {
	left := ""
	if w.ignored > 0 {
		left = fmt.Sprintf(" (%s ignored by .gitignore)", plural.Of(w.ignored, "entry"))
	}
	if len(list) == 0 {
		short := fmt.Sprintf("No files match %s in %s%s", quotedPiece(text), p.path, left)
		hint := ""
		if !strings.Contains(text, "**") {
			hint = " A pattern without ** does not match files in subfolders: **/" + strings.TrimPrefix(filepath.Base(text), "/") + " does."
		}
		return textAnswer(short+"."+hint+w.notes(), short)
	}
	short := fmt.Sprintf("Found %s for %s in %s", plural.Of(len(list), "file"), quotedPiece(text), p.path)
	if more {
		short = "Found more than " + strings.TrimPrefix(short, "Found ")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, most recently changed first%s:\n---\n", short, left)
	for _, f := range list[:min(len(list), maxGlobbed)] {
		b.WriteString(f.path)
		b.WriteByte('\n')
	}
	if n := len(list) - maxGlobbed; n > 0 {
		fmt.Fprintf(&b, "---\n[%d more not shown; use a narrower pattern or path]\n", n)
	}
	return textAnswer(strings.TrimSuffix(b.String(), "\n")+w.notes(), short)
}

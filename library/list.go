package library

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Listed is one definition of a Library, as listings show it.
type Listed struct {
	Name        string
	Scope       tool.Scope
	Path        string // empty for tools registered from Go
	Description string
	Tags        []string // top-level tags, which affect approvals
	// Category, Subcategory, SearchTags and SearchKeywords are from the metadata section.
	Category, Subcategory      string
	SearchTags, SearchKeywords []string
	Platforms                  []string // empty = all
	Version                    string   // of the tool itself
	Deprecated                 bool
	DeprecatedMessage          string
	Scheduled                  bool   // it has schedules, or events that start it
	BaseTool                   string // of an alias
	BaseToolPos                tool.Pos
	// ShadowedBy is the path (or the scope, if there is no file) of the tool that a lookup finds instead because it has
	// the same name; empty if a lookup finds this one.
	ShadowedBy string
	// Diagnostics are the problems in the file, and that of an alias that runs itself.
	Diagnostics tool.Diagnostics
}

// Broken returns the first error, on one line with its position. It is empty if the tool has no errors.
func (e Listed) Broken() string {
	if i := slices.IndexFunc(e.Diagnostics, diagnostic.IsError); i >= 0 {
		return e.Diagnostics[i].String()
	}
	return ""
}

// List returns all definitions in the scopes, sorted by name. If several have the same name, the one that Lookup finds
// comes first. Files with errors are listed with the values that could be read; files that cannot be opened are listed
// by their file name.
func (l *Library) List() []Listed {
	var all []Listed
	for _, def := range l.goTools.all() {
		all = append(all, listed(def, nil))
	}
	for _, f := range l.folders {
		all = append(all, l.finder.listFolder(f)...)
	}
	markCycles(all, l.lookupFile)
	return markShadowed(all)
}

// markShadowed sorts a list by name and sets ShadowedBy. If several tools have the same name, the one that a lookup
// finds must come first in all.
func markShadowed(all []Listed) []Listed {
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

// listFolder returns the definitions in one folder. If several have the same name, the one that findFile returns comes
// first.
func (d *finder) listFolder(f folder) []Listed {
	files, _ := d.files(f.path)
	return d.listFiles(f, files)
}

// listFiles does that for the files of the folder.
func (d *finder) listFiles(f folder, files []string) []Listed {
	entries := make([]*indexed, len(files)) // nil for no tool
	known, now := d.indexes.of(f.path), d.now()
	var unread []int
	for i, file := range files {
		if entries[i] = known.valid(file, now); entries[i] == nil {
			unread = append(unread, i)
		}
	}
	d.readFiles(f, files, unread, entries)
	if slices.ContainsFunc(unread, func(i int) bool { return entries[i] != nil && entries[i].stamp != fileStamp{} }) {
		d.indexes.update(f.path, entries)
	}
	all := make([]Listed, 0, len(files))
	for _, e := range entries {
		if e != nil {
			all = append(all, e.tool)
			all[len(all)-1].Scope = f.scope
		}
	}
	slices.SortStableFunc(all, func(a, b Listed) int { return cmp.Compare(d.preference(a), d.preference(b)) })
	return all
}

// readFiles sets the entries of the files with these numbers.
func (d *finder) readFiles(f folder, files []string, numbers []int, entries []*indexed) {
	progress := d.progress
	if progress == nil || len(numbers) == 0 {
		progress = func(int, int) {}
	}
	var read atomic.Int64
	progress(0, len(numbers))
	inParallel(numbers, func(i int) {
		entries[i] = d.readListed(files[i], f.scope)
		progress(int(read.Add(1)), len(numbers))
	})
}

// readListed reads a file for a listing. It returns nil for Markdown that is not a tool, and for files that are not
// regular, such as pipes and the lock files of editors (hidden symbolic links without a target). The stamp is set only
// if the result may be cached.
func (d *finder) readListed(file string, scope tool.Scope) *indexed {
	c, err := d.loadCached(file, scope)
	var odd *notRegularError
	switch {
	case errors.Is(err, fs.ErrNotExist) && (!pathExists(file) || filepath.Base(file)[0] == '.'), errors.As(err, &odd):
		return nil
	case err != nil:
		return &indexed{tool: unreadable(file, err)}
	case decode.IsNotTool(c.found):
		return nil
	case d.customLoader(file) != nil && !c.def.Cacheable || !c.stamp.settled(c.read): // a loader may read further files
		return &indexed{tool: listed(c.def, c.found)}
	}
	return &indexed{c.stamp, listed(c.def, c.found)}
}

// inParallel calls do for each number in a list, on all processors in parallel.
func inParallel(list []int, do func(int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				do(list[i])
			}
		})
	}
	workers.Wait()
}

func listed(def *tool.Definition, found tool.Diagnostics) Listed {
	m := def.Metadata
	return Listed{
		Name: def.Name, Scope: def.Scope, Path: def.File, Description: def.Description, Tags: def.Tags,
		Category: m.Category, Subcategory: m.Subcategory, SearchTags: m.Tags, SearchKeywords: m.SearchKeywords,
		Platforms: def.Platforms, Version: def.Version, Deprecated: def.Deprecated, DeprecatedMessage: def.DeprecatedMessage,
		Scheduled: len(def.Schedules)+len(def.Triggers) > 0, BaseTool: def.BaseTool.S, BaseToolPos: def.BaseTool.Pos, Diagnostics: diagnostic.Reported(found),
	}
}

// unreadable returns the entry of a file that cannot be opened.
func unreadable(file string, err error) Listed {
	return Listed{Name: tool.Stem(file), Path: file, Diagnostics: tool.Diagnostics{{Code: "unreadable", Severity: tool.Error, Pos: tool.Pos{File: file, Line: 1, Col: 1},
		Message: err.Error(), Hint: "make the file readable, or remove it"}}}
}

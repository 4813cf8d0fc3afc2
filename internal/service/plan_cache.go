package service

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/filestamp"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// planCache holds the last valid version of each available definition. It keeps their
// sources, which are small, and a compiled plan only for those that were requested. Safe
// for concurrent use.
type planCache struct {
	library func() *library.Library
	served  []string // patterns of the built-in and discovered tools that are offered
	log     *slog.Logger

	mu        sync.Mutex
	lib       *library.Library
	entries   map[string]*entry // by name
	files     map[string]stamp  // every file that the entries were made of, and every file in the folders
	checkedAt time.Time
	version   uint64 // grows whenever definitions were read again
}

// entry is one tool.
type entry struct {
	listed  Tool
	file    string
	sources []tool.Source // of the last valid version; empty if there was none
	plan    *engine.Plan  // compiled from sources; nil until it is requested
}

func newPlanCache(library func() *library.Library, served []string, log *slog.Logger) *planCache {
	return &planCache{library: library, served: served, log: log, entries: map[string]*entry{}}
}

// Library returns the current Library.
func (c *planCache) Library() *library.Library {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lib
}

const (
	// folderInterval is the interval of checking the folders: most editors, and every copy or
	// removal, change them.
	folderInterval = time.Second
	// maxFileInterval is the longest interval between checks of each single file in the folders.
	// A check that takes the time t is not repeated for fileCostFactor times t, so that an idle
	// service with a thousand tools uses almost no CPU.
	maxFileInterval = 15 * time.Second
	fileCostFactor  = 2000
)

// follow polls until quit is closed. A requested tool is checked in addition, see current.
func (c *planCache) follow(quit <-chan struct{}) {
	tick := time.NewTicker(folderInterval)
	defer tick.Stop()
	var folders []stamp
	var due time.Time
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		began := time.Now()
		now := c.folders()
		if slices.Equal(now, folders) && began.Before(due) {
			continue
		}
		folders = now
		c.refresh()
		due = began.Add(min(max(folderInterval, fileCostFactor*time.Since(began)), maxFileInterval))
	}
}

// folders returns the stamps of the folders that contain tools.
func (c *planCache) folders() []stamp {
	var list []stamp
	for _, f := range c.Library().Folders() {
		list = append(list, stampOf(f.Path))
	}
	return list
}

// refresh reads the definitions again if a file has changed.
func (c *planCache) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	lib := c.library()
	if c.lib == nil || !slices.Equal(lib.Folders(), c.lib.Folders()) {
		c.lib, c.files = lib, nil
	}
	now := c.stamps()
	if c.files != nil && maps.Equal(now, c.files) && !fresh(now, c.checkedAt) {
		return
	}
	c.files, c.checkedAt = now, time.Now()
	c.read()
	c.addUsed(c.files)
	c.lib = c.library() // the used Library keeps everything it has read in memory
	debug.FreeOSMemory()
	c.version++
}

// read compiles every tool and keeps the last valid version of each.
func (c *planCache) read() {
	before, byFile := c.entries, map[string]*entry{}
	for _, e := range before {
		byFile[e.file] = e
	}
	c.entries = make(map[string]*entry, len(before))
	for _, l := range c.lib.List() {
		if l.ShadowedBy != "" {
			continue
		}
		plan, err := engine.Compile(c.lib, l.Name)
		old := before[l.Name]
		if old == nil && err != nil {
			old = byFile[l.Path] // the name in a broken file may be unreadable, so it is found by its path
		}
		e := newEntry(l, plan, err, old)
		c.entries[e.listed.Name] = e
		c.logChange(e, old)
	}
}

// newEntry makes the entry of a tool from its plan, or from the error why it has none, and
// from its former entry.
func newEntry(l library.Listed, plan *engine.Plan, err error, old *entry) *entry {
	e := &entry{file: l.Path, listed: Tool{Name: l.Name, Description: l.Description, Scope: string(l.Scope), Kind: kindOf(l.Scope, l.Path),
		Category: l.Category, Version: l.Version, Tags: l.Tags, Deprecated: l.Deprecated, BaseTool: l.BaseTool}}
	switch {
	case err != nil && old != nil:
		*e = *old
		e.listed.Broken = reason(err)
	case err != nil:
		e.listed.Broken = reason(err)
	default:
		e.sources = plan.Sources()
		if len(e.sources) == 0 { // defined in Go
			e.plan = plan
		} else if old != nil && sameSources(old.sources, e.sources) {
			e.plan = old.plan
		}
	}
	return e
}

// kindOf returns how a tool is defined.
func kindOf(scope tool.Scope, file string) string {
	switch scope {
	case tool.ScopeGo, tool.ScopeBuiltin, tool.ScopeDiscovered, tool.ScopeMCP:
		return string(scope)
	}
	for kind, extension := range extensions {
		if tool.Extension(file) == extension {
			return kind
		}
	}
	return "yaml"
}

// logChange logs once that a tool became invalid, and once that it is valid again.
func (c *planCache) logChange(e, old *entry) {
	was := ""
	if old != nil {
		was = old.listed.Broken
	}
	switch {
	case e.listed.Broken == was:
	case e.listed.Broken == "":
		c.log.Info("tool is valid again", "tool", e.listed.Name)
	case len(e.sources) > 0:
		c.log.Warn("tool is invalid; the service continues with its last valid version", "tool", e.listed.Name, "reason", e.listed.Broken)
	default:
		c.log.Warn("tool is invalid", "tool", e.listed.Name, "reason", e.listed.Broken)
	}
}

// plan returns the compiled tool: its newest version, or the last valid one. A tool that is
// not offered is not found, except if unlisted is set.
func (c *planCache) plan(name string, unlisted bool) (*engine.Plan, error) {
	if !c.current(name) {
		c.refresh()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[name]
	if e == nil && !unlisted && !slices.ContainsFunc(c.provided(), func(t Tool) bool { return t.Name == name }) {
		return nil, &library.NotFoundError{Name: name, Searched: []string{"the tools that the service offers"}, Near: tool.Near(name, c.names())}
	}
	if e == nil || e.plan == nil && len(e.sources) == 0 {
		return engine.Compile(c.lib, name) // returns the error of the broken definition
	}
	if e.plan == nil {
		plan, err := engine.Compile(c.lib.Snapshot(e.sources), e.sources[0].Name)
		if err != nil {
			return nil, fmt.Errorf("cannot use the last valid version of tool %s: %w", name, err)
		}
		e.plan = plan
	}
	return e.plan, nil
}

// Compiled returns the plan of a tool if it has been compiled.
func (c *planCache) Compiled(name string) []*engine.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[name]; e != nil && e.plan != nil {
		return []*engine.Plan{e.plan}
	}
	return nil
}

// current reports whether the files of a tool are unchanged. It makes a change take effect
// at the next request, before the next poll.
func (c *planCache) current(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[name]
	if e == nil || e.listed.Broken != "" {
		return false
	}
	for file := range e.files() {
		if now := stampOf(file); now != c.files[file] || now.fresh(c.checkedAt) {
			return false
		}
	}
	return true
}

// find returns an offered tool and the path of its file, "" if it is not in a file.
func (c *planCache) find(name string) (listed Tool, file string, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[name]; e != nil {
		return e.listed, e.file, true
	}
	for _, t := range c.provided() {
		if t.Name == name {
			return t, "", true
		}
	}
	return Tool{}, "", false
}

// list returns every offered tool, sorted by name.
func (c *planCache) list() []Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.provided()
	for _, e := range c.entries {
		list = append(list, e.listed)
	}
	slices.SortFunc(list, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// provided returns the offered tools that are built in or discovered.
func (c *planCache) provided() []Tool {
	list := []Tool{}
	if len(c.served) == 0 {
		return list // Provided may have to run a discovery command
	}
	for _, def := range c.lib.Provided() {
		same := func(t Tool) bool { return t.Name == def.Name }
		if c.entries[def.Name] == nil && MatchesAny(c.served, def.Name) && !slices.ContainsFunc(list, same) {
			list = append(list, Tool{Name: def.Name, Description: def.Description, Scope: string(def.Scope), Kind: kindOf(def.Scope, def.File),
				Category: def.Metadata.Category, Version: def.Version, Tags: def.Tags, Deprecated: def.Deprecated})
		}
	}
	return list
}

// names returns the names of all offered tools.
func (c *planCache) names() (names []string) {
	for _, t := range c.provided() {
		names = append(names, t.Name)
	}
	return slices.AppendSeq(names, maps.Keys(c.entries))
}

// health returns the number of tools and the reasons why some of them are broken.
func (c *planCache) health() (tools int, broken []string) {
	for _, t := range c.list() {
		if tools++; t.Broken != "" {
			broken = append(broken, t.Broken)
		}
	}
	return tools, broken
}

// reason returns why a definition is invalid, on one line with its location.
func reason(err error) string {
	var ds tool.Diagnostics
	if errors.As(err, &ds) {
		for _, d := range ds {
			if d.Severity == tool.Error {
				return d.String()
			}
		}
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func sameSources(a, b []tool.Source) bool {
	return slices.EqualFunc(a, b, func(x, y tool.Source) bool {
		return x.From == y.From && x.Name == y.Name && x.File == y.File && x.Digest == y.Digest
	})
}

// stamp distinguishes the states of a file.
type stamp struct {
	size          int64
	mode          fs.FileMode
	mtime         int64
	changed       int64 // see filestamp.Identity, as the rest
	device, inode uint64
}

// stampOf returns the stamp of a file, or the zero stamp if the file does not exist.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	s := stamp{size: info.Size(), mode: info.Mode(), mtime: info.ModTime().UnixNano()}
	s.changed, s.device, s.inode = filestamp.Identity(info)
	return s
}

// stampResolution is the time after a change in which another change may leave the same stamp.
const stampResolution = 50 * time.Millisecond

// fresh reports whether the file was changed so shortly before a time that a later change
// may have left the same stamp.
func (s stamp) fresh(looked time.Time) bool {
	age := looked.UnixNano() - max(s.mtime, s.changed)
	return -int64(stampResolution) < age && age < int64(stampResolution)
}

func fresh(files map[string]stamp, looked time.Time) bool {
	for _, s := range files {
		if s.fresh(looked) {
			return true
		}
	}
	return false
}

// stamps returns the stamps of all files in the folders and of the files that tools use.
func (c *planCache) stamps() map[string]stamp {
	now := make(map[string]stamp, len(c.files))
	for _, f := range c.lib.Folders() {
		entries, err := os.ReadDir(f.Path)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := filepath.Join(f.Path, e.Name())
			if s := stampOf(path); s != (stamp{}) && !s.mode.IsDir() {
				now[path] = s
			}
		}
	}
	c.addUsed(now)
	return now
}

// files returns the files that the tool was made of.
func (e *entry) files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, src := range e.sources {
			if !yield(src.File) {
				return
			}
			for _, part := range src.Files {
				if !yield(part.Path) {
					return
				}
			}
		}
	}
}

// addUsed adds the stamps of files outside of the folders that tools use by path.
func (c *planCache) addUsed(files map[string]stamp) {
	for _, e := range c.entries {
		for file := range e.files() {
			if _, known := files[file]; !known {
				files[file] = stampOf(file)
			}
		}
	}
}

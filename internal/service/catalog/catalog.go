// Package catalog keeps the definitions that a service offers: it reads them when they change, and
// changes their files for callers.
//
// # The model
//
// Definitions are read when they change, not when they are requested. If a definition becomes
// invalid, its last valid version stays in use. A run keeps the version that it started with.
//
// A caller over the network names a tool, never a path: [Editor] too finds a file by the name of
// its tool only.
package catalog

import (
	"fmt"
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
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Catalog holds the last valid version of each available definition. It keeps their
// sources, which are small, and a compiled plan only for those that were requested. Safe
// for concurrent use.
type Catalog struct {
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

// New returns a Catalog without definitions; Refresh reads them. library returns a Library of the
// available definitions. It is called repeatedly, because folders appear and disappear. served are
// patterns of the built-in and discovered tools that are offered in addition to those in files.
func New(library func() *library.Library, served []string, log *slog.Logger) *Catalog {
	return &Catalog{library: library, served: served, log: log, entries: map[string]*entry{}}
}

// IsPath reports whether name is the path of a file.
func IsPath(name string) bool {
	return tool.Extension(name) != "" || strings.ContainsAny(name, `/\`)
}

// Library returns the current Library.
func (c *Catalog) Library() *library.Library {
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

// Follow polls until quit is closed. A requested tool is checked in addition, see current.
func (c *Catalog) Follow(quit <-chan struct{}) {
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
		c.Refresh()
		due = began.Add(min(max(folderInterval, fileCostFactor*time.Since(began)), maxFileInterval))
	}
}

// folders returns the stamps of the folders that contain tools.
func (c *Catalog) folders() []stamp {
	var list []stamp
	for _, f := range c.Library().Folders() {
		list = append(list, stampOf(f.Path))
	}
	return list
}

// Refresh reads the definitions again if a file has changed.
func (c *Catalog) Refresh() {
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
func (c *Catalog) read() {
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

// logChange logs once that a tool became invalid, and once that it is valid again.
func (c *Catalog) logChange(e, old *entry) {
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

// Plan compiles an offered tool: its newest version, or the last valid one. Errors: ErrPath, a
// library.NotFoundError, tool.Diagnostics.
func (c *Catalog) Plan(name string) (*engine.Plan, error) { return c.plan(name, false) }

// AnyPlan compiles a tool, including one that is not offered to callers over the network.
func (c *Catalog) AnyPlan(name string) (*engine.Plan, error) { return c.plan(name, true) }

// plan compiles a tool. One that is not offered is not found, except if unlisted is set.
func (c *Catalog) plan(name string, unlisted bool) (*engine.Plan, error) {
	if IsPath(name) {
		return nil, outcome.ErrPath
	}
	if !c.current(name) {
		c.Refresh()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[name]
	if e == nil && !unlisted && !slices.ContainsFunc(c.provided(), func(t Tool) bool { return t.Name == name }) {
		return nil, &library.NotFoundError{Name: name, Searched: []string{"the tools that the service offers"}, Near: diagnostic.Near(name, c.names())}
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
func (c *Catalog) Compiled(name string) []*engine.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[name]; e != nil && e.plan != nil {
		return []*engine.Plan{e.plan}
	}
	return nil
}

// current reports whether the files of a tool are unchanged. It makes a change take effect
// at the next request, before the next poll.
func (c *Catalog) current(name string) bool {
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
func (c *Catalog) find(name string) (listed Tool, file string, known bool) {
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

// Tools returns every offered tool, sorted by name.
func (c *Catalog) Tools() []Tool {
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
func (c *Catalog) provided() []Tool {
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
func (c *Catalog) names() (names []string) {
	for _, t := range c.provided() {
		names = append(names, t.Name)
	}
	return slices.AppendSeq(names, maps.Keys(c.entries))
}

// Health returns the number of tools and the reasons why some of them are broken.
func (c *Catalog) Health() (tools int, broken []string) {
	for _, t := range c.Tools() {
		if tools++; t.Broken != "" {
			broken = append(broken, t.Broken)
		}
	}
	return tools, broken
}

// stamps returns the stamps of all files in the folders and of the files that tools use.
func (c *Catalog) stamps() map[string]stamp {
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

// addUsed adds the stamps of files outside of the folders that tools use by path.
func (c *Catalog) addUsed(files map[string]stamp) {
	for _, e := range c.entries {
		for file := range e.files() {
			if _, known := files[file]; !known {
				files[file] = stampOf(file)
			}
		}
	}
}

// Offered returns a library.NotFoundError if a recorded run is not one of an offered tool. A run is one of the offered tool of its name only if both have the same
// file: flowrun run accepts any path, also of a file whose tool has the name of another.
func (c *Catalog) Offered(past *engine.RecordedRun) error {
	name, file := past.Record.Tool, ""
	if len(past.Record.Sources) > 0 {
		file = past.Record.Sources[0].File
	}
	if _, offered, known := c.find(name); !known || file != "" && !sameFile(file, offered) {
		return &library.NotFoundError{Name: name, Searched: []string{"the tools that the service offers"}}
	}
	return nil
}

// sameFile reports whether two paths are equal or lead to one file. A path that is equal may lead
// nowhere now: a tool whose file was removed is offered until its folder is read again.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Version returns a number that grows when available definitions have been read again.
func (c *Catalog) Version() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

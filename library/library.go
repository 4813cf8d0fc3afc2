// Package library finds definitions: by name in the folders of the project, the user and the machine, by path, among
// tools that a program adds in Go, and among those of providers such as MCP servers. Package tool reads what it finds.
//
// # The model
//
// A [Library] has folders in a fixed order (library.go). Lookup goes through them (lookup.go) and reads one file
// (load.go), which it keeps in memory until the file changes (stamp.go). The names in a definition are looked up from
// its own folder, so that a tool of the user never finds one of a project that nobody trusts (project.go).
//
// List reads whole folders (list.go), and may keep what it read in an index for the next process (index.go). A
// snapshot of a Library finds nothing but the definitions that a run was compiled from (snapshot.go).
//
// The package does not know what definitions mean.
package library

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Config specifies where a Library searches. The zero Config uses the working directory, home and environment of the
// process.
type Config struct {
	WorkingDirectory string              // default: that of the process
	Home             string              // default: that of the user who runs the process
	Getenv           func(string) string // default: os.Getenv
	// Index is a folder in which List caches the contents of large folders between processes; "" = none. It is created
	// when it is needed. Changed files are read again. Errors while writing the cache are ignored.
	Index string
	// Trusted reports whether the user trusts the project in a folder. Tools of the user and of the machine find tools
	// of trusted projects only. nil = no project is trusted.
	Trusted func(folder string) bool
	// MaxPlanSteps is the maximum number of steps in the plan of a tool, including those of the tools it uses; 0 = one
	// million.
	MaxPlanSteps int
	// Progress, if set, is called before List reads files of a folder, and after each: read of them are done.
	// It must be safe for concurrent use.
	Progress func(read, total int)
}

// Library finds definitions by name in the scopes, or by path. Files are read when they are needed, and again only
// after they have changed. A Library is safe for concurrent use. The definitions it returns are shared: do not modify
// them.
type Library struct {
	workDir string
	folders []folder

	trusted  func(folder string) bool // Config.Trusted
	maxSteps int                      // Config.MaxPlanSteps
	progress func(read, total int)    // Config.Progress

	indexFolder string // Config.Index
	programID   string // see programID
	now         func() time.Time

	mu             sync.Mutex
	extensions     []string               // in order of preference
	loaders        map[string]tool.Loader // for files that Decode does not read, by extension
	added          []*tool.Definition
	provided       []*provider // tools that are not in files; earlier providers take precedence
	explainMissing func() string
	cache          map[string]cachedFile
	index          map[string]index          // by folder
	snapshot       map[lookupKey]tool.Source // of a Snapshot: its sources; it reads no files
	live           *Library                  // of a Snapshot: the Library it was made from
}

// folder is one folder of a scope.
type folder struct {
	scope tool.Scope
	path  string
}

// cachedFile is a cached file.
type cachedFile struct {
	stamp fileStamp
	read  time.Time
	src   []byte
	def   *tool.Definition
	found tool.Diagnostics
	files map[string]fileStamp // of the further files that def was made of
}

// stale reports whether one of the further files that the definition was made of has changed.
func (c cachedFile) stale() bool {
	for file, was := range c.files {
		if info, err := os.Stat(file); err != nil || stampOf(info) != was {
			return true
		}
	}
	return false
}

// stampsOf returns the stamps of those files that exist.
func stampsOf(files []tool.Part) map[string]fileStamp {
	stamps := make(map[string]fileStamp, len(files))
	for _, file := range files {
		if info, err := os.Stat(file.Path); err == nil {
			stamps[file.Path] = stampOf(info)
		}
	}
	return stamps
}

// MaxPlanSteps returns Config.MaxPlanSteps, and 0 for a nil Library.
func (l *Library) MaxPlanSteps() int {
	if l == nil {
		return 0
	}
	return l.maxSteps
}

// New creates a Library. It accesses the file system only to find the local scope: the nearest .flowrun/tools
// and .cycod/tools in the working directory or above it, up to the root of the repository.
func New(c Config) *Library {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.WorkingDirectory == "" {
		c.WorkingDirectory, _ = os.Getwd() // if it is unknown, names are looked up only in the other scopes
	}
	if abs, err := filepath.Abs(c.WorkingDirectory); err == nil {
		c.WorkingDirectory = abs // otherwise the search upwards would end at once
	}
	if c.Home == "" {
		c.Home, _ = home.Dir()
	}
	l := &Library{
		workDir:    c.WorkingDirectory,
		folders:    folders(c),
		extensions: []string{".yaml", ".yml", ".json", ".md"},
		loaders:    map[string]tool.Loader{},
		cache:      map[string]cachedFile{},
		index:      map[string]index{},
		now:        time.Now,
		trusted:    c.Trusted,
		maxSteps:   c.MaxPlanSteps,
		progress:   c.Progress,
	}
	if c.Index != "" {
		l.indexFolder, l.programID = c.Index, programID()
	}
	return l
}

// folders returns all folders in which names are looked up, in order.
func folders(c Config) []folder {
	user := []string{}
	if xdg := c.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		user = append(user, filepath.Join(xdg, "flowrun", "tools"))
	} else if c.Home != "" {
		user = append(user, filepath.Join(c.Home, ".config", "flowrun", "tools"))
	}
	if c.Home != "" {
		user = append(user, filepath.Join(c.Home, ".cycod", "tools"))
	}
	global := c.Getenv("FLOWRUN_GLOBAL_TOOLS")
	if global == "" {
		global = "/etc/flowrun/tools"
	}
	var all []folder
	for _, name := range []string{".flowrun", ".cycod"} {
		// If the home directory is not in a repository, the search upwards finds the user's own folder. It belongs to
		// the user scope.
		if dir := nearestAbove(c.WorkingDirectory, filepath.Join(name, "tools")); dir != "" && !slices.Contains(user, dir) {
			all = append(all, folder{tool.ScopeLocal, dir})
		}
	}
	for _, dir := range user {
		all = append(all, folder{tool.ScopeUser, dir})
	}
	all = append(all, folder{tool.ScopeGlobal, global})
	return slices.DeleteFunc(all, func(f folder) bool { return !ownership.Counts(f.path) })
}

// Add registers a definition made in Go. It takes precedence over files with the same name. Do not modify the
// definition afterwards. Add fails if the name is invalid or already registered.
func (l *Library) Add(def *tool.Definition) error {
	if !tool.ValidName(def.Name) {
		return fmt.Errorf("cannot add the tool: %q cannot be the name of a tool", def.Name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(l.added, func(d *tool.Definition) bool { return d.Name == def.Name }) {
		return fmt.Errorf("cannot add the tool: a tool named %q already exists", def.Name)
	}
	def.Scope = tool.ScopeGo
	l.added = append(l.added, def)
	return nil
}

// Handle registers the loader for files with an extension such as ".md" or ".tool.js". If several extensions match a
// file, the longest one applies.
func (l *Library) Handle(extension string, load tool.Loader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.extensions, extension) {
		l.extensions = append(l.extensions, extension)
	}
	l.loaders[extension] = load
}

// extension returns the part of a file name that selects its loader, or "" if no extension matches.
func (l *Library) extension(file string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	longest := ""
	for _, e := range l.extensions {
		if len(e) > len(longest) && strings.HasSuffix(strings.ToLower(file), e) {
			longest = e
		}
	}
	return longest
}

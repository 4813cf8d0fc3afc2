// Package library finds definitions: by name in the folders of the project, the user and the machine, by path, among
// tools that a program adds in Go, and among those of providers such as MCP servers. Package tool reads what it finds.
//
// # The model
//
// A [Library] has folders in a fixed order (search_order.go). Lookup goes through them (lookup.go), finds the file of a
// name in one of them (find.go) and reads it (reader.go), in the format of its extension (format.go). The names in a
// definition are looked up from its own folder, so that a tool of the user never finds one of a project that nobody
// trusts.
//
// List reads whole folders (list.go), and may keep what it read in an index for the next process (index.go). A
// snapshot of a Library finds nothing but the definitions that a run was compiled from (snapshot.go).
//
// The package does not know what definitions mean.
package library

import (
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/home"
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
	workDir  string
	folders  folders
	trusted  func(folder string) bool // Config.Trusted
	maxSteps int                      // Config.MaxPlanSteps

	formats        *formats
	reader         *reader
	finder         *finder
	goTools        goTools
	providers      providers // of tools that are not in files
	explainMissing atomic.Pointer[func() string]

	snapshot map[lookupKey]tool.Source // of a Snapshot: its sources; it reads no files
	live     *Library                  // of a Snapshot: the Library it was made from
	closed   bool                      // see Closed
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
	l := &Library{workDir: c.WorkingDirectory, folders: foldersOf(c), trusted: c.Trusted, maxSteps: c.MaxPlanSteps, formats: newFormats()}
	l.reader = newReader(l.formats)
	l.finder = &finder{reader: l.reader, indexes: newIndexes(c.Index), folders: l.folders, progress: c.Progress}
	return l
}

// Handle registers the loader for files with an extension such as ".md" or ".tool.js". If several extensions match a
// file, the longest one applies.
func (l *Library) Handle(extension string, load tool.Loader) { l.formats.handle(extension, load) }

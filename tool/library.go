package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/home"
	"github.com/flowrun/flowrun/internal/ownership"
)

// Scope is where a definition was found. Lookups by name go through the scopes
// in the order they stand here and take the first match.
type Scope string

const (
	ScopeGo     Scope = "go"     // registered by the program, see Library.Add
	ScopeLocal  Scope = "local"  // .flowrun/tools at or above the working directory
	ScopeUser   Scope = "user"   // the configuration of the user
	ScopeGlobal Scope = "global" // the configuration of the machine
	ScopeFile   Scope = "file"   // named by path

	ScopeBuiltin    Scope = "builtin"    // part of the program, see Library.Provide
	ScopeDiscovered Scope = "discovered" // told of by a program, see Library.Provide
)

// Config says where a Library looks. The zero Config reads the process.
type Config struct {
	WorkingDirectory string              // default: of the process
	Home             string              // default: of the process's user
	Getenv           func(string) string // default: os.Getenv
	// Index is a folder, made when it is needed, for what List remembers of large
	// folders between processes; "" for none. Whatever changed is read all the same,
	// and what cannot be kept there is not missed.
	Index string
	// Trusted says whether the user trusts the project in a folder. Tools of the user and of
	// the machine find the tools of such a project only. nil: no project is trusted.
	Trusted func(folder string) bool
	// MaxPlanSteps is how many steps the plan of a tool may have, with those of the tools
	// it uses; 0 is a million.
	MaxPlanSteps int
}

// Loader reads a definition from the bytes of a file, as Decode does. It may be called
// from several goroutines at once.
type Loader func(file string, src []byte) (*Definition, Diagnostics)

// Library finds definitions by name in the scopes, or by path.
// Files are read when they are asked for and read again only after
// they changed. A Library is safe for concurrent use; the definitions it
// returns are shared and must not be changed.
type Library struct {
	workDir string
	folders []folder

	trusted  func(folder string) bool // Config.Trusted
	maxSteps int                      // Config.MaxPlanSteps

	indexes string // Config.Index
	program string // see program
	now     func() time.Time

	mu         sync.Mutex
	extensions []string          // in order of preference
	loaders    map[string]Loader // of what others than Decode read
	added      []*Definition
	provided   []*provider // by others than files, the strongest first
	missed     func() string
	cache      map[string]loaded
	index      map[string]index // of folders
	frozen     map[asked]Source // of a Snapshot, which reads nothing else
	live       *Library         // of a Snapshot: what it was made of
}

// folder is one place of a scope.
type folder struct {
	scope Scope
	path  string
}

// loaded is a file as it was at one time.
type loaded struct {
	stamp stamp
	read  time.Time
	src   []byte
	def   *Definition
	found Diagnostics
	files map[string]stamp // of what def was made of beside the file
}

// moved says whether something that the definition was made of beside its file has
// changed.
func (c loaded) moved() bool {
	for file, was := range c.files {
		if info, err := os.Stat(file); err != nil || stampOf(info) != was {
			return true
		}
	}
	return false
}

// stampsOf are those of files that are there.
func stampsOf(files []string) map[string]stamp {
	stamps := make(map[string]stamp, len(files))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			stamps[file] = stampOf(info)
		}
	}
	return stamps
}

// MaxPlanSteps is that of the Config.
func (l *Library) MaxPlanSteps() int {
	if l == nil {
		return 0
	}
	return l.maxSteps
}

// NewLibrary makes a Library. It touches no file but to find the local scope:
// the nearest .flowrun/tools and .cycod/tools from the working directory
// upwards, not beyond the root of a repository.
func NewLibrary(c Config) *Library {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.WorkingDirectory == "" {
		c.WorkingDirectory, _ = os.Getwd() // without one, names are only looked up in the other scopes
	}
	if abs, err := filepath.Abs(c.WorkingDirectory); err == nil {
		c.WorkingDirectory = abs // or the walk upwards would end at once
	}
	if c.Home == "" {
		c.Home, _ = home.Dir()
	}
	l := &Library{
		workDir:    c.WorkingDirectory,
		folders:    folders(c),
		extensions: []string{".yaml", ".yml", ".json", ".md"},
		loaders:    map[string]Loader{},
		cache:      map[string]loaded{},
		index:      map[string]index{},
		now:        time.Now,
		trusted:    c.Trusted,
		maxSteps:   c.MaxPlanSteps,
	}
	if c.Index != "" {
		l.indexes, l.program = c.Index, program()
	}
	return l
}

// folders is every place names are looked up, in order.
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
		// Under a home that is no repository the walk upwards meets the user's
		// own folder: that stays the user's.
		if dir := nearest(c.WorkingDirectory, filepath.Join(name, "tools")); dir != "" && !slices.Contains(user, dir) {
			all = append(all, folder{ScopeLocal, dir})
		}
	}
	for _, dir := range user {
		all = append(all, folder{ScopeUser, dir})
	}
	all = append(all, folder{ScopeGlobal, global})
	return slices.DeleteFunc(all, func(f folder) bool { return !ownership.Counts(f.path) })
}

// Add registers a definition made in Go. It is found before files of the same
// name. The definition must not be changed afterwards.
func (l *Library) Add(def *Definition) error {
	if !ValidName(def.Name) {
		return fmt.Errorf("cannot add the tool: %q cannot be the name of a tool", def.Name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(l.added, func(d *Definition) bool { return d.Name == def.Name }) {
		return fmt.Errorf("cannot add the tool: a tool named %q already exists", def.Name)
	}
	def.Scope = ScopeGo
	l.added = append(l.added, def)
	return nil
}

// Handle has files with an extension (".md", ".tool.js") read by a loader. Of
// several that match a file, the longest extension counts.
func (l *Library) Handle(extension string, load Loader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.extensions, extension) {
		l.extensions = append(l.extensions, extension)
	}
	l.loaders[extension] = load
}

// extension is the part of a file's name that chooses its loader, empty where
// none takes it.
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

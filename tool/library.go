package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/diagnostic"
	"github.com/flowrun/flowrun/internal/home"
	"github.com/flowrun/flowrun/internal/keytable"
	"github.com/flowrun/flowrun/internal/ownership"
)

// Scope is where a definition was found. Lookups by name go through the scopes
// in the order they stand here and take the first match (S1-005).
type Scope string

const (
	ScopeGo     Scope = "go"     // registered by the program, see Library.Add
	ScopeLocal  Scope = "local"  // .flowrun/tools at or above the working directory
	ScopeUser   Scope = "user"   // the configuration of the user
	ScopeGlobal Scope = "global" // the configuration of the machine
	ScopeFile   Scope = "file"   // named by path

	ScopeBuiltin    Scope = "builtin"    // part of the program, see Library.Provide
	ScopeDiscovered Scope = "discovered" // told of by a program, see Library.Provide (S4-030)
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

// Library finds definitions by name in the scopes, or by path (S1-001 to
// S1-008). Files are read when they are asked for and read again only after
// they changed. A Library is safe for concurrent use; the definitions it
// returns are shared and must not be changed.
type Library struct {
	workDir string
	folders []folder

	trusted   func(folder string) bool // Config.Trusted
	mostSteps int                      // Config.MaxPlanSteps

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
	return l.mostSteps
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
		mostSteps:  c.MaxPlanSteps,
	}
	if c.Index != "" {
		l.indexes, l.program = c.Index, program()
	}
	return l
}

// folders is every place names are looked up, in order (S1-002 to S1-004).
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

// nearest is the first folder of that name at or above dir, not beyond the root of a
// repository; empty for none. One that others may write is passed over.
func nearest(dir, name string) string {
	for dir != "" {
		found := filepath.Join(dir, name)
		switch info, err := os.Stat(found); {
		case err == nil && info.IsDir() && ownership.Counts(found):
			return found
		case errors.Is(err, fs.ErrPermission) && isThere(filepath.Dir(found)): // the first, but closed
			return found
		}
		parent := filepath.Dir(dir)
		if parent == dir || isRepositoryRoot(dir) {
			return ""
		}
		dir = parent
	}
	return ""
}

func isRepositoryRoot(dir string) bool {
	for _, name := range []string{".git", ".hg", ".jj"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// Add registers a definition made in Go. It is found before files of the same
// name. The definition must not be changed afterwards.
func (l *Library) Add(def *Definition) error {
	if !ValidName(def.Name) {
		return fmt.Errorf("cannot add a tool: %q cannot be its name", def.Name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(l.added, func(d *Definition) bool { return d.Name == def.Name }) {
		return fmt.Errorf("cannot add a tool: there is already one called %q", def.Name)
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

// NotFoundError says that no tool has a name.
type NotFoundError struct {
	Name     string
	Scope    Scope    // the only one that was searched; empty for all
	Searched []string // folders, in order
	Near     []string // similar names there are, at most three
	Note     string   // where it could have come from, and why it did not; see Library.Missed
}

func (e *NotFoundError) Error() string {
	where := ""
	if e.Scope != "" {
		where = " in the scope " + string(e.Scope)
	}
	message := fmt.Sprintf("cannot find the tool %s%s: looked in %s", diagnostic.Quote(e.Name), where, strings.Join(e.Searched, ", "))
	if len(e.Near) > 0 {
		message += "; " + diagnostic.Ask(e.Near)
	}
	if e.Note != "" {
		message += "; " + e.Note
	}
	return message
}

// Lookup finds a tool by name or path. A path holds a slash or ends in a known
// extension; a relative one counts from the folder of the file it is written
// in, else from the working directory. A name belongs to the file that says it
// (name:) or is called it.
//
// from is the definition the name stands in (use-tool, base-tool), nil for a
// caller's own. Where that was named by path, its folder is looked in first. One that
// does not belong to the project, a tool of the user or of the machine, finds what is
// beside it, the user's tools, those of the machine and the built-in ones; those of the
// project come last, and only if it is trusted (Config.Trusted).
//
// The error is a *NotFoundError, or why a file, or the folder of a scope, could not be
// read. What is wrong
// inside the file is in the Diagnostics; see Decode.
func (l *Library) Lookup(name string, from *Definition) (*Definition, Diagnostics, error) {
	if l.frozen != nil {
		if def := l.registered(name); def != nil {
			return def, nil, nil
		}
		return l.recall(name, from)
	}
	if strings.ContainsAny(name, `/\`) || l.extension(name) != "" && l.extension(name) != name {
		return l.load(l.resolve(name, from), ScopeFile)
	}
	if def := l.registered(name); def != nil {
		return def, nil, nil
	}
	places, last := l.places(from)
	if def, found, err := l.in(places, name); def != nil || err != nil {
		return def, found, err
	}
	if def := l.given(name, from); def != nil {
		return def, nil, nil
	}
	def, found, err := l.inProject(last, name)
	if def == nil && err == nil {
		err = l.nowhere(name, slices.Concat(places, last))
	}
	return def, found, err
}

// in looks a name up in folders; all is nil where none of them has it.
func (l *Library) in(places []folder, name string) (*Definition, Diagnostics, error) {
	for _, f := range places {
		if file := l.find(f.path, name); file != "" {
			return l.load(file, f.scope)
		}
		if err := f.closed(); err != nil { // another tool of that name must not run in its place
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

// inProject looks a name up for a tool that does not belong to the project.
func (l *Library) inProject(places []folder, name string) (*Definition, Diagnostics, error) {
	for _, f := range places {
		if project := ProjectOf(f.path); l.trusted == nil || !l.trusted(project) {
			if l.find(f.path, name) != "" {
				return nil, nil, &NotFoundError{Name: name, Searched: []string{f.path}, Note: fmt.Sprintf(
					"the project %s has one, which tools outside of it find only if the project is trusted", diagnostic.Quote(project))}
			}
			continue
		}
		if def, found, err := l.in([]folder{f}, name); def != nil || err != nil {
			return def, found, err
		}
	}
	return nil, nil, nil
}

// ProjectOf is the project that a folder of tools belongs to: the folder that holds its
// .flowrun or .cycod.
func ProjectOf(tools string) string { return filepath.Dir(filepath.Dir(tools)) }

func (l *Library) resolve(path string, from *Definition) string {
	switch {
	case filepath.IsAbs(path):
		return path
	case from != nil && from.File != "":
		return filepath.Join(filepath.Dir(from.File), path)
	}
	return filepath.Join(l.workDir, path)
}

func (l *Library) registered(name string) *Definition {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, def := range l.added {
		if def.Name == name {
			return def
		}
	}
	return nil
}

// places are the folders that a name is looked up in, and those that come after the
// tools that stand in no file.
func (l *Library) places(from *Definition) (first, last []folder) {
	if from == nil || from.File == "" {
		return l.folders, nil
	}
	dir, inProject := filepath.Dir(from.File), false
	beside := folder{ScopeFile, dir}
	for _, f := range l.folders {
		switch project := f.scope == ScopeLocal; {
		case project && below(ProjectOf(f.path), dir):
			inProject = true
		case !project && below(f.path, dir):
			if f.path == dir {
				beside = f
			}
			return l.outside(beside)
		}
	}
	switch {
	case !inProject:
		return l.outside(beside)
	case from.Scope == ScopeFile:
		return append([]folder{beside}, l.folders...), nil
	}
	return l.folders, nil
}

// outside are the places for the names in a definition that does not belong to the project.
func (l *Library) outside(beside folder) (first, last []folder) {
	first = []folder{beside}
	for _, f := range l.folders {
		switch {
		case f.scope == ScopeLocal:
			last = append(last, f)
		case f != beside:
			first = append(first, f)
		}
	}
	return first, last
}

// below reports whether a folder is another one or lies in it.
func below(top, dir string) bool {
	rest, err := filepath.Rel(top, dir)
	return err == nil && filepath.IsLocal(rest)
}

// find is the file of a folder that a name belongs to, empty for none: the one
// called so that also says so, else another that says so, else the one called so.
func (l *Library) find(dir, name string) string {
	called := l.called(dir, name)
	if called != "" && l.guards(dir) && !ownership.Counts(called) {
		called = ""
	}
	if called != "" && l.says(called, name) {
		return called
	}
	known, now := l.known(dir), l.now()
	for _, file := range l.files(dir) {
		e, ok := known.trusted(file, now)
		if ok && e.tool.Name == name || !ok && file != called && l.says(file, name) {
			return file
		}
	}
	return called
}

// called is the file of a folder with a name, empty for none.
func (l *Library) called(dir, name string) string {
	l.mu.Lock()
	extensions := slices.Clone(l.extensions)
	l.mu.Unlock()
	for _, e := range extensions {
		file := filepath.Join(dir, name+e)
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() && !l.noTool(file) || err != nil && isThere(file) {
			return file
		}
	}
	return ""
}

// isThere says whether a path names something, be it a link to nowhere.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// says says whether the definition in a file has a name. Of those where the name
// stands nowhere, which is nearly all of a folder, no more is read than the bytes.
func (l *Library) says(file, name string) bool {
	if l.custom(file) == nil && stem(file) != name {
		src, _, err := read(file)
		if err != nil || !mayHold(src, name) {
			return false
		}
	}
	def, found, err := l.load(file, ScopeFile)
	return err == nil && def.Name == name && !isNoTool(found)
}

// noTool says whether a file is Markdown that is no tool, which stands in folders of
// tools as well (S0-010).
func (l *Library) noTool(file string) bool {
	if !isPage(file) {
		return false
	}
	_, found, err := l.load(file, ScopeFile)
	return err == nil && isNoTool(found)
}

// mayHold says whether YAML text can hold a name as a value: it stands there, or may be
// written with escapes, which only a text in double quotes has.
func mayHold(src []byte, name string) bool {
	if bytes.Contains(src, []byte(name)) {
		return true
	}
	for at := 0; ; at++ {
		next := bytes.IndexByte(src[at:], '\\')
		if next < 0 {
			return false
		}
		at += next
		if before := bytes.TrimRightFunc(src[:at], inName); bytes.HasSuffix(before, []byte(`"`)) {
			return true
		}
	}
}

// inName says whether a character may stand in a name.
func inName(r rune) bool {
	return r < utf8.RuneSelf && (keytable.IsNameByte(byte(r)) || r == '.')
}

// guards says whether names are looked up in a folder without anybody having named it:
// there, files that others may write are passed over.
func (l *Library) guards(dir string) bool {
	return slices.ContainsFunc(l.folders, func(f folder) bool { return f.path == dir })
}

// files is the definition files of a folder, sorted; a folder that is not there
// has none.
func (l *Library) files(dir string) []string {
	entries, _ := os.ReadDir(dir)
	guards := l.guards(dir)
	var files []string
	for _, e := range entries {
		if e.IsDir() || l.extension(e.Name()) == "" {
			continue
		}
		if file := filepath.Join(dir, e.Name()); !guards || ownership.Counts(file) {
			files = append(files, file)
		}
	}
	return files
}

func (l *Library) missing(name string, places []folder) *NotFoundError {
	e := &NotFoundError{Name: name}
	var names []string
	for _, def := range l.registeredAll() {
		names = append(names, def.Name)
	}
	for _, f := range places {
		e.Searched = append(e.Searched, f.path)
		for _, e := range l.listFolder(f) {
			names = append(names, e.Name)
		}
	}
	e.Near = Near(name, names)
	return e
}

// nowhere is missing for a name that the providers do not have, either.
func (l *Library) nowhere(name string, places []folder) *NotFoundError {
	e := l.missing(name, places)
	names := slices.Clone(e.Near)
	for _, def := range l.Provided() {
		names = append(names, def.Name)
	}
	e.Near = Near(name, names)
	l.mu.Lock()
	missed := l.missed
	l.mu.Unlock()
	if missed != nil {
		e.Note = missed()
	}
	if ignored := ownership.Untold(); e.Note == "" && len(ignored) > 0 {
		e.Note = ignored[0]
	}
	return e
}

func (l *Library) registeredAll() []*Definition {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.added)
}

// Load reads the definition in a file. The error is why the file could not be read; what
// is wrong inside is in the Diagnostics.
func (l *Library) Load(path string) (*Definition, Diagnostics, error) {
	return l.load(path, ScopeFile)
}

// Read reads a definition from a text as if it stood in a file, which is not opened, in
// a scope. The Definition is never nil; see Decode.
func (l *Library) Read(file string, scope Scope, text []byte) (*Definition, Diagnostics) {
	return l.decode(file, scope, text)
}

// load reads a file, or takes what was read from it before. Two goroutines that
// miss at once both read it, which costs less than waiting under a lock.
func (l *Library) load(path string, scope Scope) (*Definition, Diagnostics, error) {
	c, err := l.loaded(path, scope)
	return c.def, c.found, err
}

func (l *Library) loaded(path string, scope Scope) (loaded, error) {
	key := string(scope) + "\x00" + path
	l.mu.Lock()
	c, ok := l.cache[key]
	l.mu.Unlock()
	// Of what has errors nobody knows all that it would be made of.
	ok = ok && !(l.custom(path) != nil && (c.found.Err() != nil || c.moved()))
	if ok && c.stamp.settled(c.read) {
		if info, err := os.Stat(path); err == nil && stampOf(info) == c.stamp {
			return c, nil
		}
	}
	now := l.now()
	src, info, err := read(path)
	if err != nil {
		return loaded{}, err
	}
	if !ok || !bytes.Equal(src, c.src) {
		c.def, c.found = l.decode(path, scope, src)
		c.files = stampsOf(c.def.Files)
	}
	c.stamp, c.read, c.src = stampOf(info), now, src
	l.mu.Lock()
	l.cache[key] = c
	l.mu.Unlock()
	return c, nil
}

// decode reads the bytes of a file.
func (l *Library) decode(path string, scope Scope, src []byte) (*Definition, Diagnostics) {
	def, found := l.loader(path)(path, src)
	if def == nil {
		def = &Definition{Name: stem(path), File: path, Source: src}
	}
	def.Scope = scope
	return def, found
}

func (l *Library) loader(path string) Loader {
	if load := l.custom(path); load != nil {
		return load
	}
	return Decode
}

// custom is the loader that Handle gave for a file, nil for none.
func (l *Library) custom(path string) Loader {
	e := l.extension(path)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loaders[e]
}

// read reads a regular file. It looks first and opens second, so that a pipe or
// a device is refused and not waited for; and it reads one byte more than may
// be, so that Decode can tell that a file is too large.
func read(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, readError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, readError(path, &notRegularError{info.Mode()})
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, readError(path, err)
	}
	defer f.Close()
	var src bytes.Buffer
	src.Grow(int(min(info.Size(), MaxFileSize)) + bytes.MinRead)
	if _, err := src.ReadFrom(io.LimitReader(f, MaxFileSize+1+int64(len("\ufeff")))); err != nil {
		return nil, nil, readError(path, err)
	}
	return src.Bytes(), info, nil
}

// readError says which file could not be read and why, once.
func readError(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("cannot read the definition %s: %w", diagnostic.Quote(path), err)
}

type notRegularError struct{ mode fs.FileMode }

// Is lets callers tell a folder apart: errors.Is(err, syscall.EISDIR).
func (e *notRegularError) Is(target error) bool { return target == syscall.EISDIR && e.mode.IsDir() }

func (e *notRegularError) Error() string {
	what := "a device"
	switch {
	case e.mode.IsDir():
		what = "a directory"
	case e.mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case e.mode&fs.ModeSocket != 0:
		what = "a socket"
	}
	return "it is " + what + ", not a regular file"
}

// ToolsProject is the project of a folder that has tools in .cycod and no folder
// .flowrun; "" where there is none. The tools in .cycod of the home are the user's.
func ToolsProject(dir, home string) string {
	tools := nearest(dir, filepath.Join(".cycod", "tools"))
	if tools == "" || tools == filepath.Join(home, ".cycod", "tools") {
		return ""
	}
	return ProjectOf(tools)
}

// ProjectRoot is the nearest folder from dir upwards that holds a folder .flowrun, not
// beyond the root of a repository; "" where there is none. One that others may write is
// passed over.
func ProjectRoot(dir string) string {
	if found := nearest(dir, ".flowrun"); found != "" {
		return filepath.Dir(found)
	}
	return ""
}

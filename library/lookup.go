package library

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// NotFoundError reports that no tool has the given name.
type NotFoundError struct {
	Name     string
	Scope    tool.Scope // the only scope that was searched; empty = all
	Searched []string   // folders, in order
	Near     []string   // similar names of existing tools, at most three
	Reason   string     // why no tool can have this name; "" if one could
	Note     string     // why tools that could have come from elsewhere are missing; see Library.ExplainMissing
}

func (e *NotFoundError) Error() string {
	where := ""
	if e.Scope != "" {
		where = " in the scope " + string(e.Scope)
	}
	message := fmt.Sprintf("cannot find the tool %s%s", diagnostic.Quote(e.Name), where)
	if len(e.Searched) > 0 {
		message += ": looked in " + strings.Join(e.Searched, ", ")
	}
	if len(e.Near) > 0 {
		message += "; " + diagnostic.Suggestion(e.Near)
	}
	for _, text := range []string{e.Reason, e.Note} {
		if text != "" {
			message += "; " + text
		}
	}
	return message
}

// Lookup finds a tool by name or path. A path contains a slash or ends in a known extension; a relative path starts at
// the folder of the file that contains it, or at the working directory. A name is the value of name: in a file, or the
// name of the file.
//
// from is the definition that contains the name (use-tool, base-tool), or nil for the caller's own. If from was named
// by path, its folder is searched first. A tool outside the project, such as one of the user or of the machine, finds
// the tools in its own folder, those of the user, those of the machine and the built-in ones. Tools of the project come
// last, and only if the project is trusted (Config.Trusted).
//
// The error is a *NotFoundError, an *AmbiguousNameError, or the reason why a file or the folder of a scope could not be
// read. Problems in the contents of the file are in the Diagnostics; see Decode.
func (l *Library) Lookup(name string, from *tool.Definition) (*tool.Definition, tool.Diagnostics, error) {
	if l.snapshot != nil {
		if def := l.registered(name); def != nil {
			return def, nil, nil
		}
		return l.lookupSnapshot(name, from)
	}
	if strings.Contains(name, toolxScheme) {
		return nil, nil, &NotFoundError{Name: name, Reason: toolxReason}
	}
	if l.isPath(name) {
		return l.load(l.resolve(name, from), tool.ScopeFile)
	}
	if def := l.registered(name); def != nil {
		return def, nil, nil
	}
	places, last := l.searchOrder(from)
	if def, found, err := l.lookupFolders(places, name); def != nil || err != nil {
		return def, found, err
	}
	if def, err := l.lookupProvided(name, from); def != nil || err != nil {
		return def, nil, err
	}
	def, found, err := l.lookupInProject(last, name)
	if def == nil && err == nil {
		err = l.notFound(name, slices.Concat(places, last))
	}
	return def, found, err
}

// toolx is the tool of PromptX that calls other tools. Its argument is a text with the address of the tool, which
// begins with toolxScheme.
const (
	toolx       = "toolx"
	toolxScheme = "tool://"
	toolxReason = "addresses with " + toolxScheme + " and calls in the form of toolx (PromptX) are not supported; use the name of the tool and its arguments"
)

// lookupFolders looks up a name in folders. It returns only nils if no folder has it.
func (l *Library) lookupFolders(places []folder, name string) (*tool.Definition, tool.Diagnostics, error) {
	for _, f := range places {
		if file := l.findFile(f.path, name); file != "" {
			return l.load(file, f.scope)
		}
		if err := f.unreadableReason(); err != nil { // another tool with that name must not run instead
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

// lookupInProject looks up a name in the project for a tool outside the project.
func (l *Library) lookupInProject(places []folder, name string) (*tool.Definition, tool.Diagnostics, error) {
	for _, f := range places {
		if project := ProjectOf(f.path); l.trusted == nil || !l.trusted(project) {
			if l.findFile(f.path, name) != "" {
				return nil, nil, &NotFoundError{Name: name, Searched: []string{f.path}, Note: fmt.Sprintf(
					"the project %s has one, but tools outside the project can use it only if you trust the project", diagnostic.Quote(project))}
			}
			continue
		}
		if def, found, err := l.lookupFolders([]folder{f}, name); def != nil || err != nil {
			return def, found, err
		}
	}
	return nil, nil, nil
}

// isPath reports whether a name in a definition or from a caller is a path.
func (l *Library) isPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || l.extension(name) != "" && l.extension(name) != name
}

// ProjectOf returns the project that a tools folder belongs to: the parent of its .flowrun or .cycod folder.
func ProjectOf(tools string) string { return filepath.Dir(filepath.Dir(tools)) }

func (l *Library) resolve(path string, from *tool.Definition) string {
	switch {
	case filepath.IsAbs(path):
		return path
	case from != nil && from.File != "":
		return filepath.Join(filepath.Dir(from.File), path)
	}
	return filepath.Join(l.workDir, path)
}

func (l *Library) registered(name string) *tool.Definition {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, def := range l.added {
		if def.Name == name {
			return def
		}
	}
	return nil
}

// searchOrder returns the folders in which a name is looked up: first those before the tools that are not in files, then
// those after them.
func (l *Library) searchOrder(from *tool.Definition) (first, last []folder) {
	if from == nil || from.File == "" {
		return l.folders, nil
	}
	dir, inProject := filepath.Dir(from.File), false
	beside := folder{tool.ScopeFile, dir}
	for _, f := range l.folders {
		switch project := f.scope == tool.ScopeLocal; {
		case project && isInside(ProjectOf(f.path), dir):
			inProject = true
		case !project && isInside(f.path, dir):
			if f.path == dir {
				beside = f
			}
			return l.searchOrderOutside(beside)
		}
	}
	switch {
	case !inProject:
		return l.searchOrderOutside(beside)
	case from.Scope == tool.ScopeFile:
		return append([]folder{beside}, l.folders...), nil
	}
	return l.folders, nil
}

// searchOrderOutside returns the folders for names in a definition outside the project.
func (l *Library) searchOrderOutside(beside folder) (first, last []folder) {
	first = []folder{beside}
	for _, f := range l.folders {
		switch {
		case f.scope == tool.ScopeLocal:
			last = append(last, f)
		case f != beside:
			first = append(first, f)
		}
	}
	return first, last
}

// isInside reports whether dir is top or inside it.
func isInside(top, dir string) bool {
	rest, err := filepath.Rel(top, dir)
	return err == nil && filepath.IsLocal(rest)
}

// findFile returns the file in a folder that defines the named tool, or "". It prefers a file with that name which also
// declares it, then another file that declares it, then a file with that name which declares a different one.
func (l *Library) findFile(dir, name string) string {
	called := l.fileNamed(dir, name)
	if called != "" && l.checksOwnership(dir) && !ownership.Counts(called) {
		called = ""
	}
	if called != "" && l.declares(called, name) {
		return called
	}
	known, now := l.indexOf(dir), l.now()
	files, _ := l.files(dir)
	for _, file := range files {
		e := known.valid(file, now)
		if e != nil && e.tool.Name == name || e == nil && file != called && l.declares(file, name) {
			return file
		}
	}
	return called
}

// fileNamed returns the file in a folder that has the given name, or "".
func (l *Library) fileNamed(dir, name string) string {
	l.mu.Lock()
	extensions := slices.Clone(l.extensions)
	l.mu.Unlock()
	for _, e := range extensions {
		file := filepath.Join(dir, name+e)
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() && !l.isNotTool(file) || err != nil && pathExists(file) {
			return file
		}
	}
	return ""
}

// pathExists reports whether a path exists, even as a symbolic link without a target.
func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// declares reports whether the definition in a file has the given name. Files whose text does not contain the name,
// nearly all in a folder, are only read and not decoded.
func (l *Library) declares(file, name string) bool {
	if l.customLoader(file) == nil && tool.Stem(file) != name {
		src, _, err := readRegularFile(file)
		if err != nil || !mayContain(src, name) {
			return false
		}
	}
	def, found, err := l.load(file, tool.ScopeFile)
	return err == nil && def.Name == name && !tool.IsNotTool(found)
}

// isNotTool reports whether a file is Markdown that is not a tool. Folders of tools can contain such files.
func (l *Library) isNotTool(file string) bool {
	if tool.Extension(file) != ".md" {
		return false
	}
	_, found, err := l.load(file, tool.ScopeFile)
	return err == nil && tool.IsNotTool(found)
}

// mayContain reports whether YAML text can contain the name as a value: it contains the name itself, or an escape
// sequence, which is possible only in double quotes.
func mayContain(src []byte, name string) bool {
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

// inName reports whether a character can be part of a name.
func inName(r rune) bool {
	return r < utf8.RuneSelf && (keytable.IsNameByte(byte(r)) || r == '.')
}

// checksOwnership reports whether a folder is one that is always searched, without the user having named it. In such
// folders, files that other users can write are ignored.
func (l *Library) checksOwnership(dir string) bool {
	return slices.ContainsFunc(l.folders, func(f folder) bool { return f.path == dir })
}

// files returns the definition files in a folder, sorted. It returns none if the folder does not exist.
func (l *Library) files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	guards := l.checksOwnership(dir)
	var files []string
	for _, e := range entries {
		if e.IsDir() || l.extension(e.Name()) == "" {
			continue
		}
		if file := filepath.Join(dir, e.Name()); !guards || ownership.Counts(file) {
			files = append(files, file)
		}
	}
	return files, err
}

func (l *Library) notFoundIn(name string, places []folder) *NotFoundError {
	e := &NotFoundError{Name: name}
	var names []string
	for _, def := range l.registeredAll() {
		names = append(names, def.Name)
	}
	for _, f := range places {
		if slices.Contains(e.Searched, f.path) { // the folder of a definition can also be that of a scope
			continue
		}
		e.Searched = append(e.Searched, f.path)
		for _, e := range l.listFolder(f) {
			names = append(names, e.Name)
		}
	}
	e.Near = tool.Near(name, names)
	return e
}

// notFound is notFoundIn for a name that the providers do not have either.
func (l *Library) notFound(name string, places []folder) *NotFoundError {
	e := l.notFoundIn(name, places)
	names := slices.Clone(e.Near)
	for _, p := range l.providers() {
		for _, def := range p.Known() {
			names = append(names, def.Name)
		}
	}
	e.Near = tool.Near(name, names)
	if name == toolx {
		e.Reason, e.Near = toolxReason, nil
	}
	l.mu.Lock()
	missed := l.explainMissing
	l.mu.Unlock()
	if missed != nil {
		e.Note = missed()
	}
	if ignored := ownership.UnreportedIgnored(); e.Note == "" && len(ignored) > 0 {
		e.Note = ignored[0]
	}
	return e
}

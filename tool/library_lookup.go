package tool

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/diagnostic"
	"github.com/flowrun/flowrun/internal/keytable"
	"github.com/flowrun/flowrun/internal/ownership"
)

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
					"the project %s has one, but tools outside the project can use it only if you trust the project", diagnostic.Quote(project))}
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
// tools as well.
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
	if ignored := ownership.UnreportedIgnored(); e.Note == "" && len(ignored) > 0 {
		e.Note = ignored[0]
	}
	return e
}

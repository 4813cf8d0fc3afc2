package library

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
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
		if def := l.goTools.named(name); def != nil {
			return def, nil, nil
		}
		return l.lookupSnapshot(name, from)
	}
	if strings.Contains(name, toolxScheme) {
		return nil, nil, &NotFoundError{Name: name, Reason: toolxReason}
	}
	if l.formats.isPath(name) {
		return l.reader.load(l.resolve(name, from), tool.ScopeFile)
	}
	if def := l.goTools.named(name); def != nil {
		return def, nil, nil
	}
	places, last := l.folders.searchOrder(from)
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
func (l *Library) lookupFolders(places folders, name string) (*tool.Definition, tool.Diagnostics, error) {
	for _, f := range places {
		if file := l.finder.findFile(f.path, name); file != "" {
			return l.reader.load(file, f.scope)
		}
		if err := f.unreadableReason(); err != nil { // another tool with that name must not run instead
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

// lookupInProject looks up a name in the project for a tool outside the project.
func (l *Library) lookupInProject(places folders, name string) (*tool.Definition, tool.Diagnostics, error) {
	for _, f := range places {
		if project := ProjectOf(f.path); l.trusted == nil || !l.trusted(project) {
			if l.finder.findFile(f.path, name) != "" {
				return nil, nil, &NotFoundError{Name: name, Searched: []string{f.path}, Note: fmt.Sprintf(
					"the project %s has one, but tools outside the project can use it only if you trust the project", diagnostic.Quote(project))}
			}
			continue
		}
		if def, found, err := l.lookupFolders(folders{f}, name); def != nil || err != nil {
			return def, found, err
		}
	}
	return nil, nil, nil
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

func (l *Library) notFoundIn(name string, places folders) *NotFoundError {
	e := &NotFoundError{Name: name}
	var names []string
	for _, def := range l.goTools.all() {
		names = append(names, def.Name)
	}
	for _, f := range places {
		if slices.Contains(e.Searched, f.path) { // the folder of a definition can also be that of a scope
			continue
		}
		e.Searched = append(e.Searched, f.path)
		for _, e := range l.finder.listFolder(f) {
			names = append(names, e.Name)
		}
	}
	e.Near = diagnostic.Near(name, names)
	return e
}

// notFound is notFoundIn for a name that the providers do not have either.
func (l *Library) notFound(name string, places folders) *NotFoundError {
	e := l.notFoundIn(name, places)
	names := slices.Clone(e.Near)
	for _, p := range l.providers.all() {
		for _, def := range p.Known() {
			names = append(names, def.Name)
		}
	}
	e.Near = diagnostic.Near(name, names)
	if name == toolx {
		e.Reason, e.Near = toolxReason, nil
	}
	if missed := l.explainMissing.Load(); missed != nil {
		e.Note = (*missed)()
	}
	if ignored := ownership.UnreportedIgnored(); e.Note == "" && len(ignored) > 0 {
		e.Note = ignored[0]
	}
	return e
}

package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
	"github.com/flowrun/flowrun/library"
)

// Editor reads, checks and saves definitions.
type Editor struct {
	catalog *Catalog
	trusts  func(project string) bool
}

// NewEditor returns an Editor of the definitions of a Catalog. trusts reports whether the user
// trusts a project, so that callers may change its definitions; nil: no project is trusted.
func NewEditor(c *Catalog, trusts func(project string) bool) *Editor { return &Editor{c, trusts} }

// Source is the text of a definition for an editor. A definition is found by the name of its
// tool only: no part of a path comes from the caller.
type Source struct {
	Name     string
	Scope    string
	Kind     string // as in Tool
	File     string // its name, without the folder
	Text     []byte
	Digest   string           // of Text, for Save
	ReadOnly string           // why the service does not change it; "" if it does
	Warnings tool.Diagnostics // of Text, if Save has written it

	path  string
	scope tool.Scope
}

// extensions are the extensions of files by kind.
var extensions = map[string]string{"yaml": ".yaml", "json": ".json", "markdown": ".md", "javascript": ".tool.js"}

// Source returns the definition of a tool. Errors: ErrPath, a library.NotFoundError.
func (e *Editor) Source(name string) (*Source, error) {
	if IsPath(name) {
		return nil, outcome.ErrPath
	}
	listed, file, known := e.catalog.find(name)
	if !known {
		return nil, &library.NotFoundError{Name: name}
	}
	src := &Source{Name: name, Scope: listed.Scope, Kind: listed.Kind, File: filepath.Base(file), path: file, scope: tool.Scope(listed.Scope)}
	if file == "" {
		src.File, src.ReadOnly = "", "the tool is not in a file"
		return src, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	src.Text, src.Digest, src.ReadOnly = text, tool.DigestOf(text), e.readOnly(src)
	return src, nil
}

// readOnly returns the reason why the service does not change a definition. A link could lead
// to the tools of the user, which are trusted in every project.
func (e *Editor) readOnly(src *Source) string {
	switch info, err := os.Lstat(src.path); {
	case err != nil || !info.Mode().IsRegular():
		return "the file is a link to another place"
	case src.scope == tool.ScopeUser:
		return ""
	case src.scope != tool.ScopeLocal:
		return "it belongs to the tools of the whole machine"
	}
	project := library.ProjectOf(filepath.Dir(src.path))
	if e.trusts == nil || !e.trusts(project) {
		return "the project is not trusted; to trust it, run flowrun trust in it and restart the service"
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(src.path))
	if err != nil {
		return "its folder cannot be read"
	}
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		return "its folder cannot be read"
	}
	if inside, err := filepath.Rel(root, folder); err != nil || !filepath.IsLocal(inside) {
		return "its folder is a link to a place outside the project"
	}
	return ""
}

// Check compiles a text in the place of a definition, without saving it. The plan is nil if the text
// has errors. Without a name, the text is checked as a new tool of the project.
func (e *Editor) Check(name, kind string, text []byte) (*engine.Plan, tool.Diagnostics, error) {
	lib := e.catalog.library()
	if name == "" {
		folder, err := lib.Folder(tool.ScopeLocal)
		if err != nil {
			return nil, nil, err
		}
		_, plan, found := toolfiles.Compile(lib, filepath.Join(folder, "new"+extensions[kind]), tool.ScopeLocal, text)
		return plan, withoutFolders(found), nil
	}
	src, err := e.Source(name)
	if err != nil {
		return nil, nil, err
	}
	if src.path == "" {
		return nil, nil, &outcome.NotEditableError{Reason: src.ReadOnly}
	}
	_, plan, found := e.compile(lib, src, text)
	return plan, withoutFolders(found), nil
}

// compile compiles a text in the place of a definition.
func (e *Editor) compile(lib *library.Library, src *Source, text []byte) (*tool.Definition, *engine.Plan, tool.Diagnostics) {
	def, plan, found := toolfiles.Compile(lib, src.path, src.scope, text)
	if d := e.renamed(src, def); d != nil {
		found = append(found, *d).Sorted()
	}
	return def, plan, found
}

// renamed reports that a text gives the tool another name: the old one is found no longer, and the new one may be that
// of another tool, of which then one is lost.
func (e *Editor) renamed(src *Source, def *tool.Definition) *tool.Diagnostic {
	if def.Name == "" || def.Name == src.Name {
		return nil
	}
	if listed, file, known := e.catalog.find(def.Name); known && file != "" && file != src.path && listed.Scope == src.Scope {
		return &tool.Diagnostic{Code: "duplicate-tool", Severity: tool.Error, Pos: def.Pos,
			Message: fmt.Sprintf("the file %s defines a tool named %s already", filepath.Base(file), def.Name), Hint: "choose another name"}
	}
	return &tool.Diagnostic{Code: "name-differs", Severity: tool.Warning, Pos: def.Pos,
		Message: fmt.Sprintf("the tool %s is named %s now; schedules, webhooks, aliases, other tools and callers that name %s do not find it", src.Name, def.Name, src.Name), Hint: "change the name there, too"}
}

// withoutFolders removes the folders of the machine from diagnostics.
func withoutFolders(ds tool.Diagnostics) tool.Diagnostics {
	for i := range ds {
		d := &ds[i]
		if folder := filepath.Dir(d.Pos.File); folder != "." {
			d.Message = strings.ReplaceAll(d.Message, folder+string(filepath.Separator), "")
			d.Hint = strings.ReplaceAll(d.Hint, folder+string(filepath.Separator), "")
			d.Pos.File = filepath.Base(d.Pos.File)
		}
		for j := range d.Related {
			d.Related[j].Pos.File = filepath.Base(d.Related[j].Pos.File)
		}
	}
	return ds
}

// Save replaces a definition, only if its digest is still the one that the
// caller has read, and only by a valid text. Errors: a NotEditableError, ErrSourceChanged,
// tool.Diagnostics.
func (e *Editor) Save(name, digest string, text []byte) (*Source, error) {
	src, err := e.Source(name)
	switch {
	case err != nil:
		return nil, err
	case src.ReadOnly != "":
		return nil, &outcome.NotEditableError{Reason: src.ReadOnly}
	case src.Digest != digest:
		return nil, outcome.ErrSourceChanged
	}
	def, _, found := e.compile(e.catalog.library(), src, text)
	if err := found.Err(); err != nil {
		return nil, err
	}
	err = atomicfile.Replace(src.path, src.Text, text)
	if _, changed := errors.AsType[*atomicfile.ChangedError](err); changed {
		return nil, outcome.ErrSourceChanged
	}
	if err != nil {
		return nil, err
	}
	e.catalog.log.Info("definition was changed by a caller", "tool", name)
	src.Name, src.Text, src.Digest, src.Warnings = def.Name, text, tool.DigestOf(text), withoutFolders(found)
	return src, nil
}

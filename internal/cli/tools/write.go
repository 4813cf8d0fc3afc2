package tools

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
	"github.com/flowrun/flowrun/library"
)

// toolWriter is a tool that is being written to a scope, for add and import.
type toolWriter struct {
	lib      *library.Library
	scope    tool.Scope
	name     string
	text     []byte
	override bool
	// extension is the extension of the new file. JSON is converted to YAML; other formats are
	// kept.
	extension     string
	skipUsedTools bool // do not check the tools that it uses

	path string // path of the new file
	old  *tool.Definition
}

// resolvePath determines the path of the tool, and finds an existing tool of that name. If one
// exists, that is an error unless override is set.
func (p *toolWriter) resolvePath() error {
	if tool.Extension(p.name) != "" {
		return tool.Diagnostics{{Code: "bad-name", Severity: tool.Error, Message: fmt.Sprintf("%q is the path of a file, not a tool name", p.name),
			Hint: "choose a name without the extension"}}
	}
	dir, err := p.lib.Folder(p.scope)
	if err != nil {
		return err
	}
	p.path = filepath.Join(dir, p.name+p.extension)
	old, _, err := p.lib.LookupIn(p.name, p.scope)
	var missing *library.NotFoundError
	switch {
	case errors.As(err, &missing):
		return nil
	case err != nil:
		return err
	case !p.override:
		return p.existsError(old.File)
	}
	p.old = old
	ext := tool.Extension(old.File)
	if ext == p.extension || p.extension == ".yaml" && ext == ".yml" {
		p.path = old.File
	}
	return nil
}

func (p *toolWriter) existsError(path string) error {
	return fmt.Errorf("tool %q already exists in the %s scope: %s; to replace it: --override", p.name, p.scope, console.ShortPath(path))
}

// check validates the text. A definition with an error is not written.
func (p *toolWriter) check() tool.Diagnostics {
	def, found := toolfiles.Check(p.lib, p.path, p.scope, p.text, p.skipUsedTools)
	if def.Name != p.name && found.Err() == nil { // in JavaScript, code determines the name
		found = append(found, tool.Diagnostic{Code: "bad-name", Severity: tool.Error, Pos: def.Pos, Message: fmt.Sprintf("the definition names the tool %q, not %q", def.Name, p.name),
			Hint: fmt.Sprintf("add it as %s, or change the definition", def.Name)})
	}
	return found
}

// write writes the tool. If it fails, nothing has changed.
func (p *toolWriter) write() error {
	var err error
	switch {
	case p.old != nil && p.old.File == p.path:
		err = atomicfile.Replace(p.path, p.old.Source, p.text)
	default:
		err = atomicfile.Create(p.path, p.text)
	}
	var exists *atomicfile.ExistsError
	switch {
	case errors.As(err, &exists):
		return p.existsError(exists.Path)
	case err != nil:
		return fmt.Errorf("cannot write %s to the %s scope: %w", p.name, p.scope, err)
	case p.old != nil && p.old.File != p.path: // the old file has another format
		return atomicfile.Remove(p.old.File)
	}
	return nil
}

// reportWritten reports where the tool was written, whether it is shadowed, and how to run it.
func reportWritten(env *ui.Env, p *toolWriter, verb string) {
	fmt.Fprintf(env.Stdout, "%s %s (%s): %s\n", verb, p.name, p.scope, console.ShortPath(p.path))
	now, _, err := env.Library().Lookup(p.name, nil) // a new library, because the folder of the scope may not have existed before
	if err != nil {
		return
	}
	if now.File != p.path {
		env.Notef("note: %s is shadowed by the one in the %s scope, %s", p.name, now.Scope, console.ShortPath(now.File))
		return
	}
	env.Notef("Try: flowrun run %s", exampleCommand(now))
}

// exampleCommand returns a command line that runs a tool, with its required parameters.
func exampleCommand(def *tool.Definition) string {
	words := []string{def.Name}
	for _, p := range def.Parameters {
		if p.Required && p.Default == nil {
			words = append(words, p.Name+"="+sampleValue(p))
		}
	}
	return shellword.Join(shellword.Sh, words)
}

// sampleValue returns an example value, or "...".
func sampleValue(p *tool.Parameter) string {
	for _, v := range complete.Candidates(p) {
		if v != "" && v[0] != '@' { // which stands for the content of a file
			return v
		}
	}
	return "..."
}

// renderText prints diagnostics. text is the content of path, which may not exist as a file.
func renderText(env *ui.Env, ds tool.Diagnostics, path string, text []byte) {
	source := func(file string) []byte {
		if file == path {
			return text
		}
		return ui.ReadSource(file)
	}
	diagnostic.Render(env.Stderr, ui.AppliedFixes(env.Library(), diagnostic.Reported(ds), source), source, env.Style(env.Stderr))
}

package toolset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/textdiff"
	"github.com/flowrun/flowrun/internal/screen/drawing"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
	"github.com/flowrun/flowrun/library"
)

// definitionFields are the parameters of a tool that gets the text of a definition.
const definitionFields = `
	"name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$", "description": "the name of the tool"},
	"definition": {"type": "string", "minLength": 1, "description": "the whole text of the definition"},
	"format": {"type": "string", "enum": ["yaml", "markdown", "javascript"], "default": "yaml", "description": "the format of the text"}`

// extensions are the extensions of the formats.
var extensions = map[string]string{"": ".yaml", "yaml": ".yaml", "markdown": ".md", "javascript": ".tool.js"}

// draft is a definition that a model has written.
type draft struct {
	path  string
	scope tool.Scope
	text  []byte
	lib   *library.Library
}

// draftOf returns the definition in the parameters of a call, as it would be in a scope.
func (c Config) draftOf(in *gostep.StepInput, scope tool.Scope) (*draft, error) {
	lib := c.Library()
	folder, err := lib.Folder(scope)
	if err != nil {
		return nil, err
	}
	return &draft{filepath.Join(folder, text(in, "name")+extensions[text(in, "format")]), scope, []byte(text(in, "definition")), lib}, nil
}

// check returns all problems of the definition as text, and whether it is valid.
func (d *draft) check() (report string, valid bool) {
	def, found := toolfiles.Check(d.lib, d.path, d.scope, d.text, false)
	if name := tool.Stem(d.path); def.Name != "" && def.Name != name {
		found = append(found, tool.Diagnostic{Code: "bad-name", Severity: tool.Error, Pos: def.Pos,
			Message: fmt.Sprintf("the definition names the tool %q, not %q", def.Name, name), Hint: "give both the same name"})
	}
	if len(found) == 0 {
		return "the definition is valid", true
	}
	for i := range found {
		found[i].Fix = nil // validate --fix cannot fix a text that is not saved
	}
	var b bytes.Buffer
	diagnostic.Render(&b, diagnostic.Reported(found), func(string) []byte { return d.text }, diagnostic.Style{})
	return b.String(), found.Err() == nil
}

func (c Config) validate() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_validate", DisplayName: "Validate a definition", Tags: []string{"read"},
		Description: "Checks the text of a tool definition, and returns all problems with their places and how to fix them. Changes nothing.",
		Schema:      schema(definitionFields, "name", "definition"),
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			d, err := c.draftOf(in, tool.ScopeLocal)
			if err != nil {
				return nil, err
			}
			report, _ := d.check()
			return report, nil
		}}
}

func (c Config) preview() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_preview", DisplayName: "Preview a run", Tags: []string{"read"},
		Description: "Shows what a tool would do with these parameters, as a document flowrun/plan.v1: its steps with their commands, in order, and which permissions are enforced. Runs nothing.",
		Schema: schema(`"tool": {"type": "string", "description": "the name of the tool"},
			"parameters": {"type": "object", "default": {}, "description": "the parameters of the tool"}`, "tool"),
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			plan, err := c.compile(text(in, "tool"))
			if err != nil {
				return nil, err
			}
			params, _ := in.Params["parameters"].(map[string]any)
			bound, err := plan.Bind(engine.RunEnv{Workspace: in.Workspace}.Until(ctx), params)
			if err != nil {
				return nil, err
			}
			return c.Engine.Preview(bound, engine.OriginMCP)
		}}
}

// compile compiles a tool that the client may see.
func (c Config) compile(name string) (*engine.Plan, error) {
	if strings.ContainsAny(name, `/\`) || !c.Offers(name) {
		return nil, fmt.Errorf("there is no tool %q", name)
	}
	return engine.Compile(c.Library(), name)
}

func (c Config) graph() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_graph", DisplayName: "Draw a graph", Tags: []string{"read"},
		Description: "Draws the graph of the steps of a tool, as text or in the language of Mermaid.",
		Schema: schema(`"tool": {"type": "string", "description": "the name of the tool"},
			"format": {"type": "string", "enum": ["text", "mermaid"], "default": "text", "description": "the form of the drawing"}`, "tool"),
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			plan, err := c.compile(text(in, "tool"))
			if err != nil {
				return nil, err
			}
			format := text(in, "format")
			if format == "" {
				format = "text"
			}
			var b strings.Builder
			err = drawing.Draw(&b, drawing.Boxes(plan), format)
			return b.String(), err
		}}
}

func (c Config) save() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_save", DisplayName: "Save a definition", // no tag of a level: what it saves can do anything, so the approval of a level must not be enough
		Description: "Saves a valid tool definition in the project or in the user's own tools. An existing tool of that name is replaced. The tool can then be called.",
		Schema: schema(definitionFields+`,
			"scope": {"type": "string", "enum": ["local", "user"], "default": "local", "description": "local: the tools of the project; user: the user's own tools"}`, "name", "definition"),
		Describe: func(p map[string]any) string { return fmt.Sprintf("Saves the tool %v", p["name"]) },
		Confirm: func(_ context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
			d, was, err := c.saved(in)
			if err != nil {
				return nil, err
			}
			diff := &gostep.FileDiff{FileName: filepath.Base(d.path), FileDiff: textdiff.Unified(d.path, string(was), d.path, string(d.text)), New: string(d.text)}
			return &gostep.Confirmation{Title: "Saves the tool " + text(in, "name") + " as " + d.path, Diff: diff}, nil
		},
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			d, was, err := c.saved(in)
			if err != nil {
				return nil, err
			}
			if was == nil {
				err = atomicfile.Create(d.path, d.text)
			} else {
				err = atomicfile.Replace(d.path, was, d.text)
			}
			if err != nil {
				return nil, err
			}
			c.Saved()
			return "saved " + d.path, nil
		}}
}

// saved returns the definition of a call and the file that it replaces, nil if there is none. The
// error says why it cannot be saved.
func (c Config) saved(in *gostep.StepInput) (d *draft, was []byte, err error) {
	scope, name := tool.ScopeLocal, text(in, "name")
	if text(in, "scope") == "user" {
		scope = tool.ScopeUser
	}
	if d, err = c.draftOf(in, scope); err != nil {
		return nil, nil, err
	}
	if !tool.ValidName(name) || strings.ContainsAny(name, ".") {
		return nil, nil, fmt.Errorf("%q cannot be the name of a new tool; use letters, digits, '_' and '-'", name)
	}
	if err := d.checkFolder(); err != nil {
		return nil, nil, err
	}
	if report, valid := d.check(); !valid {
		return nil, nil, fmt.Errorf("the definition is not valid:\n%s", report)
	}
	if info, err := os.Lstat(d.path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", d.path)
	}
	was, err = os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil, nil
	}
	return d, was, err
}

// checkFolder returns an error if a tool in the folder would not be found, or if the folder of a
// project is not inside the project: a link could lead to the tools of the user, which are trusted
// in every project.
func (d *draft) checkFolder() error {
	folder := filepath.Dir(d.path)
	if !slices.ContainsFunc(d.lib.Folders(), func(f library.Folder) bool { return f.Path == folder }) {
		return fmt.Errorf("the folder %s does not exist yet; a person has to create it and restart this server", folder)
	}
	if d.scope != tool.ScopeLocal {
		return nil
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	project, err := filepath.EvalSymlinks(library.ProjectOf(folder))
	if err != nil {
		return err
	}
	if inside, err := filepath.Rel(project, real); err != nil || !filepath.IsLocal(inside) {
		return fmt.Errorf("the folder %s is a link to a place outside the project", folder)
	}
	return nil
}

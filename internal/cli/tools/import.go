package tools

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/rewrite"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// toolImportCommand stores a definition in a scope.
func toolImportCommand(env *ui.Env) *cobra.Command {
	var scopes page.Scope
	var override, validate bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Import a tool definition from a file",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return ui.Usagef(c, "give the file of one definition, or - for standard input")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			scope, err := scopes.Choose(c, string(tool.ScopeLocal))
			if err != nil {
				return err
			}
			if scope == ui.AnyScope {
				return ui.Usage(page.ErrAnyScope, c)
			}
			return importTool(env, args[0], toolWriter{lib: env.Library(), scope: tool.Scope(scope), override: override, skipUsedTools: !validate})
		},
	}
	return page.Page{
		Title: "flowrun tool import",
		About: []string{
			"Import a tool definition from a file; - is standard input.",
			"",
			"Comments and the order of keys are kept. JSON is converted to YAML; Markdown and",
			"JavaScript are stored unchanged.",
		},
		Usage: []string{"flowrun tool import FILE [--scope] [options]"},
		Options: []page.Group{
			scopes.Options("Import the tool to %s", "", string(tool.ScopeLocal)),
			{Title: "IMPORT OPTIONS", Lines: []page.Line{
				{Left: "--override", Right: "Override existing tool if it already exists", Target: &override},
				{Left: "--validate", Right: "Also validate the tools that it uses; without this, only its own text is checked", Target: &validate},
			}},
		},
		Examples: []page.Example{
			{Title: "Import a tool to local scope", Text: "flowrun tool import weather-lookup.yaml"},
			{Title: "Import a tool to user scope, overriding any existing definition", Text: "flowrun tool import weather-lookup.yaml --user --override"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tool export", "flowrun help tools"},
	}.Apply(c)
}

func importTool(env *ui.Env, file string, p toolWriter) error {
	def, found, err := definitionIn(env, p.lib, file)
	if err != nil {
		return err
	}
	if found.Err() != nil {
		renderText(env, found, def.File, def.Source)
		return ui.CodeError(outcome.ExitInvalid)
	}
	for _, d := range found {
		if d.Code == "repaired-scalar" {
			env.Notef("note: %s:%d is not valid YAML, so it was quoted in the tool", file, d.Pos.Line)
		}
	}
	p.name, p.extension = def.Name, storedExtension(def.File, def.Source)
	if p.text, err = rewrite.Portable(def, ""); err != nil {
		return err
	}
	if err := p.resolvePath(); err != nil {
		return err
	}
	found = p.check()
	renderText(env, found, p.path, p.text)
	if found.Err() != nil {
		return ui.CodeError(outcome.ExitInvalid)
	}
	if err := p.write(); err != nil {
		return err
	}
	reportWritten(env, &p, "imported")
	return nil
}

// definitionIn reads a definition from a file, or from standard input.
func definitionIn(env *ui.Env, lib *library.Library, file string) (*tool.Definition, tool.Diagnostics, error) {
	if file != "-" {
		def, found, err := lib.Load(file)
		if err != nil {
			return nil, nil, ui.MarkMissingPath(err, file)
		}
		return def, found, nil
	}
	text, err := io.ReadAll(io.LimitReader(env.Stdin, diagnostic.MaxFileSize+1))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the definition from standard input: %w", err)
	}
	def, found := lib.Read(standardInput(text), tool.ScopeFile, text)
	return def, found, nil
}

// standardInput returns the name of standard input in messages: a dash, and the extension that
// determines the format.
func standardInput(text []byte) string {
	if ext := decode.Sniff(text); ext != ".yaml" {
		return "-" + ext
	}
	return "-"
}

// storedExtension returns the extension under which a definition is stored in a scope. JSON is
// converted to YAML; other formats are kept.
func storedExtension(file string, text []byte) string {
	switch ext := cmp.Or(tool.Extension(file), decode.Sniff(text)); ext {
	case ".yml", ".json":
		return ".yaml"
	default:
		return ext
	}
}

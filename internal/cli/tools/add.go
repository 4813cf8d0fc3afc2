package tools

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/addition"
	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/rewrite"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
)

// toolAddCommand creates a definition from a command line. Its options are ordered and take several
// values, which cobra does not support, so package addition parses them.
func toolAddCommand(env *ui.Env) *cobra.Command {
	c := &cobra.Command{
		Use:                "add TOOL_NAME",
		Short:              "Create a new tool",
		DisableFlagParsing: true,
		ValidArgsFunction:  addition.Complete,
		RunE: func(c *cobra.Command, args []string) error {
			a := addition.Parse(args)
			if a.Help {
				return c.Help()
			}
			scope := checkAddition(a)
			if len(a.Problems) > 0 {
				return usageProblems(env, c, a.Problems)
			}
			return add(env, c, a, tool.Scope(scope))
		},
	}
	return page.Page{
		Title: "flowrun tool add",
		About: []string{"Add a new tool."},
		Usage: []string{`flowrun tool add TOOL_NAME --description "DESCRIPTION" [options]`},
		Options: append(addGroups(),
			new(page.Scope).Options("Add tool to %s", "", string(tool.ScopeLocal))),
		Examples: []page.Example{
			{Title: "Create a simple weather lookup tool", Text: `flowrun tool add weather-lookup --description "Get weather for a location" \
  --bash "curl -s 'wttr.in/{LOCATION}?format={FORMAT}'" \
  --parameter LOCATION "City or airport code" required=true example=London \
  --parameter FORMAT "Output format" default=3 \
  --tag weather --tag api --tag read`},
			{Title: "Create a multi-step tool that processes data", Text: `flowrun tool add process-data --description "Process data from a file" \
  --step fetch "curl -s '{URL}' > data.json" \
  --step process "jq '.items' data.json" \
  --step cleanup "rm data.json" \
  --parameter URL "URL to fetch data from" required=true \
  --tag api --tag read`},
			{Title: "Create a tool from a YAML file", Text: "flowrun tool add --from-file my-tool-definition.yaml"},
			{Title: "Create a tool with interactive editing", Text: "flowrun tool add my-new-tool --editor"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tools"},
	}.Apply(c)
}

// addGroups returns the options for the help page. Options that belong to a step, a parameter or a
// test are indented below it.
func addGroups() []page.Group {
	var groups []page.Group
	for _, o := range addition.Options() {
		if o.Section == "" {
			continue
		}
		if len(groups) == 0 || groups[len(groups)-1].Title != o.Section {
			groups = append(groups, page.Group{Title: o.Section})
		}
		g := &groups[len(groups)-1]
		line := page.Line{Left: o.Left(), Right: o.Help}
		if o.Owner == addition.OfStep || o.Owner == addition.OfTest || strings.HasPrefix(o.Name, "step-") {
			line.Depth = 1
		}
		g.Lines = append(g.Lines, line)
		if o.Name != "parameter" {
			continue
		}
		for _, o := range addition.ParameterOptions() {
			g.Lines = append(g.Lines, page.Line{Left: o.Name + "=" + o.Values[0], Right: o.Help, Depth: 1})
		}
	}
	return groups
}

// usageProblems prints all problems of a command line; the last one is returned.
func usageProblems(env *ui.Env, c *cobra.Command, problems []string) error {
	last := len(problems) - 1
	for _, p := range problems[:last] {
		env.Notef("%s", p)
	}
	return ui.Usage(errors.New(problems[last]), c)
}

// checkAddition checks the command line as a whole and returns the scope.
func checkAddition(add *addition.Addition) string {
	problem := func(format string, args ...any) { add.Problems = append(add.Problems, fmt.Sprintf(format, args...)) }
	scope, err := page.OneScope(add.Scopes, string(tool.ScopeLocal))
	switch {
	case err != nil:
		problem("%v", err)
	case scope == ui.AnyScope:
		problem("%v", page.ErrAnyScope)
	}
	switch {
	case add.Name == "" && !add.HasFile:
		problem("missing argument: give the tool a name: flowrun tool add TOOL_NAME ...")
	case tool.Extension(add.Name) != "":
		problem("%[1]q is the path of a file, not a tool name: choose a name without the extension, or use --from-file %[1]s", add.Name)
	case add.Name != "" && !tool.ValidName(add.Name):
		problem("invalid tool name %q: use up to 128 letters, digits, '_', '-' and '.', beginning with a letter, a digit or '_'; names of Windows devices (con, nul) are reserved", add.Name)
	}
	if add.HasFile && len(add.Tool) > 0 {
		var keys []string
		for _, e := range add.Tool {
			keys = append(keys, e.Key)
		}
		problem("--from-file cannot be combined with options that define the tool (%s); change the file, or add --editor", strings.Join(keys, ", "))
	}
	return scope
}

// emptyTool is the initial text in the editor if no options define the tool.
const emptyTool = `name: %s
description: ""   # what the tool does, for people and models

bash: |
  echo "Hello, {NAME}"

parameters:
  NAME:
    type: string
    description: Whom to greet
    default: world

tags: [read]   # read, write or run: what the tool may do
`

// setText sets the text of the definition: from a file, from a template for the editor, or from the
// options.
func (p *toolWriter) setText(env *ui.Env, add *addition.Addition) (err error) {
	p.extension = ".yaml"
	switch {
	case add.HasFile:
		var def *tool.Definition
		if def, _, err = definitionIn(env, p.lib, add.FromFile); err != nil {
			return err
		}
		p.extension = storedExtension(def.File, def.Source)
		p.text, err = rewrite.Portable(def, add.Name)
	case len(add.Tool) == 0 && add.Editor:
		p.text = fmt.Appendf(nil, emptyTool, add.Name)
	default:
		draft := append(toolfiles.Draft{{Key: "name", Value: addition.TextValue(add.Name)}}, add.Tool...)
		p.text, err = draft.YAML()
	}
	return err
}

func add(env *ui.Env, c *cobra.Command, add *addition.Addition, scope tool.Scope) error {
	p := &toolWriter{lib: env.Library(), scope: scope, override: add.Override || add.DryRun}
	if err := p.setText(env, add); err != nil {
		return err
	}
	if err := p.resolveName(add.Name); err != nil {
		return err
	}
	if add.Editor {
		if err := editAdded(env, c, p); err != nil {
			return err
		}
	}
	if add.DryRun {
		if _, err := env.Stdout.Write(p.text); err != nil {
			return err
		}
	}
	found := p.check()
	if found.Err() != nil && !add.DryRun {
		env.Stderr.Write(p.text)
		fmt.Fprintln(env.Stderr)
	}
	renderText(env, found, p.path, p.text)
	switch {
	case found.Err() != nil:
		return ui.CodeError(outcome.ExitInvalid)
	case add.DryRun:
		return nil
	}
	if err := p.write(); err != nil {
		return err
	}
	reportWritten(env, p, "added")
	return nil
}

// resolveName determines the name of the tool and where it is stored.
func (p *toolWriter) resolveName(name string) error {
	if name == "" {
		def, found := p.lib.Read("-"+p.extension, p.scope, p.text)
		if !tool.ValidName(def.Name) {
			return tool.Diagnostics(found)
		}
		name = def.Name
	}
	p.name = name
	return p.resolvePath()
}

// editAdded opens the definition in an editor. If the user leaves it unchanged, it is still added,
// unless it is only the template.
func editAdded(env *ui.Env, c *cobra.Command, p *toolWriter) error {
	words, err := editorWords(env, c, "")
	if err != nil {
		return err
	}
	e := &editSession{name: p.name, extension: p.extension, text: p.text, editor: words, check: func(text []byte) (tool.Diagnostics, string) {
		_, found := toolfiles.Check(p.lib, p.path, p.scope, text, p.skipUsedTools)
		return found, p.path
	}}
	if err := edit(env, e); err != nil {
		return err
	}
	if string(e.text) == fmt.Sprintf(emptyTool, p.name) {
		return errors.New("nothing was added, because you did not change the definition")
	}
	def, _ := p.lib.Read(p.path, p.scope, e.text)
	p.text = e.text
	if def.Name != p.name { // the user has renamed it in the editor
		p.name = def.Name
		return p.resolvePath()
	}
	return nil
}

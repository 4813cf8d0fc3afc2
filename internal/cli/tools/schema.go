package tools

import (
	"errors"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/funcschema"
	"github.com/flowrun/flowrun/library"
)

// toolSchemaCommand prints a tool as a function for language models.
func toolSchemaCommand(env *ui.Env) *cobra.Command {
	format := string(funcschema.JSONSchema)
	var all, sources bool
	c := &cobra.Command{
		Use:   "schema NAME | --all",
		Short: "Print a tool as a function that language models can call",
		RunE: func(c *cobra.Command, args []string) error {
			if err := ui.OneOf(c, "format", format, funcschema.Formats()); err != nil {
				return err
			}
			if (all || sources) != (len(args) == 0) || len(args) > 1 {
				return ui.Usagef(c, "give the name of one tool, or --all, or --all-sources")
			}
			if all || sources {
				return allToolSchemas(env, funcschema.Format(format), sources)
			}
			return toolSchema(env, args[0], funcschema.Format(format))
		},
		ValidArgsFunction: complete.Tool(env),
	}
	return page.Page{
		Title: "flowrun tool schema",
		About: []string{
			"Print a tool as a function that language models can call: its name, its description",
			"and a JSON Schema of its parameters, in the format of a provider.",
		},
		Usage: []string{"flowrun tool schema TOOL_NAME|PATH [options]", "flowrun tool schema --all|--all-sources [options]"},
		Options: []page.Group{
			{Title: "CHOICE OPTIONS", Lines: []page.Line{
				{Left: "--all", Right: "Print a list of all available tools that run on this platform", Target: &all},
				{Left: "--all-sources", Right: "The same, with built-in tools, and those of tools.discoveryCommand and MCP servers", Target: &sources},
			}},
			{Title: "OUTPUT OPTIONS", Lines: []page.Line{
				{Left: "--format FORM", Right: "Form: " + strings.Join(funcschema.Formats(), "|") + " (default: " + format + ")", Target: &format, Words: funcschema.Formats()},
			}},
		},
		Examples: []page.Example{
			{Title: "Print the schema of one tool", Text: "flowrun tool schema weather-lookup"},
			{Title: "Print the schema of a file for one provider", Text: "flowrun tool schema ./deploy.yaml --format anthropic"},
			{Title: "Write the schemas of all tools to a file", Text: "flowrun tool schema --all --format openai > tools.json"},
			{Title: "Print all functions that a model can call", Text: "flowrun tool schema --all-sources --format anthropic"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tools"},
	}.Apply(c)
}

func toolSchema(env *ui.Env, name string, f funcschema.Format) error {
	plan, err := ui.Compile(env, name)
	if err != nil {
		return err
	}
	fn, found := funcschema.Of(plan.Definition, plan.Secret, f)
	if found.Err() != nil {
		return found.Sorted()
	}
	env.Diagnose(found.Sorted())
	launch.NoteModelLimits(env, slices.Values([]*tool.Definition{plan.Definition}), false)
	return ui.WriteJSON(env, fn)
}

// allToolSchemas prints all available tools. If any has a problem, it prints only the problems,
// because an incomplete list could be mistaken for the full one. sources includes tools that are in
// no file.
func allToolSchemas(env *ui.Env, f funcschema.Format, sources bool) error {
	lib := env.Library()
	listed := (*library.Library).List
	if sources {
		listed = (*library.Library).ListAll
	}
	list, tools := []*funcschema.Function{}, []*tool.Definition{}
	problems := lib.Unreadable("")
	for _, e := range listed(lib) {
		if e.ShadowedBy != "" {
			continue
		}
		plan, err := compileListed(lib, e)
		var ds tool.Diagnostics
		switch {
		case errors.As(err, &ds):
			problems = append(problems, ds...)
			continue
		case err != nil:
			return ui.MarkMissing(err, e.Name)
		case !runsHere(plan.Definition):
			continue
		}
		fn, found := funcschema.Of(plan.Definition, plan.Secret, f)
		problems = append(problems, found...)
		list, tools = append(list, fn), append(tools, plan.Definition)
	}
	problems = append(problems, funcschema.Collisions(list)...).Sorted()
	if problems.Err() != nil {
		return problems
	}
	env.Diagnose(problems)
	launch.NoteModelLimits(env, slices.Values(tools), false)
	return ui.WriteJSON(env, list)
}

// compileListed compiles a tool by its name, as a caller would. A tool with errors is compiled by
// its path, because it may not be found by that name.
func compileListed(lib *library.Library, e library.Listed) (*engine.Plan, error) {
	if e.Diagnostics.Err() != nil {
		return engine.Compile(lib, e.Path)
	}
	return engine.Compile(lib, e.Name)
}

// runsHere reports whether a tool supports this platform. Other tools are hidden from models.
func runsHere(def *tool.Definition) bool {
	platform := runtime.GOOS
	if platform == "darwin" {
		platform = "macos"
	}
	return len(def.Platforms) == 0 || slices.Contains(def.Platforms, platform)
}

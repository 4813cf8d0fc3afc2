package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/rewrite"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// definitionFormats are the output formats of definitions; the first is the default.
var definitionFormats = []string{"yaml", "json"}

// toolGetCommand shows one tool.
func toolGetCommand(env *ui.Env) *cobra.Command {
	var scopes page.Scope
	format := definitionFormats[0]
	var detail bool
	c := &cobra.Command{
		Use:               "get TOOL_NAME",
		Short:             "Display the details of a specific tool",
		Args:              page.OneTool,
		ValidArgsFunction: page.CompleteName(env),
		RunE: func(c *cobra.Command, args []string) error {
			def, err := findForOutput(env, c, args[0], &scopes, format)
			if err != nil {
				return err
			}
			if detail {
				return getDetail(env, def, format)
			}
			return printDefinition(env, def, format)
		},
	}
	return page.Page{
		Title: "flowrun tool get",
		About: []string{"Display the details of a specific tool: the text of its definition, or its JSON."},
		Usage: []string{"flowrun tool get TOOL_NAME [--scope] [options]"},
		Options: []page.Group{
			scopes.Options("Look for the tool in %s", "Look for the tool in any scope", ui.AnyScope),
			{Title: "OUTPUT OPTIONS", Lines: []page.Line{
				{Left: "--format yaml|json", Right: "Output format (default: yaml)", Target: &format, Words: definitionFormats},
				{Left: "--detail", Right: "Show detailed information", Target: &detail},
			}},
		},
		Examples: []page.Example{
			{Title: "Get a tool from any scope", Text: "flowrun tool get weather-lookup"},
			{Title: "Get a tool from user scope", Text: "flowrun tool get weather-lookup --user"},
			{Title: "Get a tool in JSON format", Text: "flowrun tool get weather-lookup --format json"},
			{Title: "Copy a tool to user scope", Text: "flowrun tool get weather-lookup --format yaml | flowrun tool import - --user"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tools"},
	}.Apply(c)
}

// findForOutput finds a tool whose definition is to be printed, and reports its problems.
func findForOutput(env *ui.Env, c *cobra.Command, name string, scopes *page.Scope, format string) (*tool.Definition, error) {
	if err := ui.OneOf(c, "format", format, definitionFormats); err != nil {
		return nil, err
	}
	def, found, err := scopes.Find(c, env.Library(), name)
	if err != nil {
		return nil, err
	}
	if def.Source == nil {
		return nil, ui.NoFileError(def, "shown")
	}
	if found.Err() != nil {
		env.Diagnose(found)
	}
	return def, nil
}

// printDefinition prints a definition in a form that can be imported again.
func printDefinition(env *ui.Env, def *tool.Definition, format string) error {
	text, err := definitionText(def, format)
	if err == nil {
		_, err = env.Stdout.Write(text)
	}
	return err
}

func definitionText(def *tool.Definition, format string) ([]byte, error) {
	if format == "json" {
		text, err := rewrite.NormalJSON(def)
		var ds tool.Diagnostics
		if errors.As(err, &ds) { // findForOutput has reported them
			err = ui.CodeError(outcome.ExitInvalid)
		}
		return text, err
	}
	text, err := rewrite.Portable(def, "")
	if n := len(text); err == nil && n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	return text, err
}

// detailJSON is the document flowrun/tool-detail.v1.
type detailJSON struct {
	Schema     string          `json:"schema"`
	Name       string          `json:"name"`
	Scope      tool.Scope      `json:"scope"`
	Path       string          `json:"path"`
	ShadowedBy string          `json:"shadowed_by"`
	Shadows    []string        `json:"shadows"`
	Problems   []string        `json:"problems"`
	Definition json.RawMessage `json:"definition"`
}

// getDetail prints a definition with details about the tool. In YAML the details are comments, so
// that the output can still be imported.
func getDetail(env *ui.Env, def *tool.Definition, format string) error {
	d := toolDetail(env, def)
	text, err := definitionText(def, format)
	if err != nil {
		return err
	}
	if format == "json" {
		d.Definition = text
		return ui.WriteJSON(env, d)
	}
	_, err = env.Stdout.Write(withComments(def.Format, text, detailLines(def, d)))
	return err
}

// withComments adds lines to a definition as comments in its language, so that it can still be
// imported. They precede the definition, except for Markdown, which must begin with its front
// matter.
func withComments(f tool.Format, text []byte, lines []string) []byte {
	mark := map[tool.Format]string{tool.Markdown: "", tool.JavaScript: "// "}
	before, known := mark[f]
	if !known {
		before = "# "
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(before + console.Clean(commentLine(line)) + "\n")
	}
	if f != tool.Markdown {
		return append([]byte(b.String()), text...)
	}
	return append(text, "\n<!--\n"+strings.ReplaceAll(b.String(), "--", "- -")+"-->\n"...)
}

// toolDetail returns where a tool was found, which tools it shadows or is shadowed by, and its
// problems.
func toolDetail(env *ui.Env, def *tool.Definition) detailJSON {
	d := detailJSON{Schema: "flowrun/tool-detail.v1", Name: def.Name, Scope: def.Scope, Path: def.File, Shadows: []string{}, Problems: []string{}}
	for _, e := range env.Library().List() {
		switch {
		case e.Name == def.Name && e.Path == def.File:
			d.ShadowedBy = e.ShadowedBy
		case e.ShadowedBy == def.File:
			d.Shadows = append(d.Shadows, e.Path)
		}
	}
	plan, err := ui.Compile(env, explicitPath(def.File))
	var ds tool.Diagnostics
	switch {
	case err == nil:
		ds = plan.Warnings
	default:
		ds, _ = err.(tool.Diagnostics)
	}
	for _, p := range ds {
		d.Problems = append(d.Problems, p.String())
	}
	return d
}

func detailLines(def *tool.Definition, d detailJSON) []string {
	lines := []string{
		"tool         " + def.Name,
		"scope        " + string(d.Scope),
		"file         " + d.Path,
	}
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("%-12s %s", label, text))
		}
	}
	add("shadowed by", d.ShadowedBy)
	add("shadows", strings.Join(d.Shadows, ", "))
	add("display name", def.DisplayName)
	add("version", def.Version)
	add("author", def.Author)
	add("deprecated", deprecation(def.Deprecated, def.DeprecatedMessage))
	if !def.Single {
		add("steps", strings.Join(stepNames(def), ", "))
	}
	add("runs on", cmp.Or(strings.Join(def.Platforms, ", "), "every platform"))
	add("tags", strings.Join(def.Tags, ", "))
	add("category", def.Metadata.Category)
	add("subcategory", def.Metadata.Subcategory)
	add("search", strings.Join(slices.Concat(def.Metadata.Tags, def.Metadata.SearchKeywords), ", "))
	for _, p := range def.Security.RequiredPermissions {
		add("permission", p.S)
	}
	for _, p := range def.Parameters {
		add("parameter", parameterLine(p))
		for _, line := range strings.Split(strings.TrimSpace(p.DetailedHelp), "\n") {
			if line != "" {
				add("", "  "+line)
			}
		}
	}
	for _, t := range def.Tests {
		add("test", t.Name)
	}
	for _, p := range d.Problems {
		add("problem", p)
	}
	return lines
}

func stepNames(def *tool.Definition) []string {
	var names []string
	for _, s := range def.Steps {
		names = append(names, s.Name)
	}
	return names
}

func parameterLine(p *tool.Parameter) string {
	line := p.Name + ", " + p.Type
	if p.Required && p.Default == nil {
		line += ", required"
	}
	if p.Description != "" {
		line += ": " + p.Description
	}
	return line
}

// commentLine replaces line breaks and control characters, so that the text stays within one comment
// line.
func commentLine(s string) string {
	return strings.Join(slices.Collect(strings.FieldsFuncSeq(s, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029
	})), " ")
}

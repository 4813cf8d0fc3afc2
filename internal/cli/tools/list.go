package tools

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/tools/addition"
	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/rewrite"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
	"github.com/flowrun/flowrun/library"
)

var (
	listFormats = []string{"simple", "table", "json", "yaml"}
	listOrders  = []string{"name", "category", "scope"}
)

// toolListCommand lists tools.
func toolListCommand(env *ui.Env) *cobra.Command {
	var scopes page.Scope
	var f toolfiles.Filter
	var dir string
	format, sort := "table", "name"
	var all bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List all available tools",
		Args:  ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			scope, err := scopes.Choose(c, ui.AnyScope)
			if err != nil {
				return err
			}
			if scope != ui.AnyScope {
				f.Scope = tool.Scope(scope)
			}
			for _, check := range []error{ui.OneOf(c, "format", format, listFormats), ui.OneOf(c, "sort", sort, listOrders)} {
				if check != nil {
					return check
				}
			}
			if c.Flags().Changed("platform") {
				if err := ui.OneOf(c, "platform", f.Platform, addition.Platforms()); err != nil {
					return err
				}
			}
			if dir != "" && f.Scope != "" {
				return ui.Usagef(c, "--dir cannot be combined with a scope, because a folder has no scopes")
			}
			if all && (dir != "" || f.Scope != "") {
				return ui.Usagef(c, "--all-sources cannot be combined with --dir or a scope")
			}
			list, err := listTools(env, dir, all)
			if err != nil {
				return err
			}
			warnDuplicates(env, list)
			list = f.Choose(list)
			toolfiles.Order(list, sort)
			return printList(env, list, format)
		},
	}
	page.Page{
		Title: "flowrun tool list",
		About: []string{"List all available tools across all scopes or in a specific scope. The list marks tools that", "are shadowed by another tool of the same name, deprecated tools, and tools with errors."},
		Usage: []string{"flowrun tool list [--scope] [options]"},
		Options: []page.Group{
			scopes.Options("List only tools from %s", "List tools from all scopes", ui.AnyScope),
			{Title: "FILTER OPTIONS", Lines: []page.Line{
				{Left: "--tag TAG", Right: "Filter by tag; repeat it to require several tags", Target: &f.Tags},
				{Left: "--category CATEGORY", Right: "Filter by category", Target: &f.Category},
				{Left: "--search TEXT", Right: "Search in name, description, and keywords", Target: &f.Search},
				{Left: "--platform PLATFORM", Right: "Filter by platform support (windows|linux|macos)", Target: &f.Platform, Words: addition.Platforms()},
				{Left: "--dir DIR", Right: "List the definitions in a folder instead of the scopes", Target: &dir},
				{Left: "--all-sources", Right: "Also list built-in tools, and those of tools.discoveryCommand and MCP servers", Target: &all},
			}},
			{Title: "OUTPUT OPTIONS", Lines: []page.Line{
				{Left: "--format simple|table|json|yaml", Right: "Output format (default: table)", Target: &format, Words: listFormats},
				{Left: "--output, -o FORM", Right: "The same as --format", Target: &format, Words: listFormats},
				{Left: "--sort name|category|scope", Right: "Sort order (default: name)", Target: &sort, Words: listOrders},
			}},
		},
		Examples: []page.Example{
			{Title: "List all tools from all scopes", Text: "flowrun tool list"},
			{Title: "List only user tools", Text: "flowrun tool list --user"},
			{Title: "List tools matching a tag", Text: "flowrun tool list --tag git"},
			{Title: "List tools in JSON format", Text: "flowrun tool list --format json"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tools"},
	}.Apply(c)
	c.RegisterFlagCompletionFunc("tag", completeListed(env, func(e library.Listed) []string { return append(e.SearchTags, e.Tags...) }))
	c.RegisterFlagCompletionFunc("category", completeListed(env, func(e library.Listed) []string { return []string{e.Category} }))
	c.MarkFlagDirname("dir")
	return c
}

// listTools returns all available tools, or the definitions in a folder. With all, it includes tools
// that are in no file.
func listTools(env *ui.Env, dir string, all bool) ([]library.Listed, error) {
	lib := env.Library()
	if dir == "" {
		env.Diagnose(lib.Unreadable(""))
		if all {
			return lib.ListAll(), nil
		}
		return lib.List(), nil
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, ui.Missing(fmt.Errorf("cannot list %s: it is not a folder", dir))
	}
	list, err := lib.ListFolder(dir)
	if err != nil {
		return nil, ui.MarkMissingFile(fmt.Errorf("cannot list the folder: %w", err))
	}
	return list, nil
}

// listedJSON is one tool in the output of tool list --format json.
type listedJSON struct {
	Name        string     `json:"name"`
	Scope       tool.Scope `json:"scope"`
	Path        string     `json:"path,omitempty"` // "" if the tool is not in a file
	Description string     `json:"description"`
	Tags        []string   `json:"tags"`
	Category    string     `json:"category"`
	ShadowedBy  string     `json:"shadowed_by"`
	Deprecated  string     `json:"deprecated,omitempty"` // what to use instead; "yes" if the tool is deprecated and does not say
	Error       string     `json:"error,omitempty"`      // first error in the file
}

func listed(e library.Listed) listedJSON {
	return listedJSON{e.Name, e.Scope, e.Path, e.Description, append([]string{}, e.Tags...), e.Category, e.ShadowedBy,
		deprecation(e.Deprecated, e.DeprecatedMessage), firstError(e)}
}

func printList(env *ui.Env, list []library.Listed, format string) error {
	docs := make([]listedJSON, len(list))
	for i, e := range list {
		docs[i] = listed(e)
	}
	switch format {
	case "json":
		return ui.WriteJSON(env, struct {
			Schema string       `json:"schema"`
			Tools  []listedJSON `json:"tools"`
		}{"flowrun/tools.v1", docs})
	case "yaml":
		return listYAML(env, docs)
	case "simple":
		for _, d := range docs {
			fmt.Fprintln(env.Stdout, console.Clean(d.Name))
		}
		return nil
	}
	if len(list) == 0 {
		env.Notef("no tools found; to create examples: flowrun init; to create one tool: flowrun tool add")
		return nil
	}
	rows := make([][]string, len(list))
	for i, d := range docs {
		rows[i] = []string{d.Name, string(d.Scope), strings.Join(d.Tags, ","), d.note()}
	}
	if err := ui.Table(env, []console.Column{{Title: "NAME"}, {Title: "SCOPE", Yields: 2, Whole: true}, {Title: "TAGS", Yields: 1}, {Title: "DESCRIPTION", Yields: 3, Prose: true}}, rows, nil); err != nil {
		return err
	}
	launch.NoteModelLimits(env, launch.ListedDefinitions(env.Library(), list), true)
	return nil
}

// ListProject lists the tools of the project, if it has any, and reports whether it has.
func ListProject(env *ui.Env) (bool, error) {
	list := toolfiles.Filter{Scope: tool.ScopeLocal}.Choose(env.Library().List())
	if len(list) == 0 {
		return false, nil
	}
	toolfiles.Order(list, "name")
	fmt.Fprintln(env.Stdout, "Tools of this project:")
	rows := make([][]string, len(list))
	for i, e := range list {
		rows[i] = []string{"  " + e.Name, listed(e).note()}
	}
	if err := console.Table(env.Stdout, []console.Column{{Title: "NAME"}, {Title: "DESCRIPTION", Yields: 1, Prose: true}}, rows, console.TableOptions{Width: env.StdoutWidth(), NoTitles: true}); err != nil {
		return true, err
	}
	_, err := fmt.Fprint(env.Stdout, `
flowrun run TOOL NAME=value runs a tool. flowrun help TOOL shows its parameters.
flowrun --help lists all commands and topics.
`)
	return true, err
}

// deprecation returns what a deprecated tool says to use instead, or "yes". It returns "" for other tools.
func deprecation(deprecated bool, message string) string {
	if !deprecated {
		return ""
	}
	return cmp.Or(message, "yes")
}

// note returns the description, preceded by notes about shadowing, deprecation and errors.
func (d listedJSON) note() string {
	var notes []string
	if d.ShadowedBy != "" {
		notes = append(notes, "(shadowed by "+console.ShortPath(d.ShadowedBy)+")")
	}
	switch d.Deprecated {
	case "":
	case "yes":
		notes = append(notes, "(deprecated)")
	default:
		notes = append(notes, "(deprecated: "+d.Deprecated+")")
	}
	if d.Error != "" {
		return strings.Join(append(notes, "(broken: "+d.Error+")"), " ")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(d.Description), "\n")
	return strings.Join(append(notes, first), " ")
}

func firstError(e library.Listed) string {
	for _, d := range e.Diagnostics {
		if d.Severity == tool.Error {
			return fmt.Sprintf("%d:%d: %s", d.Pos.Line, d.Pos.Col, d.Message)
		}
	}
	return ""
}

// listYAML prints the JSON document as YAML.
func listYAML(env *ui.Env, docs []listedJSON) error {
	list := []tool.Value{}
	for _, d := range docs {
		tags := []tool.Value{}
		for _, t := range d.Tags {
			tags = append(tags, addition.TextValue(t))
		}
		m := toolfiles.Draft{}
		m.Set("name", addition.TextValue(d.Name))
		m.Set("scope", addition.TextValue(string(d.Scope)))
		if d.Path != "" {
			m.Set("path", addition.TextValue(d.Path))
		}
		m.Set("description", addition.TextValue(d.Description))
		m.Set("tags", tool.Value{List: tags})
		m.Set("category", addition.TextValue(d.Category))
		m.Set("shadowed_by", addition.TextValue(d.ShadowedBy))
		if d.Deprecated != "" {
			m.Set("deprecated", addition.TextValue(d.Deprecated))
		}
		if d.Error != "" {
			m.Set("error", addition.TextValue(d.Error))
		}
		list = append(list, m.Value())
	}
	text, err := rewrite.WriteYAML([]tool.Entry{{Key: "tools", Value: tool.Value{List: list}}})
	if err == nil {
		_, err = env.Stdout.Write(text)
	}
	return err
}

// completeListed completes values that of returns for the available tools.
func completeListed(env *ui.Env, of func(library.Listed) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		seen := map[string]bool{"": true}
		var words []string
		for _, e := range env.Library().List() {
			for _, w := range of(e) {
				if !seen[w] && strings.HasPrefix(w, prefix) {
					seen[w] = true
					words = append(words, w)
				}
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

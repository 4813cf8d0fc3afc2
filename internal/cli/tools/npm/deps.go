package npm

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/js/bundle"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
)

var depsOutputs = []string{"table", "json"}

// Command returns the command that shows the npm packages that a tool depends on, and fetches those
// that are missing. No other command fetches packages.
func Command(env *ui.Env) *cobra.Command {
	var scopes page.Scope
	var only, asJSON, prune, dry bool
	output := "table"
	c := &cobra.Command{
		Use:   "deps TOOL_NAME",
		Short: "Fetch the npm packages of a tool",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case prune && len(args) > 0:
				return ui.Usagef(c, "--prune applies to all tools, so it takes no name")
			case prune && (only || asJSON || c.Flags().Changed("output")):
				return ui.Usagef(c, "--prune can only be combined with --dry-run")
			case prune:
				return nil
			case dry:
				return ui.Usagef(c, "--dry-run requires --prune")
			}
			return page.OneTool(c, args)
		},
		ValidArgsFunction: page.CompleteName(env),
		RunE: func(c *cobra.Command, args []string) error {
			if prune {
				return pruneDependencies(env, dry)
			}
			if err := ui.OneOf(c, "output", output, depsOutputs); err != nil {
				return err
			}
			def, found, err := scopes.Find(c, env.Library(), args[0])
			if err != nil {
				return err
			}
			if err := found.Err(); err != nil && len(def.Steps) == 0 { // what it depends on is not known
				return err
			}
			d := dependenciesOf(def)
			if !only {
				if d, err = installed(c.Context(), env, def); err != nil {
					return err
				}
				noteUnusable(env, def, d)
			}
			return showDependencies(env, d, asJSON || output == "json")
		},
	}
	return page.Page{
		Title: "flowrun tool deps",
		About: []string{
			"Fetch the npm packages that a .tool.js or .tool.ts names in getDependencies, and show",
			"where each is. Packages in node_modules next to the tool are used from there. npm fetches",
			"the others into flowrun's state folder, without running their scripts, and the versions are",
			"kept in a lock file next to the tool, NAME.tool.lock. Commit it: everybody then gets the same",
			"versions. Runs never install packages. Fetched packages are kept until --prune removes them.",
		},
		Usage: []string{"flowrun tool deps TOOL_NAME [--scope] [options]", "flowrun tool deps --prune [--dry-run]"},
		Options: []page.Group{
			scopes.Options("Look for the tool in %s", "Look for the tool in all scopes", ui.AnyScope),
			{Title: "ADDITIONAL OPTIONS", Lines: []page.Line{
				{Left: "--list", Right: "Show the packages, without fetching anything", Target: &only},
				{Left: "--output, -o FORM", Right: "Show the packages in this form: table|json", Target: &output, Words: depsOutputs},
				{Left: "--json", Right: "The same as --output json", Target: &asJSON},
				{Left: "--prune", Right: "Remove fetched packages that no tool or run needs", Target: &prune},
				{Left: "--dry-run", Right: "With --prune: show what would be removed, without removing it", Target: &dry},
			}},
		},
		Examples: []page.Example{
			{Title: "Fetch what a tool needs", Text: "flowrun tool deps resize"},
			{Title: "See what is missing", Text: "flowrun tool deps resize --list"},
			{Title: "See which packages are no longer needed", Text: "flowrun tool deps --prune --dry-run"},
		},
		SeeAlso: []string{"flowrun help tool"},
	}.Apply(c)
}

// dependencies are the packages of a tool, as in tool deps --json.
type dependencies struct {
	Schema  string       `json:"schema"`
	Tool    string       `json:"tool"`
	Folder  string       `json:"folder,omitempty"` // folder for the fetched packages
	Lock    string       `json:"lock,omitempty"`   // lock file, if there is one
	Entries []dependency `json:"dependencies"`

	list []tool.Dependency
	file string // absolute path of the tool's file
	lock []byte // text of the lock file, or nil
}

// dependency is an npm package and where it was found.
type dependency struct {
	Name    string `json:"name"`
	Range   string `json:"range"`
	Version string `json:"version,omitempty"`
	Found   string `json:"found"` // beside, cache or missing
	Path    string `json:"path,omitempty"`
}

func dependenciesOf(def *tool.Definition) dependencies {
	d := dependencies{Schema: "flowrun/deps.v1", Tool: def.Name, Entries: []dependency{}}
	if len(def.Steps) == 1 && def.Steps[0].Script() != nil && def.Steps[0].Script().Module != nil {
		d.list = def.Steps[0].Script().Module.Dependencies
	}
	file, err := filepath.Abs(def.File)
	if err != nil {
		file = def.File
	}
	d.file = file
	if d.lock = bundle.ReadLock(file); d.lock != nil {
		d.Lock = bundle.LockFile(file)
	}
	folder := d.folderFor(d.lock)
	d.Folder = string(folder)
	for _, one := range d.list {
		e := dependency{Name: one.Name, Range: one.Range, Found: "beside", Path: bundle.Beside(file, one.Name)}
		if e.Path == "" {
			e.Found, e.Path = "cache", folder.Package(one.Name)
		}
		if e.Path == "" {
			e.Found = "missing"
		}
		e.Version = bundle.Version(e.Path)
		d.Entries = append(d.Entries, e)
	}
	return d
}

// folderFor returns the folder for the packages of a lock file.
func (d dependencies) folderFor(lock []byte) bundle.Folder {
	return bundle.Packages(filepath.Join(engine.DefaultStateDir(), "npm"), d.Tool, d.list, lock)
}

// missing returns the packages that were not found.
func (d dependencies) missing() []string {
	var list []string
	for _, e := range d.Entries {
		if e.Found == "missing" {
			list = append(list, e.Name)
		}
	}
	return list
}

// noteUnusable says what keeps packages from running, and what they need that only Node.js has.
func noteUnusable(env *ui.Env, def *tool.Definition, d dependencies) {
	if len(d.list) == 0 || def.Steps[0].Script().Module.Node {
		return
	}
	_, result, bad := ui.Bundle(hooks.BundleRequest{File: d.file, Source: def.Source, About: hooks.About{Name: d.Tool, Dependencies: d.list}})
	for _, problem := range bad {
		env.Notef("%s", console.Clean(problem.Message))
	}
	modules, packages := map[string][]string{}, []string(nil)
	for _, a := range result.Absent {
		if modules[a.Package] == nil {
			packages = append(packages, a.Package)
		}
		modules[a.Package] = append(modules[a.Package], a.Module)
	}
	for _, name := range packages {
		env.Notef("%s imports %s of Node.js, which a tool does not have: what needs it fails, unless getMetadata has runtime: 'node'", console.Clean(name), strings.Join(modules[name], ", "))
	}
}

func showDependencies(env *ui.Env, d dependencies, asJSON bool) error {
	if asJSON {
		text, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.Stdout, "%s\n", text)
		return err
	}
	if len(d.Entries) == 0 {
		env.Notef("%s depends on no npm packages", console.Clean(d.Tool))
		return nil
	}
	width := 0
	for _, e := range d.Entries {
		width = max(width, len(e.Name)+len(e.Range)+1)
	}
	for _, e := range d.Entries {
		where := map[string]string{"beside": "next to the tool", "cache": "fetched", "missing": "missing"}[e.Found]
		line := fmt.Sprintf("%-*s  %-10s  %s", width, console.Clean(e.Name+"@"+e.Range), console.Clean(e.Version), where)
		fmt.Fprintln(env.Stdout, strings.TrimRight(line, " "))
	}
	return nil
}

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/tool"
)

func (a *app) validateCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "validate [PATH...]",
		Short: "Check definitions and tell every problem",
		Long: `Check definitions: files, folders of files, or tools by name; without any, every
tool in reach. Everything that can be known without running is checked: keys,
references, conditions, shell syntax around references, cycles, used tools.
Exits 3 when a definition has an error.`,
		Example: `  flowrun validate
  flowrun validate .flowrun/tools deploy.yaml
  flowrun validate -o json | jq .diagnostics`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf(c, "output", output, []string{"text", "json"}); err != nil {
				return err
			}
			return a.validate(args, output)
		},
		ValidArgsFunction: a.completeTools,
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text|json")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) validate(args []string, output string) error {
	lib := a.library()
	targets := a.targets(lib, args)
	var all tool.Diagnostics
	for _, t := range targets {
		p, err := flowrun.Compile(lib, t.name)
		var ds tool.Diagnostics
		switch {
		case errors.As(err, &ds):
			all = append(all, ds...)
		case err != nil && t.found: // one file of many must not hide what is wrong with the others
			all = append(all, tool.Diagnostic{Code: "unreadable", Severity: tool.Error, Pos: tool.Pos{File: t.name, Line: 1, Col: 1},
				Message: err.Error(), Hint: "make it readable, or remove it"})
		case err != nil:
			return named(err)
		default:
			all = append(all, p.Warnings...)
		}
	}
	all = all.Sorted()
	if output == "json" {
		b, err := all.MarshalDocument()
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "%s\n", b)
	} else {
		tool.Render(a.Stdout, all, readSource, a.colored(a.Stdout))
		if all.Err() == nil {
			fmt.Fprintf(a.Stdout, "%s valid\n", count(len(targets)))
		}
	}
	if all.Err() != nil {
		return codeError(exitInvalid)
	}
	return nil
}

func count(n int) string {
	if n == 1 {
		return "1 definition is"
	}
	return fmt.Sprintf("%d definitions are", n)
}

// target is a name or path to compile. found: it was found in a folder, not named
// by the caller.
type target struct {
	name  string
	found bool
}

// targets are what args stand for; without any, all tools in reach.
func (a *app) targets(lib *tool.Library, args []string) []target {
	var list []target
	if len(args) == 0 {
		for _, e := range a.tools(lib) {
			list = append(list, target{e.Path, true})
		}
		return list
	}
	for _, arg := range args {
		st, err := os.Stat(arg)
		switch {
		case err == nil && st.IsDir():
			list = append(list, definitionsIn(arg)...)
		case err == nil:
			list = append(list, target{explicit(arg), false})
		default:
			list = append(list, target{arg, false}) // a tool's name, or not found
		}
	}
	return list
}

// explicit makes a path recognisable as one.
func explicit(path string) string {
	if filepath.Base(path) == path {
		return "." + string(filepath.Separator) + path
	}
	return path
}

// definitionsIn are the definitions in a folder and in its folders. One that cannot
// be opened is among them: compiling it says why.
func definitionsIn(dir string) []target {
	var list []target
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) {
			list = append(list, target{explicit(path), true})
		}
		return nil
	})
	return list
}

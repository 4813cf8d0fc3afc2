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
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text|json")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) validate(args []string, output string) error {
	lib := a.library()
	names, err := a.targets(lib, args)
	if err != nil {
		return err
	}
	var all tool.Diagnostics
	for _, name := range names {
		p, err := flowrun.Compile(lib, name)
		var ds tool.Diagnostics
		switch {
		case errors.As(err, &ds):
			all = append(all, ds...)
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
			fmt.Fprintf(a.Stdout, "%s valid\n", count(len(names)))
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

// targets are the names and paths to compile.
func (a *app) targets(lib *tool.Library, args []string) ([]string, error) {
	var names []string
	if len(args) == 0 {
		for _, e := range lib.List() {
			names = append(names, e.Path)
		}
		return names, nil
	}
	for _, arg := range args {
		st, err := os.Stat(arg)
		switch {
		case err == nil && st.IsDir():
			inside, err := definitionsIn(arg)
			if err != nil {
				return nil, err
			}
			names = append(names, inside...)
		case err == nil:
			names = append(names, explicit(arg))
		default:
			names = append(names, arg) // a tool's name, or not found
		}
	}
	return names, nil
}

// explicit makes a path recognisable as one.
func explicit(path string) string {
	if filepath.Base(path) == path {
		return "." + string(filepath.Separator) + path
	}
	return path
}

func definitionsIn(dir string) ([]string, error) {
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) {
			list = append(list, explicit(path))
		}
		return err
	})
	return list, err
}

package author

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/starter"
)

// initCommand writes what a project begins with.
func initCommand(env *ui.Env) *cobra.Command {
	var template string
	var names, words []string
	for _, t := range starter.Templates() {
		names = append(names, t.Name)
		words = append(words, ui.Described(t.Name, t.About))
	}
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Begin: write a tool, a job of several steps and their tests into a project",
		Long: `Write definitions to begin with into .flowrun/tools of DIR (default: here), and beside
them the schema that has editors complete and check them, without a network. What is
there already is left alone and named: init can be run again.

Templates:
` + templateList(),
		Example: `  flowrun init
  flowrun init ./project --template etl`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return ui.Usagef(c, "give one folder, or none for this one")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := ui.OneOf(c, "template", template, names); err != nil {
				return err
			}
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return begin(env, dir, template)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	c.Flags().StringVar(&template, "template", names[0], "what to begin with, a `name`: "+strings.Join(names, "|"))
	c.RegisterFlagCompletionFunc("template", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func templateList() string {
	var b strings.Builder
	for _, t := range starter.Templates() {
		fmt.Fprintf(&b, "  %-9s %s\n", t.Name, t.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// begin writes a template into dir, tells what became of each file, and what to do next.
func begin(env *ui.Env, dir, template string) error {
	schema, err := flowrun.Schema("tool")
	if err != nil {
		return err
	}
	files, err := starter.Write(dir, template, schema)
	for _, f := range files {
		fmt.Fprintf(env.Stdout, "%-10s  %s\n", f.Outcome, filepath.Join(dir, filepath.FromSlash(f.Path)))
	}
	if err != nil {
		return fmt.Errorf("cannot begin in %q: %w", dir, err)
	}
	if slices.ContainsFunc(files, func(f starter.File) bool { return f.Outcome == starter.Differs }) {
		env.Notef("what was left alone is not what init would write; move it away and run init again to have both")
	}
	i := slices.IndexFunc(starter.Templates(), func(t starter.Template) bool { return t.Name == template })
	fmt.Fprintf(env.Stderr, "Next:\n")
	if here, err := os.Getwd(); err == nil && ui.AbsPath(dir) != here {
		fmt.Fprintf(env.Stderr, "  cd %s\n", flowrun.StepWord(dir))
	}
	fmt.Fprintf(env.Stderr, `  %s
  flowrun tool test           run the tests in the definitions
  flowrun validate            check them, as you change them
`, starter.Templates()[i].First)
	return nil
}

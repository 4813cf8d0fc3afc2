package author

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/docs"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/scaffold"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// initCommand returns the command that writes example definitions into a project.
func initCommand(env *ui.Env) *cobra.Command {
	var template string
	var names, words []string
	for _, t := range scaffold.Templates() {
		names = append(names, t.Name)
		words = append(words, complete.WithDescription(t.Name, t.About))
	}
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Create example tools with tests in a project",
		Long: `Create example definitions in .flowrun/tools of DIR (default: the current directory), and
a schema, so that editors can complete and check them offline. The command never changes
existing files. It lists them, so you can run it again.

Templates:
` + templateList(),
		Example: `  flowrun init
  flowrun init ./project --template etl`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return ui.Usagef(c, "give at most one folder")
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
			return writeTemplate(env, dir, template)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	c.Flags().StringVar(&template, "template", names[0], "the template, a `name`: "+strings.Join(names, "|"))
	c.RegisterFlagCompletionFunc("template", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func templateList() string {
	var b strings.Builder
	for _, t := range scaffold.Templates() {
		fmt.Fprintf(&b, "  %-9s %s\n", t.Name, t.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// writeTemplate writes a template into dir. It prints what happened to each file, and which
// commands to run next.
func writeTemplate(env *ui.Env, dir, template string) error {
	schema, err := docs.Schema("tool")
	if err != nil {
		return err
	}
	files, err := scaffold.Write(dir, template, schema)
	for _, f := range files {
		fmt.Fprintf(env.Stdout, "%-10s  %s\n", f.Outcome, filepath.Join(dir, filepath.FromSlash(f.Path)))
	}
	if err != nil {
		return fmt.Errorf("cannot create the examples in %q: %w", dir, err)
	}
	if slices.ContainsFunc(files, func(f scaffold.File) bool { return f.Outcome == scaffold.Differs }) {
		env.Notef("the files that were left alone differ from the template; to get the template as well, move them away and run init again")
	}
	i := slices.IndexFunc(scaffold.Templates(), func(t scaffold.Template) bool { return t.Name == template })
	fmt.Fprintf(env.Stderr, "Next:\n")
	if here, err := os.Getwd(); err == nil && ui.AbsPath(dir) != here {
		fmt.Fprintf(env.Stderr, "  cd %s\n", shellword.Sh(dir))
	}
	fmt.Fprintf(env.Stderr, `  %s
  flowrun tool test           run the tests in the definitions
  flowrun validate            check the definitions
  flowrun trust               trust this project, so that patterns can allow models to call its tools
`, scaffold.Templates()[i].First)
	return nil
}

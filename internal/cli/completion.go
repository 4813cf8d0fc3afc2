package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/completion"
	"github.com/flowrun/flowrun/internal/cli/ui"
)

// completionCommand returns the command that prints a completion script for a shell.
func completionCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a shell completion script",
		Long: `Print a script that lets your shell complete commands, flags, tools, parameters and their
values, steps and runs.

bash: add this line to ~/.bashrc:
  source <(flowrun completion bash)

zsh: write the script to a folder of $fpath:
  mkdir -p ~/.zfunc
  flowrun completion zsh > ~/.zfunc/_flowrun
  # and in ~/.zshrc:  fpath+=~/.zfunc; autoload -Uz compinit; compinit

fish:
  flowrun completion fish > ~/.config/fish/completions/flowrun.fish

PowerShell: add this line to the file that $PROFILE names:
  flowrun completion powershell | Out-String | Invoke-Expression

Completion works in every shell that you start afterwards.`,
		Example: `  source <(flowrun completion bash)`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return ui.Usagef(c, "missing argument: give bash, zsh, fish or powershell")
			}
			if !slices.Contains(completion.Shells(), args[0]) {
				return ui.Usagef(c, "cannot print a completion script for %q; give bash, zsh, fish or powershell", args[0])
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := io.WriteString(env.Stdout, completion.Script(args[0]))
			return err
		},
		ValidArgsFunction: cobra.FixedCompletions(completion.Shells(), cobra.ShellCompDirectiveNoFileComp),
	}
}

package cli

import (
	_ "embed"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// bashCompletion replaces the script that cobra generates. That one requires the package
// bash-completion, which is missing on macOS and in small images, loses the text before a =, and
// evaluates what the user types.
//
//go:embed completion.bash
var bashCompletion string

var shells = []string{"bash", "zsh", "fish", "powershell"}

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
			if !slices.Contains(shells, args[0]) {
				return ui.Usagef(c, "cannot print a completion script for %q; give bash, zsh, fish or powershell", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				_, err := io.WriteString(env.Stdout, bashCompletion)
				return err
			case "zsh":
				return root.GenZshCompletion(env.Stdout)
			case "fish":
				return root.GenFishCompletion(env.Stdout, true)
			}
			return root.GenPowerShellCompletionWithDesc(env.Stdout)
		},
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
	}
}

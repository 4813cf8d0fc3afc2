package cli

import (
	_ "embed"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// bashCompletion is ours, since cobra's needs the package bash-completion, which bash on
// macOS and in small images is without, loses what stands before a =, and evaluates what
// is typed.
//
//go:embed completion.bash
var bashCompletion string

var shells = []string{"bash", "zsh", "fish", "powershell"}

// completionCommand prints what makes a shell complete flowrun's command line.
func completionCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print what makes Tab complete commands, tools, parameters, steps and runs",
		Long: `Print the script that makes a shell complete flowrun's command line: commands and
flags, tools, their parameters and the values these can have, steps, runs.

bash, a line in ~/.bashrc:
  source <(flowrun completion bash)

zsh, in a folder of $fpath, before compinit runs in ~/.zshrc:
  mkdir -p ~/.zfunc
  flowrun completion zsh > ~/.zfunc/_flowrun
  with these lines in ~/.zshrc:  fpath+=~/.zfunc; autoload -Uz compinit; compinit

fish:
  flowrun completion fish > ~/.config/fish/completions/flowrun.fish

PowerShell, in the file that $PROFILE names:
  flowrun completion powershell | Out-String | Invoke-Expression

A new shell has it then.`,
		Example: `  source <(flowrun completion bash)`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return ui.Usagef(c, "for which shell? Give bash, zsh, fish or powershell")
			}
			if !slices.Contains(shells, args[0]) {
				return ui.Usagef(c, "there is no completion for %q; give bash, zsh, fish or powershell", args[0])
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

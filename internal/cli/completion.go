package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

// completionCommand prints what makes a shell complete flowrun's command line.
func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print what makes Tab complete commands, tools, parameters, steps and runs",
		Long: `Print the script that makes a shell complete flowrun's command line: commands and
flags, tools, their parameters and the values these can have, steps, runs.

bash, with the package bash-completion (for one session: source <(flowrun completion bash)):
  mkdir -p ~/.local/share/bash-completion/completions
  flowrun completion bash > ~/.local/share/bash-completion/completions/flowrun

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
				return usagef(c, "for which shell? Give bash, zsh, fish or powershell")
			}
			if !slices.Contains(shells, args[0]) {
				return usagef(c, "there is no completion for %q; give bash, zsh, fish or powershell", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.Stdout)
			case "fish":
				return root.GenFishCompletion(a.Stdout, true)
			}
			return root.GenPowerShellCompletionWithDesc(a.Stdout)
		},
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
	}
}

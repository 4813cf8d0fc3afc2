package runs

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func explainCacheCommand(env *ui.Env) *cobra.Command {
	var params, output string
	var verbose, allowDash bool
	c := &cobra.Command{
		Use:   "explain-cache NAME|FILE STEP [PARAM=value ...]",
		Short: "Explain whether the cached result of a step would be reused",
		Long: `Compare the current inputs of a step that has a cache with those of its cached result,
and print the first difference. The command runs and writes nothing. Values that come from
other steps are known only during a run, so they are not compared.

The exit code is 0 if the result would be reused, and 1 if not.`,
		Example: "  flowrun explain-cache build compile VERSION=3\n  flowrun explain-cache ./build.yaml setup/fetch -v",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return ui.Usagef(c, "missing argument: give a tool and one of its steps")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			list, err := launch.ParseAssignments(c, args[2:])
			if err != nil {
				return err
			}
			plan, err := ui.Compile(env, args[0])
			if err != nil {
				return err
			}
			runEnv := engine.RunEnv{AllowDash: allowDash, JavaScript: env.JavaScript(), State: launch.ReadState(env)}
			given, err := launch.CollectParams(env, plan, runEnv, params, list)
			if err != nil {
				return err
			}
			e := engine.New(engine.Config{StateDir: engine.DefaultStateDir()})
			x, err := e.ExplainCache(context.Background(), plan, args[1], given.Values, runEnv)
			if err != nil {
				return given.Locate(err)
			}
			return explain(env, x, output, verbose)
		},
		ValidArgsFunction: completeExplain(env),
	}
	fl := c.Flags()
	fl.StringVar(&params, "params", "", "read parameters from this JSON or YAML `file`; - is stdin")
	fl.BoolVar(&allowDash, "allow-dash", false, "allow values that begin with a dash, even where a command may read them as options")
	fl.BoolVarP(&verbose, "verbose", "v", false, "print every difference, not only the first")
	ui.OutputFlag(c, &output, "text", "json")
	return c
}

// completeExplain completes tools, then steps of the tool, then parameters.
func completeExplain(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return complete.Tool(env)(c, args, prefix)
		case 1:
			return complete.Path(env)(c, args, prefix)
		}
		return complete.Run(env)(c, append(args[:1:1], args[2:]...), prefix)
	}
}

// explain prints an explanation. If the step would run, it returns exit code 1 as an error.
func explain(env *ui.Env, x *preview.CacheExplanation, output string, verbose bool) error {
	if output == "json" {
		if err := ui.WriteJSON(env, x); err != nil {
			return err
		}
	} else {
		explainText(env, x, verbose)
	}
	if x.Verdict != preview.CacheReused {
		return ui.CodeError(outcome.ExitFailed)
	}
	return nil
}

func explainText(env *ui.Env, x *preview.CacheExplanation, verbose bool) {
	switch x.Verdict {
	case preview.CacheReused:
		fmt.Fprintf(env.Stdout, "%s would be reused: its result was stored at %s\n", x.Step, x.Kept.Local().Format("2006-01-02 15:04:05"))
	case preview.CacheUnknown:
		fmt.Fprintf(env.Stdout, "%s: nothing that can be checked before a run has changed\n", x.Step)
	default:
		fmt.Fprintf(env.Stdout, "%s would run: %s%s\n", x.Step, console.Clean(x.Reasons[0].Message), andMore(len(x.Reasons)-1, verbose))
	}
	if verbose && len(x.Reasons) > 1 {
		for _, r := range x.Reasons[1:] {
			fmt.Fprintf(env.Stdout, "  %s\n", console.Clean(r.Message))
		}
	}
	if len(x.Unknown) > 0 {
		fmt.Fprintf(env.Stdout, "not checked, because it depends on other steps: %s\n", strings.Join(x.Unknown, ", "))
	}
}

func andMore(n int, verbose bool) string {
	if n == 0 || verbose {
		return ""
	}
	return fmt.Sprintf(" (%d more: -v)", n)
}

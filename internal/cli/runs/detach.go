package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/catalog"
)

// notWithDetach are the flags of run that apply to the executing process, and so cannot be combined
// with --detach.
var notWithDetach = []string{"until", "allow-dash", "no-history", "watch", "watch-path", "max-parallel", "force", "verbose", "summary", "timeout", "exit-code", "metrics-file", "metrics-addr", "auto-approve"}

// startedJSON is the document flowrun/started.v1.
type startedJSON struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
}

// detach sends a run to the service, which executes it, and prints its id. The parameters are
// validated here first, so that problems are reported as usual.
func detach(env *ui.Env, c *cobra.Command, args []string, f runFlags) error {
	for _, name := range notWithDetach {
		if c.Flags().Changed(name) {
			return ui.Usagef(c, "--%[1]s cannot be combined with --detach: the service executes the run, and --%[1]s applies to runs that this command executes", name)
		}
	}
	if f.output == "combined" {
		return ui.Usagef(c, "--output combined cannot be combined with --detach, which does not wait for output; flowrun logs RUN prints it")
	}
	if catalog.IsPath(args[0]) {
		return ui.Usagef(c, "the service runs tools by name, but %s is a file; add it as a tool (flowrun tool add NAME --from-file %s), or run it without --detach", args[0], shellword.Sh(args[0]))
	}
	r, err := parse(env, c, args, f, nil)
	if err != nil {
		return err
	}
	if bad, ok := errors.AsType[*value.ParamsError](r.bindErr); ok {
		return bad
	}
	started := startedJSON{Schema: "flowrun/started.v1"}
	request := map[string]any{"tool": r.plan.Name(), "params": rawtext.EncodeMap(r.params), "detach": true}
	if len(f.labels) > 0 {
		request["labels"] = f.labels
	}
	if err := ui.CallService("POST", "/api/v1/runs", request, &started); err != nil {
		return err
	}
	if ui.Verbose(f.Progress) {
		noteDifferentDefinition(env, r.plan, started.ID)
		env.Notef("the service executes the run; to follow it: flowrun logs -f %s; to stop it: flowrun cancel %s", started.ID, started.ID)
	}
	if f.output == "json" {
		return ui.WriteJSON(env, started)
	}
	_, err = fmt.Fprintln(env.Stdout, started.ID)
	return err
}

// noteDifferentDefinition prints a note if the service runs a different tool of the same name,
// because it was started in another folder.
func noteDifferentDefinition(env *ui.Env, plan *engine.Plan, id string) {
	_ = env.ReadHistory(func(ctx context.Context, s ui.History) error {
		r, err := s.Record(ctx, id)
		if err == nil && len(r.Sources) > 0 && r.Sources[0].File != plan.Definition.File {
			env.Notef("note: the service uses another definition of tool %s: %s, not %s", plan.Name(), console.ShortPath(r.Sources[0].File), console.ShortPath(plan.Definition.File))
		}
		return err
	})
}

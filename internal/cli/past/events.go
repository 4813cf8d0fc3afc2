package past

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/observe/findrun"
)

func eventsCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "events RUN",
		Short:   "Print the events of a run as JSON lines",
		Long:    "Print all events of a run, one JSON document (flowrun/event.v1) per line.",
		Example: `  flowrun events latest | jq -r 'select(.kind == "step.finished") | .node'`,
		Args:    ui.OneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			return engines.Read(env, func(ctx context.Context, s history.Store) error { return events(ctx, env, s, args[0]) })
		},
		ValidArgsFunction: runview.CompleteRunID(env, findrun.Read),
	}
}

func events(ctx context.Context, env *ui.Env, s history.Store, word string) error {
	id, err := env.FindRun(ctx, s, findrun.Read, word)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	return eachEvent(ctx, s, id, func(e *dag.Event) error { return enc.Encode(new(artifact.EncodedEvent(*e))) })
}

// eachEvent calls visit with each event of a run, in order. It stops at the first error.
func eachEvent(ctx context.Context, s history.Store, id string, visit func(*dag.Event) error) error {
	for after := uint64(0); ; {
		list, err := s.Events(ctx, id, after)
		if err != nil || len(list) == 0 {
			return err
		}
		for i := range list {
			if err := visit(&list[i]); err != nil {
				return err
			}
		}
		after = list[len(list)-1].Seq
	}
}

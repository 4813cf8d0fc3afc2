package launch

import (
	"context"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
)

// ReadState returns a function that reads the state of tools for a preview.
func ReadState(env *ui.Env) func(context.Context, history.StateID) ([]history.StateValue, error) {
	return func(_ context.Context, id history.StateID) (list []history.StateValue, err error) {
		err = env.ReadHistory(func(ctx context.Context, s ui.History) (err error) {
			list, err = s.State(ctx, id)
			return err
		})
		return list, err
	}
}

package launch

import (
	"context"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/attention"
)

// FindAttention returns what needs a person. What cannot be searched is reported on stderr, because the command shows more
// than this.
func FindAttention(ctx context.Context, env *ui.Env, s ui.History) []attention.Item {
	settings, _ := ui.LoadSettings(false) // invalid ones are reported by what runs something
	items, err := attention.Find(ctx, attention.Source{Store: s, Library: env.Library(), StateDir: engine.DefaultStateDir(), MinFree: settings.Number("history.min-free")})
	if err != nil {
		env.Notef("cannot find everything that needs attention: %v", err)
	}
	return items
}

var attentionColumns = []console.Column{{Title: "ATTENTION"}, {Title: "TOOL", Yields: 3}, {Title: "RUN"}, {Title: "SINCE", Yields: 2, Whole: true}, {Title: "WHY", Yields: 1, Prose: true}, {Title: "NEXT", Whole: true}}

// PrintAttention prints items as a table below another one, and nothing if there are none.
func PrintAttention(env *ui.Env, items []attention.Item) error {
	if len(items) == 0 {
		return nil
	}
	now := time.Now()
	rows := make([][]string, len(items))
	for n, i := range items {
		since := ""
		if !i.Since.IsZero() {
			since = console.Age(now.Sub(i.Since)) + " ago"
		}
		rows[n] = []string{i.Kind, i.Tool, i.Run, since, i.Reason, i.Do}
	}
	fmt.Fprintln(env.Stdout)
	return ui.Table(env, attentionColumns, rows, nil)
}

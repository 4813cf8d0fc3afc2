package past

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/runlog"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/steps"
)

func logsCommand(env *ui.Env) *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use:   "logs RUN [STEP]",
		Short: "Print the output of the steps of a run",
		Long: `Print the output of one step (all attempts), or of all steps with each line prefixed by
its step. For a step that uses a tool, print the output of the steps inside it; for a
loop, that of its items. Standard error of the steps goes to standard error.`,
		Example: `  flowrun logs latest
  flowrun logs 01jd3k test > test.log
  flowrun logs latest -f`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return ui.Usagef(c, "give a run, and optionally one of its steps")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return env.ReadHistory(func(ctx context.Context, s *sqlite.Store) error {
				id, err := ui.FindRun(ctx, s, args[0])
				if err != nil {
					return err
				}
				l, err := newLogs(ctx, env, s, id, args[1:])
				if err != nil {
					return err
				}
				return l.print(ctx, follow)
			})
		},
		ValidArgsFunction: runview.CompleteRunStep(env),
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "continue printing until the run ends")
	return c
}

// logs prints the logs of a run.
type logs struct {
	store  flowrun.Store
	run    *flowrun.RecordedRun
	reader *runlog.Reader
	out    [2]*console.Prefixer
	plain  [2]io.Writer
	notef  func(format string, args ...any)
}

func newLogs(ctx context.Context, env *ui.Env, s flowrun.Store, id string, step []string) (*logs, error) {
	run, err := flowrun.LoadRun(ctx, s, env.Library(), id)
	if err != nil {
		return nil, err
	}
	state, err := ui.StateDir()
	if err != nil {
		return nil, err
	}
	wanted := strings.Join(step, "")
	l := &logs{store: s, run: run, reader: runlog.New(steps.LogFolder(state, id), run.Plan, wanted), plain: [2]io.Writer{ui.CleanWriter(env.Stdout), ui.CleanWriter(env.Stderr)}, notef: env.Notef}
	var names []string
	found := wanted == ""
	for _, s := range run.Result().Steps {
		names = append(names, s.ID)
		found = found || l.reader.Wants(s.ID)
	}
	if !found {
		return nil, run.NoStep(wanted)
	}
	for i, w := range []io.Writer{env.Stdout, env.Stderr} {
		l.out[i] = console.NewPrefixer(w, names, console.PrefixOptions{Color: env.Colored(w), Terminal: ui.IsTerminal(w)})
	}
	return l, nil
}

// followInterval is how often --follow checks an active run for new output.
const followInterval = 100 * time.Millisecond

func (l *logs) print(ctx context.Context, follow bool) error {
	for {
		live := l.run.Info.Live()
		if err := l.reader.Copy(l.run.Events, l.writerFor); err != nil {
			return err
		}
		if !follow || !live {
			err := errors.Join(l.out[0].Flush(), l.out[1].Flush(), ui.Flush(l.plain[0]), ui.Flush(l.plain[1]))
			l.reportTruncated()
			return err
		}
		time.Sleep(followInterval)
		if err := l.run.Refresh(ctx, l.store); err != nil {
			return err
		}
	}
}

// reportTruncated reports the steps whose output other steps saw only in part.
func (l *logs) reportTruncated() {
	for _, s := range l.run.Result().Steps {
		if s.Truncated && l.reader.Wants(s.ID) {
			l.notef("the output of step %s exceeds its buffer-limit, so references to it are truncated; the log is complete", s.ID)
		}
	}
}

// writerFor returns the writer for a stream of a step.
func (l *logs) writerFor(stream steps.Streams, path dag.ID) io.Writer {
	i := 0
	if stream == steps.Stderr {
		i = 1
	}
	if l.reader.Exactly(path) {
		return l.plain[i]
	}
	return l.out[i].Step(string(path))
}

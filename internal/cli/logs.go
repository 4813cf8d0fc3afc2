package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/steps"
)

func (a *app) logsCommand() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use:   "logs RUN [STEP]",
		Short: "Print what the steps of a run printed",
		Long: `Print what one step printed, every try of it, or with its name before each line
what all steps did. A step that uses a tool stands for the steps inside, a loop for its
items. What went to standard error comes on standard error.`,
		Example: `  flowrun logs latest
  flowrun logs 01jd3k test > test.log
  flowrun logs latest -f`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef(c, "give a run, and a step if only one is wanted")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return a.reading(func(ctx context.Context, s *sqlite.Store) error {
				id, err := findRun(ctx, s, args[0])
				if err != nil {
					return err
				}
				l, err := a.newLogs(ctx, s, id, args[1:])
				if err != nil {
					return err
				}
				return l.print(ctx, follow)
			})
		},
		ValidArgsFunction: a.completeRunStep,
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on while the run does")
	return c
}

// logs prints the logs of a run.
type logs struct {
	store flowrun.Store
	run   *flowrun.Past
	dir   string
	step  string // "" for all
	out   [2]*console.Prefixer
	bare  [2]io.Writer
	at    map[string]int64 // how far each file has been printed
	over  map[dag.ID]bool  // steps that are printed to their end
}

func (a *app) newLogs(ctx context.Context, s flowrun.Store, id string, step []string) (*logs, error) {
	run, err := flowrun.LoadRun(ctx, s, a.library(), id)
	if err != nil {
		return nil, err
	}
	state, err := stateDir()
	if err != nil {
		return nil, err
	}
	l := &logs{store: s, run: run, dir: steps.LogFolder(state, id), at: map[string]int64{}, over: map[dag.ID]bool{},
		bare: [2]io.Writer{a.Stdout, a.Stderr}}
	if len(step) > 0 {
		l.step = step[0]
		if !slices.ContainsFunc(run.Result().Steps, func(s flowrun.StepResult) bool { return l.wants(s.ID) }) {
			return nil, run.NoStep(l.step)
		}
	}
	var names []string
	for _, s := range run.Result().Steps {
		names = append(names, s.ID)
	}
	for i, w := range l.bare {
		l.out[i] = console.NewPrefixer(w, names, console.PrefixOptions{Color: a.colored(w), Terminal: isTerminal(w)})
	}
	return l, nil
}

// wants says whether a step's logs were asked for: all, one step's in whatever try
// of what is around it, or those inside one.
func (l *logs) wants(path string) bool {
	return l.step == "" || under(path, l.step) || under(withoutTries(path), l.step)
}

// followEvery is how often a run that goes on is looked at.
const followEvery = 100 * time.Millisecond

func (l *logs) print(ctx context.Context, follow bool) error {
	for {
		live := l.run.Info.Live()
		if err := l.pass(); err != nil {
			return err
		}
		if !follow || !live {
			return errors.Join(l.out[0].Flush(), l.out[1].Flush())
		}
		time.Sleep(followEvery)
		if err := l.run.Refresh(ctx, l.store); err != nil {
			return err
		}
	}
}

// pass prints what is new of every step that has begun, in the order they began.
func (l *logs) pass() error {
	seen := map[dag.ID]bool{}
	files, err := steps.ReadLogs(l.dir)
	if err != nil {
		return err
	}
	ended := map[dag.ID]*dag.Result{}
	for _, e := range l.run.Events {
		switch e.Kind {
		case dag.StepFinished:
			ended[e.Node] = e.Result
		case dag.StepExpanded:
			seen[e.Node] = true // what a loop gathers, its items have printed
		}
	}
	for _, e := range l.run.Events {
		if e.Kind != dag.StepStarted && e.Kind != dag.StepFinished || seen[e.Node] || l.over[e.Node] || !l.wants(string(e.Node)) {
			continue
		}
		seen[e.Node] = true
		if err := l.printStep(e.Node, files.Of(e.Node), ended[e.Node]); err != nil {
			return err
		}
	}
	for _, e := range l.run.Events { // printed after it had ended
		if e.Kind == dag.StepFinished {
			l.over[e.Node] = l.over[e.Node] || seen[e.Node]
		}
		if e.Kind == dag.RunResumed {
			clear(l.over)
		}
	}
	return nil
}

// printStep prints what is new in the logs of one step. A result whose log is not
// there still has the beginning; what a step that uses a tool printed is that of a step
// inside.
func (l *logs) printStep(path dag.ID, files []steps.LogFile, r *dag.Result) error {
	for _, f := range files {
		if err := l.copy(f, path); err != nil {
			return err
		}
	}
	if len(files) > 0 || r == nil || l.at[string(path)] > 0 || l.run.Plan.Nested(string(path)) != nil {
		return nil
	}
	for i, o := range []*dag.Output{r.Stdout, r.Stderr} {
		if o == nil {
			continue
		}
		l.at[string(path)] = o.Size
		if _, err := io.WriteString(l.to(i, path), o.Inline); err != nil {
			return err
		}
	}
	return nil
}

// copy prints what is new in a file.
func (l *logs) copy(f steps.LogFile, path dag.ID) error {
	file, err := os.Open(f.Path)
	if err != nil {
		return fmt.Errorf("cannot read a log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(l.at[f.Path], io.SeekStart); err != nil {
		return fmt.Errorf("cannot read a log: %w", err)
	}
	stream := 0
	if f.Stream == steps.Stderr {
		stream = 1
	}
	n, err := io.Copy(struct{ io.Writer }{l.to(stream, path)}, file)
	l.at[f.Path] += n
	return err
}

// to is where a stream of a step goes.
func (l *logs) to(stream int, path dag.ID) io.Writer {
	if l.step == string(path) || l.step != "" && l.step == withoutTries(string(path)) {
		return l.bare[stream]
	}
	return l.out[stream].Step(string(path))
}

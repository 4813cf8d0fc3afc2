package past

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/observe/runlog"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func logsCommand(env *ui.Env) *cobra.Command {
	var f logsFlags
	c := &cobra.Command{
		Use:   "logs RUN [STEP]",
		Short: "Print the output of the steps of a run",
		Long: `Print the output of one step (all attempts), or of all steps with each line prefixed by
its step and, from the second on, its attempt. For a step that uses a tool, print the
output of the steps inside it; for a loop, that of its items. Standard error of the steps
goes to standard error.

With --timestamps or -o jsonl, and on a terminal without -f, the lines of both streams and
of all steps are in the order in which they were printed. Times are accurate to about a tenth of a second; "-" is a time
that is not known, such as those of runs of earlier versions.

On a terminal, the output is shown with FLOWRUN_PAGER, PAGER or less, unless -f or
--no-pager is given.`,
		Example: `  flowrun logs latest
  flowrun logs 1m80y test > test.log
  flowrun logs latest test --attempt 2
  flowrun logs latest --grep 'error|warning'
  flowrun logs latest --timestamps
  flowrun logs latest -o jsonl | jq -r 'select(.stream == "stderr").text'
  flowrun logs latest -f`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return ui.Usagef(c, "give a run, and optionally one of its steps")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			since, pattern, err := f.check(c)
			if err != nil {
				return err
			}
			return engines.Read(env, func(ctx context.Context, s history.Store) error {
				id, err := env.FindRun(ctx, s, findrun.Read, args[0])
				if err != nil {
					return err
				}
				run, err := engine.LoadRun(ctx, s, env.Library(), id)
				if err != nil {
					return err
				}
				reader, err := f.reader(run, strings.Join(args[1:], ""), since)
				if err != nil {
					return err
				}
				print := func() error { return newLogs(env, s, run, reader, pattern, &f).print(ctx, f.follow) }
				if f.follow || f.noPager || f.output != "text" {
					return print()
				}
				return env.Page(print)
			})
		},
		ValidArgsFunction: runview.CompleteRunStep(env),
	}
	fl := c.Flags()
	fl.BoolVarP(&f.follow, "follow", "f", false, "continue printing until the run ends")
	fl.IntVar(&f.attempt, "attempt", 0, "print only attempt `n` of each step; a fallback belongs to the last one")
	fl.StringVar(&f.since, "since", "", "print only steps that ended within this `duration` (10m, 24h, 7d), or since a date or a time (RFC 3339), or still run")
	fl.StringVar(&f.grep, "grep", "", "print only lines that match this `pattern` (RE2)")
	fl.BoolVarP(&f.timestamps, "timestamps", "t", false, "print before each line when it was printed (UTC), in the order of time")
	ui.OutputFlag(c, &f.output, "text", "jsonl")
	fl.BoolVar(&f.noPager, "no-pager", false, "do not use a pager on a terminal")
	return c
}

// logsFlags are the flags of flowrun logs.
type logsFlags struct {
	follow, noPager, timestamps bool
	attempt                     int
	since, grep, output         string
}

func (f *logsFlags) check(c *cobra.Command) (since time.Time, pattern *regexp.Regexp, err error) {
	if c.Flags().Changed("attempt") && f.attempt < 1 {
		return since, nil, ui.Usagef(c, "--attempt must be at least 1")
	}
	if since, err = ui.ParseTime(f.since); err != nil {
		return since, nil, ui.Usagef(c, "--since: %v", err)
	}
	if f.grep != "" {
		if pattern, err = regexp.Compile(f.grep); err != nil {
			return since, nil, ui.Usagef(c, "--grep: %v", err)
		}
	}
	return since, pattern, nil
}

// reader returns a Reader of the selected logs. It is an error if no step, or no attempt, is selected.
func (f *logsFlags) reader(run *engine.RecordedRun, step string, since time.Time) (*runlog.Reader, error) {
	state, err := ui.StateDir()
	if err != nil {
		return nil, err
	}
	r := runlog.New(rundir.LogFolder(state, run.Record.ID), run.Plan, step)
	r.Attempt, r.Since = f.attempt, since
	found, most := step == "", 0
	for _, s := range run.Result().Steps {
		if r.Wants(s.ID) {
			found, most = true, max(most, s.Attempts)
		}
	}
	switch {
	case !found:
		return nil, run.NoStep(step)
	case f.attempt > most && !run.Info.Live():
		return nil, ui.Missing(fmt.Errorf("no step has an attempt %d; the highest is %d", f.attempt, most))
	}
	return r, nil
}

// logs prints the logs of a run.
type logs struct {
	store    history.Store
	run      *engine.RecordedRun
	reader   *runlog.Reader
	out      [2]*console.Prefixer
	plain    [2]io.Writer
	terminal bool
	attempt  int // the one of the selected step that was printed last
	pattern  *regexp.Regexp
	filters  map[io.Writer]*lineFilter
	merged   bool // in the order of time
	times    bool
	encoder  *json.Encoder // nil: lines are text
	encoded  *bufio.Writer
	notef    func(format string, args ...any)
}

func newLogs(env *ui.Env, s history.Store, run *engine.RecordedRun, reader *runlog.Reader, pattern *regexp.Regexp, f *logsFlags) *logs {
	l := &logs{store: s, run: run, reader: reader, plain: [2]io.Writer{ui.CleanWriter(env.Stdout), ui.CleanWriter(env.Stderr)},
		terminal: ui.IsTerminal(env.Stdout), attempt: 1, pattern: pattern, filters: map[io.Writer]*lineFilter{}, notef: env.Notef,
		times: f.timestamps, merged: f.timestamps || !f.follow && (env.Stdout == env.Stderr || ui.SameTerminal(env.Stdout, env.Stderr))} // the same for a pager
	if f.output == "jsonl" {
		l.merged, l.encoded = true, bufio.NewWriter(env.Stdout)
		l.encoder = json.NewEncoder(l.encoded)
		l.encoder.SetEscapeHTML(false)
	}
	var names []string
	for _, s := range run.Result().Steps {
		name := s.ID
		if !reader.Wants(name) {
			continue
		}
		if run.Plan.Nested(name) == nil { // otherwise the steps inside it have the output
			name = attemptName(name, s.Attempts)
		}
		names = append(names, name)
	}
	for i, w := range []io.Writer{env.Stdout, env.Stderr} {
		l.out[i] = console.NewPrefixer(w, names, console.PrefixOptions{Color: env.Colored(w), Terminal: ui.IsTerminal(w)})
	}
	return l
}

// attemptName returns how an attempt of a step is called.
func attemptName(path string, attempt int) string {
	if attempt < 2 {
		return path
	}
	return fmt.Sprintf("%s (attempt %d)", path, attempt)
}

// followInterval is how often --follow checks an active run for new output.
const followInterval = 100 * time.Millisecond

func (l *logs) print(ctx context.Context, follow bool) error {
	for {
		live := l.run.Info.Live()
		var err error
		if l.merged {
			err = l.reader.CopyLines(l.run.Events, follow && live, l.line)
			if l.encoded != nil {
				err = errors.Join(err, l.encoded.Flush())
			}
		} else {
			err = l.reader.Copy(l.run.Events, l.writerFor)
		}
		if err != nil {
			return err
		}
		if !follow || !live {
			var errs []error
			for _, f := range l.filters {
				errs = append(errs, f.flush())
			}
			err := errors.Join(errors.Join(errs...), l.out[0].Flush(), l.out[1].Flush(), ui.Flush(l.plain[0]), ui.Flush(l.plain[1]))
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

// writerFor returns the writer for what is new in a stream of an attempt of a step.
func (l *logs) writerFor(stream rundir.Stream, path dag.ID, attempt int) io.Writer {
	return l.filtered(l.printer(stream, path, attempt))
}

// printer returns the writer for lines of a stream of an attempt of a step.
func (l *logs) printer(stream rundir.Stream, path dag.ID, attempt int) io.Writer {
	i := 0
	if stream == rundir.Stderr {
		i = 1
	}
	if l.reader.Exactly(path) {
		if l.terminal && attempt > l.attempt { // a pipe or a file gets exactly what the step printed
			fmt.Fprintf(l.plain[0], "--- attempt %d ---\n", attempt)
			l.attempt = attempt
		}
		return l.plain[i]
	}
	return l.out[i].Step(attemptName(string(path), attempt))
}

// filtered returns a writer that passes on the lines that match --grep.
func (l *logs) filtered(w io.Writer) io.Writer {
	if l.pattern == nil {
		return w
	}
	if l.filters[w] == nil {
		l.filters[w] = &lineFilter{to: w, pattern: l.pattern}
	}
	return l.filters[w]
}

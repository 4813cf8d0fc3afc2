package toolset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/observe/runlog"
)

// runField is the parameter that names a run.
const runField = `"run": {"type": "string", "minLength": 1, "description": "the id of the run, or latest: the newest one that this tool can do something with"}`

// runs returns at most that many of the newest runs that the client may see, without calls of these
// tools themselves.
func (c Config) runs(ctx context.Context, name string, most int) (shown []history.RunInfo, err error) {
	list, err := c.Store.Runs(ctx, history.Query{Tool: name, Limit: 1000})
	for _, r := range list {
		if len(shown) < most && c.lists(ctx, r) {
			shown = append(shown, r)
		}
	}
	return shown, err
}

// lists reports whether a run is listed: the client may see it, and it is not a call of one of these tools.
func (c Config) lists(ctx context.Context, r history.RunInfo) bool {
	return !slices.Contains(own, r.Tool) && c.Shows(ctx, r)
}

// info returns the status of the run that a word means for an act. The client may see the run.
func (c Config) info(ctx context.Context, a findrun.Act, word string) (info history.RunInfo, err error) {
	f := findrun.Finder{Store: c.Store, Library: c.Library, Shown: func(r history.RunInfo) bool { return c.lists(ctx, r) }}
	id, err := f.Find(ctx, a, word)
	if err != nil {
		return info, err
	}
	if info, err = c.Store.Info(ctx, id); err == nil && !c.Shows(ctx, info) {
		err = history.ErrNoRun
	}
	return info, err
}

// load returns the run that a call names for an act. The client may see the run.
func (c Config) load(ctx context.Context, a findrun.Act, in *gostep.StepInput) (*engine.RecordedRun, error) {
	info, err := c.info(ctx, a, text(in, "run"))
	if err != nil {
		return nil, err
	}
	return engine.LoadRun(ctx, c.Store, c.Library(), info.ID)
}

func (c Config) listRuns() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_runs", DisplayName: "List runs", Tags: []string{"read"},
		Description: "Lists the newest runs, as a document flowrun/runs.v1.",
		Schema: schema(`"tool": {"type": "string", "description": "only runs of this tool"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "how many runs"}`),
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			list, err := c.runs(ctx, text(in, "tool"), number(in, "limit", 20))
			if err != nil {
				return nil, err
			}
			return rundocs.RunsOf(list, time.Now()), nil
		}}
}

func (c Config) showRun() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_run", DisplayName: "Show a run", Tags: []string{"read"},
		Description: "Shows a run with its steps: status, exit codes, times and messages, as a document flowrun/run.v1.",
		Schema:      schema(runField, "run"),
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			run, err := c.load(ctx, findrun.Read, in)
			if err != nil {
				return nil, err
			}
			return run.Result(), nil
		}}
}

// maxLog limits the text of a log in one answer, in bytes: its end is returned.
const maxLog = 64 << 10

func (c Config) readLog() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_log", DisplayName: "Read a log", Tags: []string{"read"},
		Description: "Returns what the steps of a run printed, or one step; of a long log the end.",
		Schema:      schema(runField+`, "step": {"type": "string", "description": "only this step, and those inside it"}`, "run"),
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			run, err := c.load(ctx, findrun.Read, in)
			if err != nil {
				return nil, err
			}
			log := runlog.New(rundir.LogFolder(c.StateDir, run.Record.ID), run.Plan, text(in, "step"))
			if step := text(in, "step"); step != "" && !slices.ContainsFunc(run.Result().Steps, func(s runresult.StepResult) bool { return log.Wants(s.ID) }) {
				return nil, run.NoStep(step)
			}
			var t tail
			if err := log.Copy(run.Events, runlog.Labelled(&t)); err != nil {
				return nil, err
			}
			return t.String(), nil
		}}
}

// tail keeps the last maxLog bytes of a log.
type tail struct {
	kept []byte
	cut  bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if extra := len(t.kept) - maxLog; extra > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[extra:]...), true
	}
	return len(b), nil
}

func (t *tail) String() string {
	text := strings.ToValidUTF8(string(t.kept), "\uFFFD")
	if t.cut {
		text = "[the beginning is cut]\n" + text
	}
	return text
}

// confirmRun shows a person which run a call is about: latest can be another one when they answer,
// and the answer is then not accepted.
func (c Config) confirmRun(a findrun.Act, verb string) func(context.Context, *gostep.StepInput) (*gostep.Confirmation, error) {
	return func(ctx context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
		info, err := c.info(ctx, a, text(in, "run"))
		if err != nil {
			return nil, err
		}
		return &gostep.Confirmation{Title: fmt.Sprintf("%s the run %s of %s", verb, info.ID, info.Tool)}, nil
	}
}

func (c Config) cancel() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_cancel", DisplayName: "Cancel a run", Tags: []string{"write"},
		Description: "Asks the process that executes a run to stop it. Does not wait until the run has ended.",
		Schema:      schema(runField, "run"),
		Describe:    func(p map[string]any) string { return fmt.Sprintf("Cancels the run %v", p["run"]) },
		Confirm:     c.confirmRun(findrun.Stop, "Cancels"),
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			info, err := c.info(ctx, findrun.Stop, text(in, "run"))
			if err != nil {
				return nil, err
			}
			switch {
			case info.ID == in.Run:
				return nil, errors.New("this is the run of the call itself")
			case !info.Live():
				return nil, fmt.Errorf("no process executes run %s: it is %s", info.ID, info.Status)
			}
			if err := c.Store.Cancel(ctx, info.ID, "cancelled by a model"); err != nil {
				return nil, err
			}
			return "asked run " + info.ID + " to stop", nil
		}}
}

func (c Config) resume() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_resume", DisplayName: "Resume a run", Tags: []string{"run"},
		Description: "Continues a run that failed, was cancelled or was interrupted: what succeeded is kept, the rest runs.",
		Schema:      schema(runField, "run"),
		Describe:    func(p map[string]any) string { return fmt.Sprintf("Continues the run %v", p["run"]) },
		Confirm:     c.confirmRun(findrun.Resume, "Continues"),
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			return c.proceed(ctx, findrun.Resume, in, func(run *engine.RecordedRun) (*engine.Continuation, error) {
				return run.Resume(c.Library(), engine.ResumeOptions{})
			})
		}}
}

func (c Config) retry() gostep.GoTool {
	return gostep.GoTool{Name: "flowrun_retry", DisplayName: "Retry a run", Tags: []string{"run"},
		Description: "Starts a new run that reuses the successful steps of an old one.",
		Schema:      schema(runField+`, "from": {"type": "string", "description": "run this step and all steps downstream of it, even if they succeeded"}`, "run"),
		Describe:    func(p map[string]any) string { return fmt.Sprintf("Retries the run %v", p["run"]) },
		Confirm: func(ctx context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
			return c.confirmRun(retryAct(in), "Retries")(ctx, in)
		},
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			return c.proceed(ctx, retryAct(in), in, func(run *engine.RecordedRun) (*engine.Continuation, error) {
				var o engine.RetryOptions
				if from := text(in, "from"); from != "" {
					o.From = []string{from}
				}
				return run.Retry(c.Library(), o)
			})
		}}
}

// retryAct returns which run a call of retry can mean, as in the command.
func retryAct(in *gostep.StepInput) findrun.Act {
	if text(in, "from") != "" {
		return findrun.Rerun
	}
	return findrun.Retry
}

// proceed continues or retries a run, if the policy allows its tools.
func (c Config) proceed(ctx context.Context, a findrun.Act, in *gostep.StepInput, plan func(*engine.RecordedRun) (*engine.Continuation, error)) (any, error) {
	run, err := c.load(ctx, a, in)
	if err != nil {
		return nil, err
	}
	g, err := plan(run)
	if err != nil {
		return nil, err
	}
	switch {
	case g.Nothing():
		return nil, fmt.Errorf("nothing is left to do: run %s is %s", run.Record.ID, run.Info.Status)
	case len(g.Asks) > 0:
		return nil, errors.New("steps were interrupted, and a person must decide whether they run again")
	}
	if err := c.MayRun(g.Tools()); err != nil {
		return nil, fmt.Errorf("the run cannot be continued: %w", err)
	}
	res, err := c.Engine.Continue(ctx, g, c.Options()...)
	if err != nil {
		return nil, err
	}
	return res, nil
}

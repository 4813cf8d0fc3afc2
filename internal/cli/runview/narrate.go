package runview

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/keyboard"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// streamWriter returns a function that writes the output of steps to the console, with the name of
// the step before each line.
func streamWriter(p *console.Prefixer) func(steps.Chunk) {
	return func(c steps.Chunk) {
		text := c.Text
		if !bytes.HasSuffix(text, []byte("\n")) {
			text = append(bytes.Clone(text), '\n')
		}
		p.Step(string(c.Step)).Write(text) // an error is ignored: the log has the output
	}
}

// Narration configures how the progress of a run is printed.
type Narration struct {
	Mode     string // of --progress, but not auto
	Plan     *engine.Plan
	Resumed  *engine.RecordedRun // the run that is resumed; nil for a new run
	Keys     *keyboard.Keyboard  // nil if no person can be asked
	Verbose  bool                // with modes plain and github: also print the command of each step
	Recorded bool
	StateDir string // has the logs
}

// Narrator prints the progress of a run on stderr.
type Narrator struct {
	Options []engine.RunOption
	Sinks   []dag.Sink // are in Options, too
	Stdout  io.Writer  // for the output of the run
	Queued  func(history.QueuePosition)
	End     func() // stops printing; may be called more than once
}

// Narrate starts to print the progress of a run. Call End when the run has ended.
func Narrate(env *ui.Env, n Narration) *Narrator {
	t := &Narrator{Stdout: n.Keys.TerminalWriter(env.Stdout), Queued: func(history.QueuePosition) {}, End: func() {}}
	if ui.IsTerminal(env.Stdout) {
		clean := console.NewCleaner(t.Stdout)
		t.Stdout = clean
		defer func() { // runs after the End of the mode
			end := t.End
			t.End = sync.OnceFunc(func() { clean.Flush(); end() })
		}()
	}
	switch n.Mode {
	case "json":
		j := console.NewJSON(env.Stderr)
		t.addSink(j)
		t.Queued = func(q history.QueuePosition) { j.Notice(queuedLine(q)) }
	case "none":
		t.onStream(streamingSteps(n.Plan, prefixer(env, env.Stderr, n.Plan)))
	case "tty":
		narrateView(env, n, t)
	case "github":
		narrateGitHub(env, n, t)
	case "quiet":
		t.onStream(streamingSteps(n.Plan, prefixer(env, narrateLines(env, n, t), n.Plan)))
	default:
		t.onStream(prefixer(env, narrateLines(env, n, t), n.Plan))
	}
	return t
}

// prefixer writes the output of steps to w, which is stderr or a writer above it.
func prefixer(env *ui.Env, w io.Writer, p *engine.Plan) func(steps.Chunk) {
	return streamWriter(console.NewPrefixer(w, ui.Paths(p, ""), console.PrefixOptions{Color: env.Colored(env.Stderr), Terminal: ui.IsTerminal(env.Stderr)}))
}

// streamingSteps passes on the output of steps with output.mode stream. It drops the output of all
// others, including handlers.
func streamingSteps(p *engine.Plan, f func(steps.Chunk)) func(steps.Chunk) {
	return func(c steps.Chunk) {
		if s := p.Step(string(c.Step)); s != nil && s.Output.Mode == "stream" {
			f(c)
		}
	}
}

func (t *Narrator) onStream(f func(steps.Chunk)) {
	t.Options = append(t.Options, engine.WithConsole(f))
}

func (t *Narrator) addSink(s dag.Sink) {
	t.Options, t.Sinks = append(t.Options, engine.WithSink(s)), append(t.Sinks, s)
}

// narrateLines prints progress as lines. It returns the writer for the output of steps.
func narrateLines(env *ui.Env, n Narration, t *Narrator) io.Writer {
	w := console.NewActivityWriter(env.Stderr)
	plain := console.NewPlain(w, env.Colored(env.Stderr), ui.Paths(n.Plan, ""), planInfo(env, n))
	plain.NoLogs, plain.Commands = !n.Recorded, n.Verbose
	if n.Resumed != nil {
		plain.Recall(n.Resumed.Events)
	}
	if n.Mode == "quiet" {
		t.addSink(console.Failures{Plain: plain})
		return w
	}
	t.addSink(plain)
	t.Queued = func(q history.QueuePosition) { plain.Waits(dag.ID(q.Step), waitReason(q)) }
	t.End = sync.OnceFunc(plain.Heartbeat(w, console.HeartbeatInterval))
	return w
}

// narrateView shows a live view on a terminal. Until it ends, text written to stderr, and to stdout
// if that is the same terminal, scrolls above the view.
func narrateView(env *ui.Env, n Narration, t *Narrator) {
	var recorded []dag.Event
	if n.Resumed != nil {
		recorded = n.Resumed.Events
	}
	stderr := env.Stderr
	v := console.NewView(stderr, planInfo(env, n), recorded, console.ViewOptions{Color: env.Colored(stderr), ASCII: ui.ASCIILocale(), NoLogs: !n.Recorded,
		Size: func() (int, int) { return ui.TerminalSize(stderr) }})
	t.addSink(v)
	t.Queued = func(q history.QueuePosition) { v.Waits(dag.ID(q.Step), waitReason(q)) }
	n.Keys.SetView(v)
	stopRedraw := onContinue(v.Redraw)
	env.Stderr = &ui.TerminalWriter{To: v.Above(), Raw: new(atomic.Bool)}
	write := prefixer(env, env.Stderr, n.Plan)
	t.onStream(func(c steps.Chunk) {
		v.Streams(c.Step)
		write(c)
	})
	if ui.SameTerminal(env.Stdout, stderr) {
		t.Stdout = &ui.TerminalWriter{To: v.Output(), Raw: new(atomic.Bool)}
	} else if ui.IsPipe(env.Stdout) {
		t.Stdout = v.Yield(t.Stdout)
	}
	t.End = sync.OnceFunc(func() {
		stopRedraw()
		n.Keys.SetView(nil)
		v.Close()
		env.Stderr = stderr
	})
}

// planInfo returns what the console needs to know about the plan.
func planInfo(env *ui.Env, n Narration) console.PlanInfo {
	p := n.Plan
	changed := sync.OnceValue(func() []string { return p.ChangedFiles(env.Library()) }) // asked at the first failure
	return console.PlanInfo{
		Tool: p.Name(),
		Steps: func(path string) []string {
			if path == "" {
				return p.Steps()
			}
			if inner := p.Nested(path); inner != nil {
				return inner.Steps()
			}
			return nil
		},
		Upstream: p.Upstream,
		Handler:  func(path string) bool { key, _ := p.Handler(path); return key != "" },
		Lasting:  func(path string) bool { return survivesCancel(p, path) },
		Pos: func(path string) (string, int, int) {
			pos := p.Place(path)
			if slices.Contains(changed(), pos.File) {
				return "", pos.Line, pos.Col
			}
			return pos.File, pos.Line, pos.Col
		},
		Command: func(path string) string { return commandOf(p, path) },
		Logs: func(run, path string, attempt int) []string {
			return rundir.RunningLogs(rundir.LogFolder(n.StateDir, run), dag.ID(path), attempt)
		},
	}
}

// survivesCancel reports whether a step continues after a cancel, because the step or one that
// contains it cleans up.
func survivesCancel(p *engine.Plan, path string) bool {
	for id := dag.ID(path); id != ""; {
		name, _, rest := id.Split()
		n, ok := p.Graph().Node(dag.ID(name))
		if ok && n.When != nil && n.When.Uses == dag.UsesCancel {
			return true
		}
		if p = p.Nested(name); p == nil {
			return false
		}
		id = rest
	}
	return false
}

// commandOf returns what a step runs, as its author wrote it.
func commandOf(p *engine.Plan, path string) string {
	s := p.Step(path)
	if s == nil {
		return ""
	}
	switch b := s.Body.(type) {
	case *tool.ToolUse:
		return "use-tool: " + b.Tool.S
	case *tool.HTTP:
		return b.MethodOrDefault() + " " + b.URL.S
	case *tool.SQL:
		return b.Text()
	case *tool.JSCode:
		return strings.TrimSpace(b.Code.S)
	}
	return strings.TrimSpace(s.Command().S)
}

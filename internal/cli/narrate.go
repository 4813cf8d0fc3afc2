package cli

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// narration is how a run is told of while it goes on.
type narration struct {
	mode     string // of --progress, not auto
	plan     *flowrun.Plan
	past     *flowrun.Past // that is taken up, nil for a new run
	keys     *keyboard     // nil: nobody is asked
	recorded bool
	stateDir string // where the logs are
}

// narrator tells of a run on stderr.
type narrator struct {
	options []flowrun.RunOption
	stdout  io.Writer // where the run's output goes
	queued  func(flowrun.Queued)
	end     func() // stops narrating; it may be called again
}

// narrate begins to tell of a run.
func (env *Env) narrate(n narration) *narrator {
	t := &narrator{stdout: n.keys.screen(env.Stdout), queued: func(flowrun.Queued) {}, end: func() {}}
	if isTerminal(env.Stdout) {
		clean := console.NewCleaner(t.stdout)
		t.stdout = clean
		defer func() { // after the mode's own end
			end := t.end
			t.end = sync.OnceFunc(func() { clean.Flush(); end() })
		}()
	}
	switch n.mode {
	case "json":
		j := console.NewJSON(env.Stderr)
		t.listen(j)
		t.queued = func(q flowrun.Queued) { j.Notice(queuedLine(q)) }
	case "none":
		t.hear(asked(n.plan, env.prefixer(env.Stderr, n.plan)))
	case "tty":
		env.view(n, t)
	case "github":
		env.github(n, t)
	case "quiet":
		t.hear(asked(n.plan, env.prefixer(env.lines(n, t), n.plan)))
	default:
		t.hear(env.prefixer(env.lines(n, t), n.plan))
	}
	return t
}

// prefixer writes what steps stream to w, which is stderr in some clothes.
func (env *Env) prefixer(w io.Writer, p *flowrun.Plan) func(flowrun.StreamChunk) {
	return streamed(console.NewPrefixer(w, paths(p, ""), console.PrefixOptions{Color: env.colored(env.Stderr), Terminal: isTerminal(env.Stderr)}))
}

// asked passes on what steps stream that say so, and not what handlers print.
func asked(p *flowrun.Plan, f func(flowrun.StreamChunk)) func(flowrun.StreamChunk) {
	return func(c flowrun.StreamChunk) {
		if s := p.Step(string(c.Step)); s != nil && s.Output.Mode == "stream" {
			f(c)
		}
	}
}

func (t *narrator) hear(f func(flowrun.StreamChunk)) {
	t.options = append(t.options, flowrun.WithConsole(f))
}

func (t *narrator) listen(s dag.Sink) { t.options = append(t.options, flowrun.WithSink(s)) }

// lines narrates in lines. What streams goes where they do.
func (env *Env) lines(n narration, t *narrator) io.Writer {
	w := console.NewPulse(env.Stderr)
	plain := console.NewPlain(w, env.colored(env.Stderr), paths(n.plan, ""), scene(n))
	plain.NoLogs = !n.recorded
	if n.past != nil {
		plain.Recall(n.past.Events)
	}
	if n.mode == "quiet" {
		t.listen(console.Failures{Plain: plain})
		return w
	}
	t.listen(plain)
	t.queued = func(q flowrun.Queued) { plain.Waits(waitsFor(q)) }
	t.end = sync.OnceFunc(plain.Beat(w, console.BeatEvery))
	return w
}

// view narrates on a terminal. Until it ends, what is written to stderr, and to a
// stdout that is the same terminal, scrolls above it.
func (env *Env) view(n narration, t *narrator) {
	var past []dag.Event
	if n.past != nil {
		past = n.past.Events
	}
	stderr := env.Stderr
	v := console.NewView(stderr, scene(n), past, console.ViewOptions{Color: env.colored(stderr), ASCII: plainLocale(), NoLogs: !n.recorded,
		Size: func() (int, int) { return sizeOf(stderr) }})
	t.listen(v)
	t.queued = func(q flowrun.Queued) { v.Waits(waitsFor(q)) }
	n.keys.cover(v)
	heedless := continued(v.Redraw)
	env.Stderr = &screen{to: v.Above(), taken: new(atomic.Bool)}
	write := env.prefixer(env.Stderr, n.plan)
	t.hear(func(c flowrun.StreamChunk) {
		v.Streams(c.Step)
		write(c)
	})
	if sameTerminal(env.Stdout, stderr) {
		t.stdout = &screen{to: v.Output(), taken: new(atomic.Bool)}
	} else if isPipe(env.Stdout) {
		t.stdout = v.Yield(t.stdout)
	}
	t.end = sync.OnceFunc(func() {
		heedless()
		n.keys.cover(nil)
		v.Close()
		env.Stderr = stderr
	})
}

// scene is what a narration knows of the plan.
func scene(n narration) console.Scene {
	p := n.plan
	return console.Scene{
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
		Lasting:  func(path string) bool { return lasting(p, path) },
		Pos: func(path string) (string, int, int) {
			pos := p.Place(path)
			return pos.File, pos.Line, pos.Col
		},
		Command: func(path string) string { return commandOf(p, path) },
		Logs: func(run, path string, attempt int) []string {
			return steps.RunningLogs(steps.LogFolder(n.stateDir, run), dag.ID(path), attempt)
		},
	}
}

// lasting says whether a cancel leaves a step running: it, or what is around it, cleans
// up.
func lasting(p *flowrun.Plan, path string) bool {
	for id := dag.ID(path); id != ""; {
		name, _, rest := id.Split()
		n, ok := p.Graph().Node(dag.ID(name))
		if ok && n.When != nil && n.When.Sees == dag.SeesCancel {
			return true
		}
		if p = p.Nested(name); p == nil {
			return false
		}
		id = rest
	}
	return false
}

// commandOf is what a step runs, as its author wrote it.
func commandOf(p *flowrun.Plan, path string) string {
	s := p.Step(path)
	switch {
	case s == nil:
		return ""
	case s.Kind == tool.UseTool:
		return "use-tool: " + s.UseTool.S
	case s.Script != nil:
		return strings.TrimSpace(s.Script.Code.S)
	}
	return strings.TrimSpace(s.Command.S)
}

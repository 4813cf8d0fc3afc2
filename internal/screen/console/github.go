package console

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/findings"
)

// GitHub is a dag.Sink for the log of GitHub Actions. It writes the lines of Plain, the output
// of running steps, a group with the whole log of each ended step, and an annotation for each
// failed step. Workflow commands are disabled except while it writes one of its own, so that the
// output of steps cannot contain commands. Close ends it.
type GitHub struct {
	*Plain
	out      *commandGuard
	prefixer *Prefixer
	offsets  map[string]int64 // by file: the offset up to which it was read; only used by follow
	quit     chan struct{}
	done     chan struct{}
}

const (
	// followInterval is the interval at which the logs of running steps are read.
	followInterval = time.Second
	// maxFollowed limits what is read of a log each time. The rest appears in the group.
	maxFollowed = 64 << 10
	// maxGrouped limits how many bytes of a stream a group contains.
	maxGrouped = 1 << 20
)

// NewGitHub returns a GitHub sink that writes to w. names are as for NewPlain.
func NewGitHub(w io.Writer, names []string, s PlanInfo) *GitHub {
	out := newGuard(w)
	g := &GitHub{Plain: NewPlain(out, false, names, s), out: out, prefixer: NewPrefixer(out, names, PrefixOptions{Terminal: true}),
		offsets: map[string]int64{}, quit: make(chan struct{}), done: make(chan struct{})}
	go g.follow()
	return g
}

// Writer returns the writer that other code must use for the same log.
func (g *GitHub) Writer() io.Writer { return g.out }

// Emit writes the event's lines, and its group and annotation.
func (g *GitHub) Emit(e dag.Event) {
	g.Plain.Emit(e)
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.last
	if e.Kind != dag.StepFinished || s == nil {
		return
	}
	r, holds := e.Result, s.Inside != nil || g.plan.Steps != nil && len(g.plan.Steps(string(e.Node))) > 0
	if s.FailedItself && s.Failures == 1 { // otherwise a step inside it is annotated
		g.annotate(e)
	}
	if !holds && r.Status.Executed() && (enclosingLoop(s) == nil || countsAsFailed(r)) {
		g.group(e)
	}
}

// group writes the whole log of a step as a folded group.
func (g *GitHub) group(e dag.Event) {
	if e.Result.Stdout == nil && e.Result.Stderr == nil {
		return
	}
	g.out.writeCommand(findings.WorkflowCommand("group", Clean(string(e.Node))+" printed"))
	for _, o := range []*dag.Output{e.Result.Stdout, e.Result.Stderr} {
		if o != nil {
			g.copy(o)
		}
	}
	g.out.writeCommand(findings.WorkflowCommand("endgroup", ""))
}

func (g *GitHub) copy(o *dag.Output) {
	text, size := o.Inline, int64(len(o.Inline))
	if f, err := os.Open(o.File); o.File != "" && err == nil {
		b, _ := io.ReadAll(io.LimitReader(f, maxGrouped))
		f.Close()
		text, size = string(b), int64(len(b))
	}
	for line := range strings.Lines(newLines.Replace(strings.ToValidUTF8(text, "\uFFFD"))) {
		io.WriteString(g.out, sanitizeKeepingColor(strings.TrimRight(line, "\n"))+"\n")
	}
	if size < o.Size {
		fmt.Fprintf(g.out, "(%d more bytes)\n", o.Size-size)
	}
}

// sanitizeKeepingColor cleans a line for a log that supports colors.
func sanitizeKeepingColor(line string) string {
	var b strings.Builder
	for {
		at := colorSequences().FindStringIndex(line)
		if at == nil {
			break
		}
		b.WriteString(Sanitize(line[:at[0]]) + line[at[0]:at[1]])
		line = line[at[1]:]
	}
	return b.String() + Sanitize(line)
}

// annotate adds an annotation at the definition of a failed step.
func (g *GitHub) annotate(e dag.Event) {
	var properties []findings.Property
	if g.plan.Pos != nil {
		if file, line, col := g.plan.Pos(string(e.Node)); file != "" && line > 0 {
			properties = []findings.Property{{Key: "file", Value: file}, {Key: "line", Value: fmt.Sprint(line)}, {Key: "col", Value: fmt.Sprint(col)}}
		}
	}
	properties = append(properties, findings.Property{Key: "title", Value: "step " + Clean(string(e.Node)) + " failed"})
	g.out.writeCommand(findings.WorkflowCommand("error", brief(e.Result), properties...))
}

// follow writes the new output of running steps at regular intervals.
func (g *GitHub) follow() {
	defer close(g.done)
	for {
		select {
		case <-g.quit:
			return
		case <-time.After(followInterval):
		}
		if g.plan.Logs == nil {
			continue
		}
		g.mu.Lock()
		run, list := g.run.ID, []dag.Event(nil)
		for s := range g.run.Root.Leaves() {
			list = append(list, dag.Event{Node: s.Path, Attempt: s.Attempt})
		}
		g.mu.Unlock()
		for _, r := range list {
			for _, file := range g.plan.Logs(run, string(r.Node), r.Attempt) {
				g.copyNew(file, string(r.Node))
			}
		}
	}
}

// copyNew writes the new part of a log.
func (g *GitHub) copyNew(file, step string) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= g.offsets[file] {
		return
	}
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	if skipped := info.Size() - g.offsets[file] - maxFollowed; skipped > 0 {
		g.offsets[file] += skipped
		fmt.Fprintf(g.prefixer.Step(step), "\n(%d bytes omitted)\n", skipped)
	}
	n, _ := io.Copy(struct{ io.Writer }{g.prefixer.Step(step)}, io.NewSectionReader(f, g.offsets[file], info.Size()-g.offsets[file]))
	g.offsets[file] += n
}

// Close stops following logs and enables workflow commands again.
func (g *GitHub) Close() {
	close(g.quit)
	<-g.done
	g.out.enableCommands()
}

// commandGuard is a writer to the log that disables all workflow commands except its own. Safe for
// concurrent use.
type commandGuard struct {
	mu    sync.Mutex
	w     io.Writer
	token string // enables commands again
}

func newGuard(w io.Writer) *commandGuard {
	g := &commandGuard{w: w}
	io.WriteString(w, g.stopCommands())
	return g
}

// stopCommands returns the command that disables commands. Each token is used only once, because
// everything that can read the log knows the old ones.
func (g *commandGuard) stopCommands() string {
	g.token = rand.Text()
	return "::stop-commands::" + g.token + "\n"
}

func (g *commandGuard) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.w.Write(p)
}

func (g *commandGuard) writeCommand(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	text = "::" + g.token + "::\n" + text + "\n"
	io.WriteString(g.w, text+g.stopCommands())
}

func (g *commandGuard) enableCommands() {
	g.mu.Lock()
	defer g.mu.Unlock()
	io.WriteString(g.w, "::"+g.token+"::\n")
}

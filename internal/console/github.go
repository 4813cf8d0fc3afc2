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
	"github.com/flowrun/flowrun/internal/findings"
)

// GitHub is a dag.Sink for the log of GitHub Actions. It writes the lines of Plain, the output
// of running steps, a group with the whole log of each ended step, and an annotation for each
// failed step. Workflow commands are disabled except while it writes one of its own, so that the
// output of steps cannot contain commands. Close ends it.
type GitHub struct {
	*Plain
	out   *guard
	names *Prefixer
	read  map[string]int64 // by file: the offset up to which it was read; only used by follow
	quit  chan struct{}
	over  chan struct{}
}

const (
	// followPause is the interval at which the logs of running steps are read.
	followPause = time.Second
	// maxFollowed limits what is read of a log each time. The rest appears in the group.
	maxFollowed = 64 << 10
	// maxGrouped limits how many bytes of a stream a group contains.
	maxGrouped = 1 << 20
)

// NewGitHub returns a GitHub sink that writes to w. names are as for NewPlain.
func NewGitHub(w io.Writer, names []string, s PlanInfo) *GitHub {
	out := newGuard(w)
	g := &GitHub{Plain: NewPlain(out, false, names, s), out: out, names: NewPrefixer(out, names, PrefixOptions{Terminal: true}),
		read: map[string]int64{}, quit: make(chan struct{}), over: make(chan struct{})}
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
	r, holds := e.Result, s.Inside != nil || g.scene.Steps != nil && len(g.scene.Steps(string(e.Node))) > 0
	if s.FailedItself && s.Failures == 1 { // otherwise a step inside it is annotated
		g.annotate(e)
	}
	if !holds && r.Status.Executed() && (around(s) == nil || bad(r)) {
		g.group(e)
	}
}

// group writes the whole log of a step as a folded group.
func (g *GitHub) group(e dag.Event) {
	if e.Result.Stdout == nil && e.Result.Stderr == nil {
		return
	}
	g.out.command(findings.WorkflowCommand("group", Clean(string(e.Node))+" printed"))
	for _, o := range []*dag.Output{e.Result.Stdout, e.Result.Stderr} {
		if o != nil {
			g.copy(o)
		}
	}
	g.out.command(findings.WorkflowCommand("endgroup", ""))
}

func (g *GitHub) copy(o *dag.Output) {
	text, size := o.Inline, int64(len(o.Inline))
	if f, err := os.Open(o.File); o.File != "" && err == nil {
		b, _ := io.ReadAll(io.LimitReader(f, maxGrouped))
		f.Close()
		text, size = string(b), int64(len(b))
	}
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		io.WriteString(g.out, harmlessButColor(strings.TrimRight(line, "\r\n"))+"\n")
	}
	if size < o.Size {
		fmt.Fprintf(g.out, "(%d more bytes)\n", o.Size-size)
	}
}

// harmlessButColor cleans a line for a log that supports colors.
func harmlessButColor(line string) string {
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
	if g.scene.Pos != nil {
		if file, line, col := g.scene.Pos(string(e.Node)); line > 0 {
			properties = []findings.Property{{Key: "file", Value: file}, {Key: "line", Value: fmt.Sprint(line)}, {Key: "col", Value: fmt.Sprint(col)}}
		}
	}
	properties = append(properties, findings.Property{Key: "title", Value: "step " + Clean(string(e.Node)) + " failed"})
	g.out.command(findings.WorkflowCommand("error", brief(e.Result), properties...))
}

// follow writes the new output of running steps at regular intervals.
func (g *GitHub) follow() {
	defer close(g.over)
	for {
		select {
		case <-g.quit:
			return
		case <-time.After(followPause):
		}
		if g.scene.Logs == nil {
			continue
		}
		g.mu.Lock()
		run, list := g.run.ID, []dag.Event(nil)
		for s := range g.run.Root.Leaves() {
			list = append(list, dag.Event{Node: s.Path, Attempt: s.Attempt})
		}
		g.mu.Unlock()
		for _, r := range list {
			for _, file := range g.scene.Logs(run, string(r.Node), r.Attempt) {
				g.more(file, string(r.Node))
			}
		}
	}
}

// more writes the new part of a log.
func (g *GitHub) more(file, step string) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= g.read[file] {
		return
	}
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	if skipped := info.Size() - g.read[file] - maxFollowed; skipped > 0 {
		g.read[file] += skipped
		fmt.Fprintf(g.names.Step(step), "\n(%d bytes omitted)\n", skipped)
	}
	n, _ := io.Copy(struct{ io.Writer }{g.names.Step(step)}, io.NewSectionReader(f, g.read[file], info.Size()-g.read[file]))
	g.read[file] += n
}

// Close stops following logs and enables workflow commands again.
func (g *GitHub) Close() {
	close(g.quit)
	<-g.over
	g.out.end()
}

// guard is a writer to the log that disables all workflow commands except its own. Safe for
// concurrent use.
type guard struct {
	mu    sync.Mutex
	w     io.Writer
	token string // enables commands again
}

func newGuard(w io.Writer) *guard {
	g := &guard{w: w}
	io.WriteString(w, g.stop())
	return g
}

// stop returns the command that disables commands. Each token is used only once, because
// everything that can read the log knows the old ones.
func (g *guard) stop() string {
	g.token = rand.Text()
	return "::stop-commands::" + g.token + "\n"
}

func (g *guard) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.w.Write(p)
}

func (g *guard) command(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	text = "::" + g.token + "::\n" + text + "\n"
	io.WriteString(g.w, text+g.stop())
}

func (g *guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	io.WriteString(g.w, "::"+g.token+"::\n")
}

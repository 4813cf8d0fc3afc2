package steps

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/terminal"
)

// TestLateOutput: what a step printed is its output, also if a busy machine reads it late and a background process keeps
// the pipe open.
func TestLateOutput(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	from, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	if _, err := end.WriteString("printed\n"); err != nil {
		t.Fatal(err)
	}
	p := &pipe{from: from, done: make(chan struct{}), file: &logFile{File: f}, users: 2, max: 1000, mask: new(mask.Mask).Writer(f), count: newPrinted(0)}
	time.AfterFunc(10*time.Millisecond, p.copy)
	if p.waitForEnd(time.Now()) {
		t.Error("the stream has ended")
	}
	if out, err := p.output(outputLimits{limit: 1000}); err != nil || out == nil || out.Inline != "printed\n" {
		t.Errorf("the output is %+v, %v", out, err)
	}
}

// slowTerminal shows nothing until it is released.
type slowTerminal struct {
	*testTerminal
	shows chan struct{}
}

type slowChair struct {
	terminal.Attachment
	shows chan struct{}
}

func (d slowTerminal) Attach(step dag.ID) (terminal.Attachment, error) {
	a, err := d.testTerminal.Attach(step)
	return slowChair{a, d.shows}, err
}

func (c slowChair) Write(b []byte) (int, error) {
	<-c.shows
	return c.Attachment.Write(b)
}

// TestSlowTerminal: so it is if the terminal of the person is slow.
func TestSlowTerminal(t *testing.T) {
	t.Parallel()
	d := slowTerminal{newDesk(), make(chan struct{})}
	b := open(t, Options{Terminal: d}, nil)
	defer b.close(t)
	time.AfterFunc(2*outputTimeout, func() { close(d.shows) })
	if r := b.runPolicy(t, t.Context(), b.asking(t, b.bash(t, "echo one; echo two"), "y"), dag.Policy{}); stdout(r) != "one\ntwo\n" {
		t.Errorf("printed %q", stdout(r))
	}
}

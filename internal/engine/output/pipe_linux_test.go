package output

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/engine/mask"
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
	p := &pipe{from: from, done: make(chan struct{}), file: &logFile{File: f}, users: 2, max: 1000, mask: new(mask.Mask).Writer(f), count: NewCounter(0)}
	time.AfterFunc(10*time.Millisecond, p.copy)
	if p.waitForEnd(time.Now()) {
		t.Error("the stream has ended")
	}
	if out, err := p.output(Limits{Limit: 1000}); err != nil || out == nil || out.Inline != "printed\n" {
		t.Errorf("the output is %+v, %v", out, err)
	}
}

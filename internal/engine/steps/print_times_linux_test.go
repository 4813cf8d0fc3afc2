package steps

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/logtimes"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestPrintTimes: the times of a short log are in the result, those of a long one in a file, and both tell the order of the
// streams. What flowrun masks has them too.
func TestPrintTimes(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "hunter2"} {
		dir := t.TempDir()
		b := open(t, Options{LogDir: dir, Recorded: true}, nil)
		if secret != "" {
			if err := b.session.Mask().Add(secret); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now().UnixMilli()
		r := b.run(t, b.sh(t, "echo hunter2; sleep 0.3; echo then >&2; sleep 0.3; echo last"))
		marks := append(outputMarks(r.Stdout), outputMarks(r.Stderr)...)
		if len(marks) != 3 || marks[0].At < began-10 || marks[2].At < marks[0].At+200 || marks[1].At < marks[2].At+200 || marks[1].At > time.Now().UnixMilli() {
			t.Errorf("%v: stdout, stdout, stderr", marks)
		}
		if marks[1].Size != r.Stdout.Size || marks[2].Size != r.Stderr.Size {
			t.Errorf("%v of %d and %d bytes", marks, r.Stdout.Size, r.Stderr.Size)
		}
		if list, _ := filepath.Glob(filepath.Join(dir, "*.times")); len(list) > 0 {
			t.Error("a file of times was left:", list)
		}
		r = b.run(t, b.sh(t, "echo quick"))
		if r.Stdout.Times != "" {
			t.Errorf("a quick step has the times %q", r.Stdout.Times)
		}
		b.close(t)
	}
}

// TestLongPrintTimes: the file of the times can be read while the step runs.
func TestLongPrintTimes(t *testing.T) {
	t.Parallel()
	dir, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	b := open(t, Options{LogDir: dir, Recorded: true}, nil)
	defer b.close(t)
	// Until there are so many marks that no result has them, both streams print in turn.
	cmd := b.sh(t, fmt.Sprintf("while ! [ -e %s ]; do echo out; sleep 0.03; echo err >&2; sleep 0.03; done; echo the end", seen))
	var r dag.Result
	done := make(chan struct{})
	go func() { r = b.run(t, cmd); close(done) }()
	file := filepath.Join(dir, "step.times")
	var marks []logtimes.Mark
	waittest.Until(t, "200 marks", func() bool {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		var files [2]string
		if marks, files = logtimes.Parse(text); len(marks) > 10 && files != [2]string{"step.out", "step.err"} {
			t.Fatal(files)
		}
		return len(marks) >= 200
	}, func() any { return len(marks) })
	os.WriteFile(seen, nil, 0o600)
	<-done
	if r.Stdout.File == "" || r.Stdout.Times != "" {
		t.Errorf("%+v", r.Stdout)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	marks, _ = logtimes.Parse(text)
	if last := marks[len(marks)-1]; last.Size != r.Stdout.Size {
		t.Errorf("the last mark is %+v of %d bytes", last, r.Stdout.Size)
	}
}

func outputMarks(o *dag.Output) []logtimes.Mark {
	marks, _ := logtimes.Parse([]byte(o.Times))
	if n := strings.Count(o.Times, "\n"); n != len(marks) {
		panic(o.Times)
	}
	return marks
}

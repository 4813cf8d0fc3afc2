package output

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/rundir"
)

// show may run at any moment while the end of the step decides about the name.
func TestShowAndDecide(t *testing.T) {
	dir := t.TempDir()
	k := &Keeper{Dir: dir}
	defer k.Close()
	for i := range 300 {
		l, err := k.newFile(dag.ID(fmt.Sprint("f", i)), 1, rundir.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		l.WriteString("x")
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { l.show() })
		}
		kept := i%2 == 0
		if kept {
			if err := l.keep(); err != nil {
				t.Error(err)
			}
		} else {
			l.drop()
		}
		k.recycle(l, 1)
		wg.Wait()
		if !l.show() {
			t.Error("a settled file waits for more")
		}
		if files, _ := filepath.Glob(dir + "/*"); len(files) != i/2+1 {
			t.Fatalf("%d files after %d, kept %t", len(files), i, kept)
		}
	}
	for _, f := range k.unused {
		info, err := f.Stat()
		if err != nil || info.Size() > 0 {
			t.Error(info, err)
		}
		if err := link(f, filepath.Join(dir, "again"+fmt.Sprint(f.Fd()))); err != nil {
			t.Error("a file to be used again cannot be named:", err)
		}
	}
}

// TestUsedAgain: a file is used for another stream only if it never had a name and nobody else can print into it.
func TestUsedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		left  bool // a background process has the stream
		shown bool // the file had a name for a while
		want  int
	}{"quiet": {want: 1}, "left open": {left: true}, "shown and emptied": {shown: true}} {
		t.Run(name, func(t *testing.T) {
			k := &Keeper{Dir: t.TempDir(), Mask: new(mask.Mask)}
			defer k.Close()
			st, err := k.Open(Opening{Step: "step", Attempt: 1})
			if err != nil {
				t.Fatal(err)
			}
			if c.shown {
				st.End.WriteString("x")
				st.file.show()
				st.file.Truncate(0)
			}
			if c.left {
				defer st.CloseEnd()
			} else {
				st.CloseEnd()
			}
			if err := st.Look(); err != nil {
				t.Fatal(err)
			}
			if out, err := st.Output(Limits{Limit: 1000}); out != nil || err != nil {
				t.Errorf("%+v, %v", out, err)
			}
			if len(k.unused) != c.want {
				t.Errorf("%d files to be used again, want %d", len(k.unused), c.want)
			}
		})
	}
}

package proc_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// Many goroutines start confined processes while the garbage collector runs. No descriptor is left.
func TestConfinedStarts(t *testing.T) {
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	g := proc.Open("confined", 0)
	start := func(step string, c *confine.Confinement, path string, args ...string) (proc.Process, error) {
		return g.Start(proc.Spec{Step: step, Path: path, Args: append([]string{path}, args...), Dir: "/", Files: [3]*os.File{null, null, null}, Confine: c})
	}
	all := func() (n int) {
		var workers sync.WaitGroup
		for i := range 4 {
			workers.Go(func() {
				for n := range 20 {
					c := &confine.Confinement{OpenFiles: 33, Sandbox: &confine.Sandbox{Unix: n%2 == 0}}
					p, err := start(fmt.Sprint(i, ".", n), c, "/bin/sh", "-c", "[ $(ulimit -n) = 33 ] && ! ls /root 2>&1")
					if err != nil {
						t.Error(err)
						return
					}
					runtime.GC()
					if e, err := p.Wait(context.Background()); err != nil || e.Code != 0 {
						t.Error(e, err)
					}
					if _, err := start("missing", c, "/missing"); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("a program that is not there: %v", err)
					}
				}
			})
		}
		workers.Wait()
		list, _ := os.ReadDir("/proc/self/fd")
		return len(list)
	}
	first := all()
	if second := all(); second > first {
		t.Errorf("%d descriptors are open, before %d", second, first)
	}
	if _, err := g.Close(context.Background(), 0); err != nil {
		t.Error(err)
	}
}

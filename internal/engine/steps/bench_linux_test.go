package steps

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// BenchmarkForkExec is the lower bound: starting one process without flowrun.
func BenchmarkForkExec(b *testing.B) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	fd, env := null.Fd(), os.Environ()
	for b.Loop() {
		pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Env: env, Files: []uintptr{fd, fd, fd}})
		if err != nil {
			b.Fatal(err)
		}
		syscall.Wait4(pid, nil, 0, nil)
	}
}

func BenchmarkTrue(b *testing.B)         { benchmarkTrue(b, 1, "") }
func BenchmarkTrueParallel(b *testing.B) { benchmarkTrue(b, 2, "") }
func BenchmarkTrueLogged(b *testing.B)   { benchmarkTrue(b, 1, b.TempDir()) }

// benchmarkTrue runs graphs of independent steps and reports the time per step.
func benchmarkTrue(b *testing.B, parallel int, logDir string) {
	run := open(b, Options{LogDir: logDir}, nil)
	defer run.close(b)
	cmd := run.argv(b, "/bin/true")
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; left -= 1000 {
		var nodes []dag.Node
		for i := range min(left, 1000) {
			nodes = append(nodes, dag.Node{ID: dag.ID(fmt.Sprint("s", i)), Runner: cmd})
		}
		g, err := dag.New(nodes, dag.Settings{})
		if err != nil {
			b.Fatal(err)
		}
		st, err := dag.Run(context.Background(), g, run, dag.Options{Slots: dag.NewSlots(parallel)})
		if err != nil || st.Result().Status != dag.Succeeded {
			b.Fatal(err, st.Result())
		}
	}
}

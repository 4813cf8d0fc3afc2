//go:build unix

package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestManyRunsAtOnce: a hundred runs, each with a process, are active in one service at the
// same time, and all succeed.
func TestManyRunsAtOnce(t *testing.T) {
	t.Parallel()
	const many = 100
	b := newBench(t, map[string]string{"reader": "name: reader\nbash: echo >>started; read -r line <gate\n"})
	b.store = b.open(t.TempDir())
	gate := filepath.Join(b.dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	s := b.serve(func(c *service.Config) {
		c.Engine = engine.New(engine.Config{Store: b.store, Grace: time.Second, Parallel: many})
	})
	var ids []string
	for range many {
		ids = append(ids, b.start(s, service.Request{Tool: "reader"}))
	}
	waittest.Until(t, "hundred processes at once", func() bool {
		started, _ := os.ReadFile(filepath.Join(b.dir, "started"))
		return len(started) == many
	}, func() any { return s.Health() })
	w, err := os.OpenFile(gate, os.O_RDWR, 0) // does not wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString(strings.Repeat("go\n", many)); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		b.becomes(id, dag.Succeeded)
	}
}

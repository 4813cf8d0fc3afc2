package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/library"
)

// manySteps is a definition of n steps in layers of a hundred.
func manySteps(n int) string {
	var b strings.Builder
	b.WriteString("name: many\ndescription: many steps\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: s%d\n    run: /bin/true\n    parallel: true\n", i)
		if i >= 100 {
			fmt.Fprintf(&b, "    wait-for: [s%d, s%d]\n", i-100, i-99)
		}
	}
	return b.String()
}

// BenchmarkCompile loads and compiles a file of 10,000 steps.
func BenchmarkCompile(b *testing.B) {
	file := filepath.Join(b.TempDir(), "many.yaml")
	if err := os.WriteFile(file, []byte(manySteps(10_000)), 0o644); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := engine.Compile(library.New(library.Config{}), file); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRun runs 200 process steps.
func BenchmarkRun(b *testing.B) {
	def, _ := decode.File("many.yaml", []byte(manySteps(200)))
	p, err := engine.CompileDefinition(library.New(library.Config{WorkingDirectory: b.TempDir()}), def)
	if err != nil {
		b.Fatal(err)
	}
	e := engine.New(engine.Config{Parallel: 2})
	for b.Loop() {
		res, err := e.Run(context.Background(), p, nil)
		if err != nil || res.Status != dag.Succeeded {
			b.Fatal(err, res)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*200), "us/step")
}

// BenchmarkResume takes a run of 10,000 steps up again of which one is left: read,
// compiled, folded, looked at, and run to its end.
func BenchmarkResume(b *testing.B) {
	var text strings.Builder
	text.WriteString("description: d\nsteps:\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, "  - {name: s%d, run: /bin/true, wait-for: []}\n", i)
	}
	text.WriteString("  - {name: end, bash: exit 1}\n")
	lib := library.New(library.Config{WorkingDirectory: b.TempDir()})
	def, _ := decode.File("many.yaml", []byte(text.String()))
	plan, err := engine.CompileDefinition(lib, def)
	if err != nil {
		b.Fatal(err)
	}
	store := history.NewMemory()
	e := engine.New(engine.Config{Store: store})
	if _, err := e.Run(context.Background(), plan, nil, engine.WithID("many")); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		past, err := engine.LoadRun(context.Background(), store, lib, "many")
		if err != nil {
			b.Fatal(err)
		}
		again, err := past.Resume(lib, engine.ResumeOptions{})
		if err != nil || len(again.Reset) != 1 {
			b.Fatal(err)
		}
		if _, err := e.Continue(context.Background(), again); err != nil {
			b.Fatal(err)
		}
	}
}

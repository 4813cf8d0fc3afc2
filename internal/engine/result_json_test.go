package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/test/heaptest"
)

// longOutput prints, with three steps, as much as a document may have of each, more than that, and bytes that are not
// text.
const longOutput = `
steps:
  - {name: long, bash: print}
  - {name: cut, bash: print, output: {buffer-limit: 1MB}}
  - {name: bytes, bash: print}
`

func printLong(_ context.Context, step dag.ID, _ string) printed {
	return map[dag.ID]printed{
		"long":  {stdout: strings.Repeat("<", 900_000)},
		"cut":   {stdout: strings.Repeat("é\n", 333_333) + "é", cut: true},
		"bytes": {stdout: "a\xff\xfe" + strings.Repeat("\x00", 900_000), stderr: strings.Repeat("\xff", 900_000)},
	}[step]
}

// TestWriteJSON checks that WriteJSON writes what MarshalJSON returns, however long the output is.
func TestWriteJSON(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]engine.RunOption{"long": nil, "short": {engine.WithShortOutput()}} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.config.StateDir = t.TempDir()
			res := b.run(context.Background(), longOutput, nil, append(options, withCommands(printLong))...)
			if short := len(res.Output) <= 4096; short != (name == "short") {
				t.Errorf("the result holds %d bytes of output", len(res.Output))
			}
			text, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			var want, got bytes.Buffer
			if err := json.Indent(&want, text, "", "  "); err != nil {
				t.Fatal(err)
			}
			if err := res.WriteJSON(&got); err != nil {
				t.Fatal(err)
			}
			if got.String() != want.String()+"\n" {
				t.Errorf("%d bytes, want %d", got.Len(), want.Len())
			}
			var doc struct {
				Output  string
				Invalid bool `json:"invalid_utf8"`
				Steps   []struct {
					Output, Error      string
					Truncated, Invalid bool
				}
			}
			if err := json.Unmarshal(got.Bytes(), &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Output != doc.Steps[2].Output || doc.Steps[2].Error != "\uFFFD" || !doc.Invalid {
				t.Errorf("the run has %d bytes of output, its last step %d and %q", len(doc.Output), len(doc.Steps[2].Output), doc.Steps[2].Error)
			}
			if out := doc.Steps[1].Output; len(out) != 999_999 || !strings.HasSuffix(out, "é\n") || !doc.Steps[1].Truncated {
				t.Errorf("the stream that is cut has %d bytes", len(out))
			}
		})
	}
}

// heapMeter measures the heap while a document is written.
type heapMeter struct {
	written, measured int
	max               int64
}

func (m *heapMeter) Write(p []byte) (int, error) {
	if m.written += len(p); m.written-m.measured > 1<<20 {
		m.measured, m.max = m.written, max(m.max, heaptest.InUse())
	}
	return len(p), nil
}

// TestWriteJSONNeedsLittleMemory checks that a document is not held in memory.
func TestWriteJSONNeedsLittleMemory(t *testing.T) {
	b := newBed(t)
	b.config.StateDir = t.TempDir()
	res := b.run(context.Background(), longOutput, nil, engine.WithShortOutput(), withCommands(printLong))
	before := heaptest.InUse()
	var m heapMeter
	if err := res.WriteJSON(&m); err != nil {
		t.Fatal(err)
	}
	if m.written < 10_000_000 || m.max > before+(2<<20) {
		t.Errorf("%d bytes written with %d bytes of memory", m.written, m.max-before)
	}
}

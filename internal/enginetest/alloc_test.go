package enginetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/tool"
)

// TestAllocations keeps a step cheap for programs that embed flowrun: how often the
// engine allocates for a step in Go that does nothing, beyond what a run costs once.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates itself")
	}
	const steps, most = 500, 8
	def := &tool.Definition{Name: "many"}
	for i := range steps {
		s := flowrun.GoStep(fmt.Sprintf("s%d", i), func(context.Context, *flowrun.StepInput) (any, error) { return nil, nil })
		s.Parallel = true
		def.Steps = append(def.Steps, s)
	}
	plan, err := flowrun.CompileDefinition(tool.NewLibrary(tool.Config{}), def)
	if err != nil {
		t.Fatal(err)
	}
	e := flowrun.New(flowrun.Config{Parallel: 4})
	run := func() {
		res, err := e.Run(context.Background(), plan, nil)
		if err != nil || res.Status != dag.Succeeded {
			t.Fatal(err, res)
		}
	}
	if per := testing.AllocsPerRun(5, run) / steps; per > most {
		t.Errorf("%.1f allocations a step, at most %d are bearable", per, most)
	} else {
		t.Logf("%.1f allocations a step", per)
	}
}

package metrics_test

import (
	"context"
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/metrics"
	"github.com/flowrun/flowrun/tool"
)

// A program measures its runs in a registry of its own.
func Example() {
	def := &tool.Definition{Name: "greet", Steps: []*tool.Step{
		flowrun.GoStep("hello", func(context.Context, *flowrun.StepInput) (any, error) { return "hello", nil }),
	}}
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		log.Fatal(err)
	}

	registry := prometheus.NewRegistry()
	var engine *flowrun.Engine
	m, err := metrics.New(registry, metrics.Options{Load: func() (int, int) { return engine.Load() }})
	if err != nil {
		log.Fatal(err)
	}
	engine = flowrun.New(flowrun.Config{
		Store:     history.NewMemory(),
		Journal:   m.Journal,
		Observers: []flowrun.Observer{m.Observe}, // all runs of the engine
	})
	if _, err := engine.Run(context.Background(), plan, nil); err != nil {
		log.Fatal(err)
	}

	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		for _, s := range f.Metric {
			if f.GetName() == "flowrun_steps_total" && s.Counter.GetValue() > 0 {
				for _, l := range s.Label {
					fmt.Println(l.GetName(), l.GetValue())
				}
				fmt.Println("steps", s.Counter.GetValue())
			}
		}
	}
	// Output:
	// status succeeded
	// step hello
	// tool greet
	// steps 1
}

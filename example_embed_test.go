package flowrun_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/tool"
)

// Go structs as parameters and results: of a tool written in Go, of the call, and of
// the run's output.
func ExampleTypedTool() {
	type input struct {
		City string `json:"city" description:"Where"`
		Days int    `json:"days" description:"How many days" default:"3"`
	}
	type forecast struct {
		City  string    `json:"city"`
		Highs []float64 `json:"highs"`
	}
	weather, err := flowrun.TypedTool("weather", "A forecast", func(_ context.Context, in input) (forecast, error) {
		if in.Days > 7 {
			return forecast{}, &flowrun.ExitError{Code: 2, Err: errors.New("nobody knows that far")}
		}
		return forecast{in.City, make([]float64, in.Days)}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), weather.Definition())
	if err != nil {
		log.Fatal(err)
	}
	params, err := flowrun.ParamsOf(struct {
		City string `json:"city"`
	}{"Oslo"})
	if err != nil {
		log.Fatal(err)
	}
	res, err := flowrun.New(flowrun.Config{}).Run(context.Background(), plan, params)
	if err != nil {
		log.Fatal(err)
	}
	var out forecast
	if err := res.Decode(&out); err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.City, len(out.Highs))
	// Output: Oslo 3
}

// Cancelling the context stops a run: what runs is stopped, what cleans up runs
// still, and the result says so. It is not an error.
func ExampleEngine_Run_cancel() {
	ctx, cancel := context.WithCancel(context.Background())
	def := &tool.Definition{Name: "slow", Steps: []*tool.Step{
		flowrun.GoStep("work", func(ctx context.Context, _ *flowrun.StepInput) (any, error) {
			cancel()
			<-ctx.Done() // a step must return soon after its context is done
			return nil, ctx.Err()
		}),
	}, Handlers: tool.Handlers{Finally: []*tool.Step{
		flowrun.GoStep("release", func(context.Context, *flowrun.StepInput) (any, error) {
			fmt.Println("released")
			return nil, nil
		}),
	}}}
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		log.Fatal(err)
	}
	res, err := flowrun.New(flowrun.Config{}).Run(ctx, plan, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, res.Step("work").Status)
	// Output:
	// released
	// cancelled cancelled
}

// Engines with different stores, sinks or directories share one bound on how many
// steps run at once.
func ExampleConfig_slots() {
	slots := dag.NewSlots(2)
	a := flowrun.New(flowrun.Config{Slots: slots})
	b := flowrun.New(flowrun.Config{Slots: slots, Store: history.NewMemory()})

	var mu sync.Mutex
	running, most := 0, 0
	two := make(chan struct{}) // closed when two run at once
	work := func(context.Context, *flowrun.StepInput) (any, error) {
		mu.Lock()
		running++
		if running == 2 && most < 2 {
			close(two)
		}
		most = max(most, running)
		mu.Unlock()
		<-two
		mu.Lock()
		running--
		mu.Unlock()
		return nil, nil
	}
	def := &tool.Definition{Name: "wide"}
	for i := range 8 {
		s := flowrun.GoStep(fmt.Sprintf("s%d", i), work)
		s.Parallel = true
		def.Steps = append(def.Steps, s)
	}
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		log.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, e := range []*flowrun.Engine{a, b} {
		wg.Go(func() {
			if _, err := e.Run(context.Background(), plan, nil); err != nil {
				log.Fatal(err)
			}
		})
	}
	wg.Wait()
	fmt.Println("at most", most, "at once")
	// Output: at most 2 at once
}

// A sink feeds a progress bar: how many steps have settled, of how many, and what
// is continuing.
func ExampleWithSink_progress() {
	path, remove := definition(`
name: tool
description: Two steps
steps:
  - name: fetch
    bash: echo data
  - name: report
    bash: echo "{fetch.output}"
`)
	defer remove()
	plan, err := flowrun.Compile(library.New(library.Config{}), path)
	if err != nil {
		log.Fatal(err)
	}
	all, done := plan.Graph().Len(), 0
	bar := dag.SinkFunc(func(e dag.Event) { // called in order, from one goroutine
		switch e.Kind {
		case dag.StepStarted:
			fmt.Printf("%d/%d %s\n", done, all, e.Node)
		case dag.StepFinished:
			done++
		case dag.RunFinished:
			fmt.Printf("%d/%d %s\n", done, all, e.Result.Status)
		}
	})
	if _, err := flowrun.New(flowrun.Config{}).Run(context.Background(), plan, nil, flowrun.WithSink(bar)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0/2 fetch
	// 1/2 report
	// 2/2 succeeded
}

// WithAround stands around every step: to measure, to log, to inject faults.
func ExampleWithAround() {
	path, remove := definition(`
name: tool
description: One step
bash: echo hello
`)
	defer remove()
	plan, err := flowrun.Compile(library.New(library.Config{}), path)
	if err != nil {
		log.Fatal(err)
	}
	around := func(ctx context.Context, c *dag.Call, r dag.Runner) (dag.Result, error) {
		fmt.Println("before", c.Path)
		res, err := r.Run(ctx, c)
		fmt.Println("after", res.Status)
		return res, err
	}
	if _, err := flowrun.New(flowrun.Config{}).Run(context.Background(), plan, nil, flowrun.WithAround(around)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// before tool
	// after succeeded
}

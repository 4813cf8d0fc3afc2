package flowrun_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// definition writes a YAML definition to a temporary file.
func definition(text string) (path string, remove func()) {
	dir, err := os.MkdirTemp("", "flowrun-example-")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "tool.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

// Run a tool that is defined in a file.
func Example() {
	path, remove := definition(`
name: tool
description: Greet in two steps
parameters:
  NAME: {type: string, description: whom}
steps:
  - name: greet
    bash: echo "Hello, {NAME}"
  - name: shout
    bash: tr a-z A-Z
    input: "{greet.output}"
`)
	defer remove()

	plan, err := flowrun.Compile(library.New(library.Config{}), path)
	if err != nil {
		log.Fatal(err)
	}
	engine := flowrun.New(flowrun.Config{})
	res, err := engine.Run(context.Background(), plan, map[string]any{"NAME": "Grace O'Hara"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, res.Output)
	// Output: succeeded HELLO, GRACE O'HARA
}

// A tool written in Go is found and used like any other.
func ExampleGoTool() {
	lib := library.New(library.Config{})
	err := lib.Add(flowrun.GoTool{
		Name:        "count",
		Description: "Count words",
		Parameters:  []*tool.Parameter{{Name: "TEXT", Type: "string", Description: "the text", Required: true}},
		Outputs:     []*tool.DeclaredOutput{{Name: "words", Type: "integer"}},
		Run: func(_ context.Context, in *flowrun.StepInput) (any, error) {
			words := strings.Fields(in.Params["TEXT"].(string))
			if len(words) == 0 {
				return nil, &flowrun.ExitError{Code: 3, Err: errors.New("there are no words")}
			}
			return map[string]any{"words": len(words)}, nil
		},
	}.Definition())
	if err != nil {
		log.Fatal(err)
	}
	path, remove := definition(`
name: tool
description: Use a tool that is written in Go
steps:
  - name: count
    use-tool: count
    with: {TEXT: one two three}
  - name: tell
    run-condition: "{count.outputs.words} > 2"
    bash: echo "{count.outputs.words} words"
`)
	defer remove()

	plan, err := flowrun.Compile(lib, path)
	if err != nil {
		log.Fatal(err)
	}
	res, err := flowrun.New(flowrun.Config{}).Run(context.Background(), plan, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Output)
	// Output: 3 words
}

// Steps written in Go and commands are in one definition made in Go.
func ExampleGoStep() {
	def := &tool.Definition{
		Name: "mixed",
		Steps: []*tool.Step{
			flowrun.GoStep("fetch", func(context.Context, *flowrun.StepInput) (any, error) { return "data", nil }),
			{Name: "use", Body: tool.BashCommand(tool.Plain(`echo "got {fetch.output}"`))},
		},
	}
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		log.Fatal(err)
	}
	res, err := flowrun.New(flowrun.Config{}).Run(context.Background(), plan, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(res.Output)
	// Output: got data
}

// Watch a run: a sink hears of every event.
func ExampleWithSink() {
	path, remove := definition(`
name: tool
description: One step
bash: exit 3
`)
	defer remove()
	plan, err := flowrun.Compile(library.New(library.Config{}), path)
	if err != nil {
		log.Fatal(err)
	}
	watch := dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepFinished {
			fmt.Println(e.Node, e.Result.Status, e.Result.ExitCode)
		}
	})
	res, err := flowrun.New(flowrun.Config{}).Run(context.Background(), plan, nil, flowrun.WithSink(watch))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("run", res.Status)
	// Output:
	// tool failed 3
	// run failed
}

// A program that keeps history takes a failed run up where it stopped: what went well
// is not done again.
func ExampleEngine_Continue() {
	online := false
	lib := library.New(library.Config{})
	def := &tool.Definition{Name: "publish", Description: "Fetch and publish", Steps: []*tool.Step{
		flowrun.GoStep("fetch", func(context.Context, *flowrun.StepInput) (any, error) {
			fmt.Println("fetching")
			return "data", nil
		}),
		flowrun.GoStep("publish", func(context.Context, *flowrun.StepInput) (any, error) {
			if !online {
				return nil, errors.New("no network")
			}
			fmt.Println("publishing")
			return "done", nil
		}),
	}}
	if err := lib.Add(def); err != nil {
		log.Fatal(err)
	}
	plan, err := flowrun.Compile(lib, "publish")
	if err != nil {
		log.Fatal(err)
	}
	ctx, store := context.Background(), history.NewMemory()
	engine := flowrun.New(flowrun.Config{Store: store})
	res, err := engine.Run(ctx, plan, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, res.Message)

	online = true
	past, err := flowrun.LoadRun(ctx, store, lib, res.ID)
	if err != nil {
		log.Fatal(err)
	}
	again, err := past.Resume(lib, flowrun.ResumeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stands:", again.Kept, "runs again:", again.Reset)
	if res, err = engine.Continue(ctx, again); err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status)
	// Output:
	// fetching
	// failed step publish failed
	// stands: [fetch] runs again: [publish]
	// publishing
	// succeeded
}

// Hear what steps print while they print it.
func ExampleWithStream() {
	path, remove := definition(`
name: tool
description: Build
steps:
  - name: build
    bash: echo compiling; echo linking
    output: {mode: stream, stream-callback: function}
`)
	defer remove()

	plan, err := flowrun.Compile(library.New(library.Config{}), path)
	if err != nil {
		log.Fatal(err)
	}
	_, err = flowrun.New(flowrun.Config{}).Run(context.Background(), plan, nil, flowrun.WithStream(func(c steps.Chunk) {
		for line := range strings.Lines(string(c.Text)) {
			fmt.Printf("%s says %s", c.Step, line)
		}
	}))
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// build says compiling
	// build says linking
}

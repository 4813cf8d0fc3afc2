package script

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// hostCalls answers the host calls of one attempt of a script. Safe for concurrent use.
type hostCalls struct {
	args *call.Frame
	call *dag.Call // path and attempt of the step
	work *steps.Work
}

// answer implements jsrun.Call.Ask.
func (k *hostCalls) answer(ctx context.Context, op string, args json.RawMessage) (any, error) {
	switch op {
	case "log":
		return nil, k.log(args)
	case "print":
		return nil, k.print(args)
	case "fetch":
		return k.fetch(ctx, args)
	case "fs.readFile", "fs.readdir", "fs.stat", "fs.lstat", "fs.realpath":
		return k.files(op, args)
	}
	return nil, fmt.Errorf("%s is not available in this kind of script", op)
}

// print writes what a tool under Node.js prints to the step's error output.
func (k *hostCalls) print(args json.RawMessage) error {
	var written struct{ Text string }
	if err := json.Unmarshal(args, &written); err != nil {
		return fmt.Errorf("cannot read the text to print: %w", err)
	}
	return k.work.Print(steps.Stderr, written.Text)
}

// log writes a line of console or api.logger to the step's error output.
func (k *hostCalls) log(args json.RawMessage) error {
	var line struct{ Level, Message string }
	if err := json.Unmarshal(args, &line); err != nil {
		return fmt.Errorf("cannot read the line to log: %w", err)
	}
	return k.work.Print(steps.Stderr, line.Message+"\n")
}

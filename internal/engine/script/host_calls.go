package script

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// hostCalls answers the host calls of one attempt of a script. Safe for concurrent use.
type hostCalls struct {
	args *call.Frame
	call *dag.Call // path and attempt of the step
	work *steps.Work

	mu        sync.Mutex
	uncleaned string // why the tool's cleanup failed; "": it did not
}

// answer implements jsrun.Call.Ask.
func (k *hostCalls) answer(ctx context.Context, op string, args json.RawMessage) (any, error) {
	switch op {
	case "log":
		return nil, k.log(args)
	case "cleanupFailed":
		return nil, k.cleanupFailed(args)
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

// cleanupFailed records that the tool's cleanup failed, which does not change its result.
func (k *hostCalls) cleanupFailed(args json.RawMessage) error {
	var in struct{ Message string }
	if err := json.Unmarshal(args, &in); err != nil {
		return fmt.Errorf("cannot read why the cleanup failed: %w", err)
	}
	k.mu.Lock()
	k.uncleaned = in.Message
	k.mu.Unlock()
	k.args.Session().Notify(notice.OfCleanup(k.call.Path, k.call.Path, in.Message))
	return k.work.Print(steps.Stderr, in.Message+"\n")
}

// mark marks the result of a tool that succeeded if its cleanup failed.
func (k *hostCalls) mark(r dag.Result) dag.Result {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.uncleaned != "" {
		plan.MarkFailedCleanup(&r, k.uncleaned)
	}
	return r
}

// log writes a line of console or api.logger to the step's error output.
func (k *hostCalls) log(args json.RawMessage) error {
	var line struct{ Level, Message string }
	if err := json.Unmarshal(args, &line); err != nil {
		return fmt.Errorf("cannot read the line to log: %w", err)
	}
	return k.work.Print(steps.Stderr, line.Message+"\n")
}

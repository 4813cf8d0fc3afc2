package script

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/js/jsrun"
)

// runNode runs a tool with runtime: node in Node.js: as a command of the step, in a process group of its own that is
// stopped like any other, with the same api.
func (c *jsCall) runNode(ctx context.Context, run jsrun.Call) (dag.Result, error) {
	if c.args.Confine.Enforced && !call.Grants(c.args).LocalServices() {
		return dag.Result{Status: dag.Failed, ExitCode: 126, Reason: steps.ReasonStartFailed, Permanent: true,
			Message: "the permissions of this tool are enforced, and runtime: node needs the permission network:local, because Node.js talks to flowrun through a Unix socket"}, nil
	}
	dir, err := os.MkdirTemp(c.args.Temp(), "flowrun-node-")
	if err != nil {
		return dag.Result{}, err
	}
	defer os.RemoveAll(dir)
	if sandbox, ok := c.sandbox().(string); ok { // the tool may write its files there
		if err := os.MkdirAll(sandbox, 0o700); err != nil {
			return dag.Result{}, err
		}
	}
	n, err := jsrun.StartNode(ctx, dir, run)
	if err != nil {
		return dag.Result{}, err
	}
	defer n.Close()
	in := execution{Command: "node", Args: n.Args(), Env: n.Env(), files: []string{dir}}
	if sandbox, ok := c.sandbox().(string); ok {
		in.files = append(in.files, sandbox)
	}
	if folder := c.Def.Module.Packages; folder != "" {
		in.Env["NODE_PATH"] = folder
		in.files = append(in.files, folder)
	}
	end, printed, err := c.process(ctx, in)
	if err != nil {
		return c.failed(ctx, err)
	}
	out, err, done := n.Answer()
	switch {
	case ctx.Err() != nil:
		return c.failed(ctx, ctx.Err())
	case done && err != nil:
		return c.failed(ctx, err)
	case done:
		return c.succeeded(out)
	case end.Reason == steps.ReasonStartFailed:
		end.Message = "the tool needs Node.js (runtime: node), which cannot be started: " + end.Message
		return dag.Result{Status: dag.Failed, ExitCode: end.ExitCode, Reason: end.Reason, Message: end.Message, Permanent: true}, nil
	}
	return c.failed(ctx, &jsrun.Error{Kind: jsrun.KindLost, Message: fmt.Sprintf("Node.js ended with exit code %d before the tool returned a result: %s", end.ExitCode, crashReason(printed))})
}

// process runs a program inside the step, and returns what it printed to stderr.
func (c *jsCall) process(ctx context.Context, in execution) (*dag.Result, string, error) {
	var printed string
	watch := dag.RunnerFunc(func(ctx context.Context, attempt *dag.Call) (dag.Result, error) {
		res, err := in.command().Run(ctx, attempt)
		printed = call.Raw(res.Stderr)
		return res, err
	})
	graph, err := dag.New([]dag.Node{{ID: "command", Runner: watch}}, dag.Settings{})
	if err != nil {
		return nil, "", err
	}
	end, err := runInside(ctx, graph, &execArgs{c.args, in}, c.call.Path+"/node")
	return end, printed, err
}

// thrownError matches the line in an error report of Node.js that shows what was thrown.
var thrownError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(Uncaught )?([A-Z]\w*)?Error\b.*$`) })

// crashReason returns the line that best explains why a process ended: the thrown error, else the last line.
func crashReason(printed string) string {
	if line := thrownError().FindString(printed); line != "" {
		return line
	}
	printed = strings.TrimSpace(printed)
	return cmp.Or(printed[strings.LastIndexByte(printed, '\n')+1:], "it printed nothing")
}

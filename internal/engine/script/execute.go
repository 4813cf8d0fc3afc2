package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/systrace"
)

// execTimeout is the default timeout of a program that a tool runs.
const execTimeout = 30 * time.Second

// execution holds the arguments of api.execute.
type execution struct {
	Command string
	Args    []string
	Cwd     string
	Env     map[string]string
	Timeout *float64 // ms
	Shell   bool

	files []string // see steps.Command.Files
}

// executionResult is the result of an execution.
type executionResult struct {
	Success  bool   `json:"success"`
	ExitCode int    `json:"exitCode"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

// exec runs a program for a tool that has the permission filesystem:execute for it. The program is run like a step's
// command: in its own process group, stopped with TERM, grace and KILL, and with logs.
func (t *toolAPI) exec(ctx context.Context, args json.RawMessage) (any, error) {
	var in execution
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, fmt.Errorf("cannot read the arguments of api.execute: %w", err)
	}
	if in.Shell {
		in.Args = []string{"-c", strings.Join(append([]string{in.Command}, in.Args...), " ")}
		in.Command = "sh"
	}
	if err := t.permit(&in); err != nil {
		return nil, err
	}
	if err := t.args.CheckOption(in.Args); err != nil && !in.Shell {
		return nil, err
	}
	limit := execTimeout
	if in.Timeout != nil && *in.Timeout > 0 {
		limit = time.Duration(*in.Timeout * float64(time.Millisecond))
	}
	path := dag.ID(fmt.Sprintf("%s/exec%d-%s", t.call.Path, t.calls.Add(1), filepath.Base(in.Command)))
	var res dag.Result // the result of the graph has only one stream
	watch := dag.RunnerFunc(func(ctx context.Context, c *dag.Call) (_ dag.Result, err error) {
		res, err = in.command().Run(ctx, c)
		return res, err
	})
	graph, err := dag.New([]dag.Node{{ID: "command", Runner: watch, Policy: dag.Policy{Timeout: limit}}}, dag.Settings{})
	if err != nil {
		return nil, err
	}
	end, err := runInside(ctx, graph, &execArgs{t.args, in}, path)
	if err != nil {
		return nil, err
	}
	if end.Reason == steps.ReasonStartFailed || end.Reason == dag.ReasonInput { // it was not started
		return nil, errors.New(end.Message)
	}
	return executionResult{end.Status == dag.Succeeded, end.ExitCode, call.Raw(res.Stdout), call.Raw(res.Stderr)}, nil
}

// permit checks a program and its variables against the permissions of the call, and makes the program's path
// absolute, so that exactly the file that was allowed is started.
func (t *toolAPI) permit(in *execution) error {
	granted, written := call.Grants(t.args), in.Command
	switch {
	case permission.IsProgramName(in.Command):
		file, err := t.args.RunEnv.Program(in.Command)
		if err != nil {
			if slices.Contains(granted, permission.ExecutePrefix+written) {
				return err
			}
			return &permission.DeniedError{Permission: permission.ExecutePrefix + written}
		}
		in.Command = file
	case !filepath.IsAbs(in.Command):
		in.Command = filepath.Join(t.args.StartDir(in.Cwd), in.Command)
		written = in.Command
	}
	t.args.Session().Observe(systrace.Access{Kind: systrace.Execute, Target: in.Command})
	if err := granted.Execute(in.Command, written); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(in.Env)) {
		if err := granted.Environment(name); err != nil {
			return err
		}
	}
	return nil
}

// execNames declares the two references in the command that runs a program.
type execNames struct{}

// Symbol implements expr.Names.
func (execNames) Symbol(id string) expr.Symbol {
	switch id {
	case "PROGRAM":
		return expr.Symbol{Class: expr.Parameter, Type: "string"}
	case "ARGS":
		return expr.Symbol{Class: expr.Parameter, Type: "array"}
	}
	return expr.Symbol{}
}

// execTemplate is the command line of every program: its words are values, which are never parsed as text.
var execTemplate = sync.OnceValue(func() *expr.Template {
	t, _ := expr.ParseTemplate("{PROGRAM} {ARGS}", expr.Argv, execNames{})
	return t
})

// command returns the step command that runs the program.
func (e execution) command() *steps.Command {
	c := &steps.Command{Template: execTemplate(), Keep: steps.Stdout | steps.Stderr, Files: e.files}
	if e.Cwd != "" {
		c.Dir = expr.Literal(e.Cwd)
	}
	for name, v := range e.Env {
		c.Env = append(c.Env, steps.EnvVar{Name: name, Value: expr.Literal(v)})
	}
	return c
}

// execArgs are the arguments of the graph that runs the program.
type execArgs struct {
	*call.Frame
	execution
}

// Scope resolves the words of the command.
func (a *execArgs) Scope(dag.View) expr.Scope { return execScope(a.execution) }

type execScope execution

// Lookup implements expr.Scope.
func (s execScope) Lookup(r expr.Ref) (expr.Value, error) {
	if r.Root == "PROGRAM" {
		return expr.Value{V: s.Command, Author: true}, nil
	}
	list := make([]any, len(s.Args))
	for i, a := range s.Args {
		list[i] = a
	}
	return expr.Value{V: list, Author: true}, nil
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// What a step written in Go may do.
func TestGoSteps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run     gostep.StepFunc
		status  dag.Status
		code    int
		output  string
		message string
	}{
		"text":    {func(context.Context, *gostep.StepInput) (any, error) { return "hi", nil }, dag.Succeeded, 0, "hi", ""},
		"nothing": {func(context.Context, *gostep.StepInput) (any, error) { return nil, nil }, dag.Succeeded, 0, "", ""},
		"value":   {func(context.Context, *gostep.StepInput) (any, error) { return []int{1, 2}, nil }, dag.Succeeded, 0, "[1,2]", ""},
		"error":   {func(context.Context, *gostep.StepInput) (any, error) { return nil, errors.New("no") }, dag.Failed, 1, "", "no"},
		"exit code": {func(context.Context, *gostep.StepInput) (any, error) {
			return nil, fmt.Errorf("so: %w", &gostep.ExitError{Code: 7, Err: errFull})
		}, dag.Failed, 7, "", "so: the disk is full"},
		"exit zero": {func(context.Context, *gostep.StepInput) (any, error) { return nil, &gostep.ExitError{Err: errFull} }, dag.Failed, 1, "", "the disk is full"},
		"no error":  {func(context.Context, *gostep.StepInput) (any, error) { return nil, &gostep.ExitError{Code: 7} }, dag.Failed, 7, "", "exit code 7"},
		"panic":     {func(context.Context, *gostep.StepInput) (any, error) { panic("oh") }, dag.Failed, 1, "", "panic: oh"},
		"no JSON":   {func(context.Context, *gostep.StepInput) (any, error) { return make(chan int), nil }, dag.Failed, 1, "", "cannot write the result as JSON"},
		"where": {func(_ context.Context, in *gostep.StepInput) (any, error) {
			return fmt.Sprintf("%s %s %d %v %t", in.Run, in.Path, in.Attempt, in.Params, in.Dir != ""), nil
		}, dag.Succeeded, 0, "id step 1 map[P:[a 1]] true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			def := &tool.Definition{Name: "go", Description: "Go", Steps: []*tool.Step{gostep.GoStep("step", c.run)},
				Parameters: []*tool.Parameter{{Name: "P", Type: "array", Description: "some"}, {Name: "Q", Type: "string", Description: "absent"}}}
			p, err := engine.CompileDefinition(b.lib, def)
			if err != nil {
				t.Fatal(err)
			}
			res, err := engine.New(b.config).Run(context.Background(), p, map[string]any{"P": []any{"a", "1"}}, engine.WithID("id"))
			if err != nil {
				t.Fatal(err)
			}
			s := res.Step("step")
			if s.Status != c.status || s.ExitCode != c.code || s.Output != c.output || !strings.HasPrefix(s.Message, c.message) {
				t.Errorf("%+v", s)
			}
		})
	}
}

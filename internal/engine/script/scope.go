package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// stepFields maps the fields of steps in a script to their names in placeholders.
var stepFields = map[string]string{
	"output": "output", "stdout": "stdout", "error": "error", "stderr": "stderr", "json": "json", "outputs": "outputs",
	"exitCode": "exit-code", "exit-code": "exit-code", "duration": "duration", "attempts": "attempts", "status": "status",
	"startTime": "start-time", "start-time": "start-time", "endTime": "end-time", "end-time": "end-time",
}

// StepField returns the template name of a step's field that a script calls name; ok is false if there is no such
// field.
func StepField(name string) (field string, ok bool) {
	field, ok = stepFields[name]
	return field, ok
}

// StepFieldNames returns the names of a step's fields in a script, sorted.
func StepFieldNames() []string { return slices.Sorted(maps.Keys(stepFields)) }

// scope returns the variables of the script, by name.
func (c *jsCall) scope() (map[string]any, error) {
	sc := call.Scope{View: c.call.View, Frame: c.args}
	if c.Def.Role == tool.RoleTool {
		return c.toolVars(), nil
	}
	vars := map[string]any{}
	for _, v := range c.Vars {
		value, err := v.Value.Value(sc)
		if err != nil {
			return nil, fmt.Errorf("cannot pass %s to the script: %w", v.Param, err)
		}
		vars[v.Param] = value
	}
	if c.Def.Role == tool.RoleStep {
		if err := c.surroundings(sc, vars); err != nil {
			return nil, err
		}
	}
	if _, ok := vars["outputText"]; !ok && c.Def.Role == tool.RolePost {
		vars["outputText"] = value.Plain(vars["output"])
	}
	return vars, nil
}

// surroundings adds what the script of a step sees.
func (c *jsCall) surroundings(sc call.Scope, vars map[string]any) (err error) {
	vars["params"] = c.args.All()
	vars["env"] = c.environment()
	if vars["steps"], err = c.results(sc); err != nil {
		return err
	}
	for _, name := range c.Locals {
		if vars[name], err = localValue(sc, name); err != nil {
			return fmt.Errorf("cannot pass %s to the script: %w", name, err)
		}
	}
	return nil
}

func (c *jsCall) environment() map[string]string {
	if !c.Env {
		return nil
	}
	byName := make(map[string]string, len(c.work.Env))
	for _, kv := range c.work.Env {
		name, value, _ := strings.Cut(kv, "=")
		byName[name] = value
	}
	return byName
}

// results returns the fields of steps that the script refers to.
func (c *jsCall) results(sc call.Scope) (map[string]any, error) {
	all := make(map[string]any, len(c.Steps))
	for step, fields := range c.Steps {
		if slices.Contains(fields, "") {
			fields = append(StepFieldNames(), fields...)
		}
		values := make(map[string]any, len(fields))
		for _, field := range fields {
			if field == "" {
				continue
			}
			v, err := stepField(sc, step, stepFields[field])
			if err != nil && slices.Contains(c.Steps[step], field) {
				return nil, fmt.Errorf("cannot read steps.%s.%s: %w", step, field, err)
			}
			values[field] = v
		}
		all[step] = values
	}
	return all, nil
}

// stepField returns a field of a step's result: null if there is none, such as the json of a step that printed
// nothing.
func stepField(sc call.Scope, step, field string) (any, error) {
	r := sc.View.Result(dag.ID(step))
	if field == "json" && r != nil && r.Stdout == nil && r.Value == nil {
		return nil, nil
	}
	v, err := sc.Lookup(expr.Ref{Class: expr.Step, Root: step, Path: []expr.Segment{{Field: field}}})
	if errors.Is(err, expr.ErrUnknown) {
		return nil, nil
	}
	return v.V, err
}

// localValue returns the value of a name that belongs to a loop item or to a handler.
func localValue(sc call.Scope, name string) (any, error) {
	ref := expr.Ref{Class: expr.Local, Root: name}
	if name != "run" {
		v, err := sc.LookupLocal(ref)
		return v.V, err
	}
	run := map[string]any{}
	for _, field := range plan.RunFields() {
		ref.Path = []expr.Segment{{Field: field}}
		v, err := sc.LookupLocal(ref)
		if err != nil {
			return nil, err
		}
		run[field] = v.V
	}
	run["exitCode"], run["failedStep"] = run["exit-code"], run["failed-step"]
	return run, nil
}

package flowrun

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// scriptFields are the fields of steps in a script, by their names there and as holes
// have them.
var scriptFields = map[string]string{
	"output": "output", "stdout": "stdout", "error": "error", "stderr": "stderr", "json": "json",
	"exitCode": "exit-code", "exit-code": "exit-code", "duration": "duration", "attempts": "attempts", "status": "status",
	"startTime": "start-time", "start-time": "start-time", "endTime": "end-time", "end-time": "end-time",
}

func scriptFieldNames() []string { return slices.Sorted(maps.Keys(scriptFields)) }

// scope is what the script sees, by name.
func (c *jsCall) scope() (map[string]any, error) {
	sc := scope{view: c.call.View, args: c.args}
	if c.def.Role == tool.RoleTool {
		return c.toolVars(), nil
	}
	vars := map[string]any{}
	for _, v := range c.vars {
		value, err := v.value.value(sc)
		if err != nil {
			return nil, fmt.Errorf("cannot give the script %s: %w", v.param, err)
		}
		vars[v.param] = value
	}
	if c.def.Role == tool.RoleStep {
		if err := c.surroundings(sc, vars); err != nil {
			return nil, err
		}
	}
	if _, ok := vars["outputText"]; !ok && c.def.Role == tool.RolePost {
		vars["outputText"] = plain(vars["output"])
	}
	return vars, nil
}

// surroundings are what the script of a step sees.
func (c *jsCall) surroundings(sc scope, vars map[string]any) (err error) {
	vars["params"] = c.args.All()
	vars["env"] = c.environment()
	if vars["steps"], err = c.results(sc); err != nil {
		return err
	}
	for _, name := range c.locals {
		if vars[name], err = localValue(sc, name); err != nil {
			return fmt.Errorf("cannot give the script %s: %w", name, err)
		}
	}
	return nil
}

func (c *jsCall) environment() map[string]string {
	if !c.env {
		return nil
	}
	byName := make(map[string]string, len(c.work.Env))
	for _, kv := range c.work.Env {
		name, value, _ := strings.Cut(kv, "=")
		byName[name] = value
	}
	return byName
}

// results are the fields of steps that the script names.
func (c *jsCall) results(sc scope) (map[string]any, error) {
	all := make(map[string]any, len(c.steps))
	for step, fields := range c.steps {
		if slices.Contains(fields, "") {
			fields = append(scriptFieldNames(), fields...)
		}
		values := make(map[string]any, len(fields))
		for _, field := range fields {
			if field == "" {
				continue
			}
			v, err := stepField(sc, step, scriptFields[field])
			if err != nil && slices.Contains(c.steps[step], field) {
				return nil, fmt.Errorf("cannot read steps.%s.%s: %w", step, field, err)
			}
			values[field] = v
		}
		all[step] = values
	}
	return all, nil
}

// stepField is a field of a step's result: null where there is none, as json of a step
// that printed nothing.
func stepField(sc scope, step, field string) (any, error) {
	r := sc.view.Result(dag.ID(step))
	if field == "json" && r != nil && r.Stdout == nil && r.Value == nil {
		return nil, nil
	}
	v, err := sc.Lookup(expr.Ref{Class: expr.Step, Root: step, Path: []expr.Segment{{Field: field}}})
	if errors.Is(err, expr.ErrUnknown) {
		return nil, nil
	}
	return v.V, err
}

// localNames are what loops and handlers around put into scope, as far as JavaScript
// can name it.
func (n names) localNames() []string {
	var list []string
	for at := &n; at != nil; at = at.around {
		for name := range at.locals {
			if nameable(name) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// nameable says whether a script can call an item by that name: it is a word, and none
// that stands for something else in every script.
func nameable(name string) bool {
	return !strings.ContainsAny(name, ".-") && !slices.Contains([]string{"params", "steps", "env", "undefined", "NaN", "Infinity"}, name)
}

// localValue is what a name stands for in an item of a loop, or in a handler.
func localValue(sc scope, name string) (any, error) {
	ref := expr.Ref{Class: expr.Local, Root: name}
	if name != "run" {
		v, err := sc.lookupLocal(ref)
		return v.V, err
	}
	run := map[string]any{}
	for _, field := range runFields {
		ref.Path = []expr.Segment{{Field: field}}
		v, err := sc.lookupLocal(ref)
		if err != nil {
			return nil, err
		}
		run[field] = v.V
	}
	run["exitCode"], run["failedStep"] = run["exit-code"], run["failed-step"]
	return run, nil
}

package flowrun

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/tool"
)

// callables compiles tools that scripts of a definition call at run time; nil where there is
// no library to find them in.
func callables(lib *tool.Library, from *tool.Definition) func(name string) (*compiledPlan, error) {
	if lib == nil {
		return nil
	}
	return func(name string) (*compiledPlan, error) { return callable(lib, from, name) }
}

// callable is the plan of a tool that another calls.
func callable(lib *tool.Library, from *tool.Definition, name string) (*compiledPlan, error) {
	def, ds, err := lib.Lookup(name, from)
	if err != nil {
		return nil, err
	}
	c := &compiler{lib: lib, problems: ds, done: map[nestedKey]*compiledPlan{}}
	inner, err := c.result(c.tool(def, true, ""))
	if err != nil {
		return nil, err
	}
	if err := inner.Supported(); err != nil {
		return nil, err
	}
	for _, t := range inner.Tools() {
		if t.Definition.Security.ExecutionPrivilege == "elevated" {
			return nil, fmt.Errorf("%s is elevated, which a person has to approve: use it as a step of a tool", t.Definition.Name)
		}
	}
	if inner.queues() {
		return nil, errors.New("it has locks or a bound on its runs, which only a run can wait for: use it as a step of a tool")
	}
	return inner, nil
}

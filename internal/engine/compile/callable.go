package compile

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// callables returns a function that compiles the tools that scripts of a definition call at run time. It returns nil if
// there is no library in which to find them.
func (c *compiler) callables(from *tool.Definition) func(name string) (*plan.Plan, error) {
	lib, release := c.lib.Live(), c.release
	if lib == nil {
		return nil
	}
	return func(name string) (*plan.Plan, error) { return callable(lib, release, from, name) }
}

// callable compiles a tool that a script calls. It fails for tools that only a person may approve, and for those that
// have to wait in the queue.
func callable(lib *library.Library, release string, from *tool.Definition, name string) (*plan.Plan, error) {
	c := newCompiler(lib, release)
	def, ds, err := c.find(name, from)
	if err != nil {
		return nil, err
	}
	c.Problems = ds
	inner, err := c.result(c.tool(def, true, ""))
	if err != nil {
		return nil, err
	}
	if err := inner.Supported(); err != nil {
		return nil, err
	}
	for _, t := range inner.Tools() {
		if t.Definition.Security.ExecutionPrivilege == "elevated" {
			return nil, fmt.Errorf("%s needs elevated rights, which a person must approve: use it as a step of a tool", t.Definition.Name)
		}
	}
	if inner.Queues() {
		return nil, errors.New("it has locks or max-active-runs, and only a run can wait for them: use it as a step of a tool")
	}
	return inner, nil
}

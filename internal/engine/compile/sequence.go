package compile

import (
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// sequenceCompiler compiles one list of steps: those of a tool, of a group, or of a handler. The steps of a list are in
// the same graph and are ordered together.
type sequenceCompiler struct {
	tool       *toolCompiler // also for lists inside groups and handlers
	steps      []*tool.Step
	path       string      // of the list, for diagnostics
	names      texts.Names // of everything around the list, and of the list itself
	inherited  plan.Interrupt
	handler    *plan.Handler // for a list of handlers
	outerEdges []edge        // edges to steps outside the list
}

// compile compiles the steps, orders them and adds the handlers of each step after it.
func (c *sequenceCompiler) compile() []*plan.Step {
	all := make([]listed, len(c.steps))
	own := make(map[string]bool, len(c.steps))
	for _, s := range c.steps {
		own[s.Name] = true
	}
	for i, s := range c.steps {
		at := c.path + "[" + strconv.Itoa(i) + "]"
		sc := &stepCompiler{tool: c.tool, inherited: c.inherited,
			stepTexts: &stepTexts{Parser: c.tool.Parser, definition: c.tool.plan.Definition, step: s, path: at, names: c.names}}
		if c.tool.plan.Definition.Single {
			sc.path = ""
		}
		l := &all[i]
		l.def, l.compiled = s, sc.compile(c.handler)
		c.tool.artifacts = append(c.tool.artifacts, sc.artifacts...)
		l.explicit = slices.DeleteFunc(sc.edges, func(e edge) bool {
			if c.tool.plan.Definition.Format == tool.Markdown && !c.tool.Accepts(checkLater(c.steps[i:], e)) {
				return true
			}
			if !own[e.to] {
				c.outerEdges = append(c.outerEdges, e)
			}
			return !own[e.to]
		})
		if !s.Handlers.Empty() {
			l.handlers = c.compileHandlers(s, &s.Handlers, at+".")
		}
	}
	sorted, ds := order(all)
	c.tool.Report(ds...)
	list := make([]*plan.Step, 0, len(sorted))
	for _, l := range sorted {
		list = append(append(list, l.compiled), l.handlers...)
	}
	return list
}

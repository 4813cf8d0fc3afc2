package compile

import (
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// sequenceCompiler compiles one list of steps: those of a tool, of a group, or of a handler. The steps of a list are in
// the same graph and are ordered together.
type sequenceCompiler struct {
	*compiler
	plan        *plan.Plan // of the tool, also for lists inside groups and handlers
	steps       []*tool.Step
	path        string // of the list, for diagnostics
	names       names  // of everything around the list, and of the list itself
	inherited   plan.Interrupt
	handler     *plan.Handler // for a list of handlers
	keptStreams map[string]steps.Streams
	outerEdges  []edge // edges to steps outside the list
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
		sc := &stepCompiler{compiler: c.compiler, plan: c.plan, step: s, path: at, names: c.names, inherited: c.inherited, keptStreams: c.keptStreams, isHandler: c.handler != nil}
		if c.plan.Definition.Single {
			sc.path = ""
		}
		l := &all[i]
		l.def, l.compiled = s, sc.compileWhole(c.handler)
		l.explicit = slices.DeleteFunc(sc.edges, func(e edge) bool {
			if c.reportsLater(i, e) {
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
	c.problems = append(c.problems, ds...)
	list := make([]*plan.Step, 0, len(sorted))
	for _, l := range sorted {
		list = append(append(list, l.compiled), l.handlers...)
	}
	return list
}

// compileWhole compiles the step with its edges and its interruption setting.
func (c *stepCompiler) compileWhole(h *plan.Handler) *plan.Step {
	def := c.step
	c.edges = slices.Grow(c.edges, len(def.WaitFor))
	for i := range def.WaitFor {
		w := &def.WaitFor[i]
		if w.S != def.Name { // the decoder has already reported it
			c.edges = append(c.edges, edge{w.S, w, 0})
		}
	}
	s := c.compile()
	s.Mentioned, s.Uses, s.Handler = c.mentioned, c.usedParameters, h
	s.Interrupt = interruption(c.plan.Definition, s, c.inherited)
	for name, streams := range c.mentioned {
		c.keptStreams[name] |= streams
	}
	return s
}

// mention records that the step reads streams of another step.
func (c *stepCompiler) mention(name string, streams steps.Streams) {
	if c.mentioned == nil {
		c.mentioned = map[string]steps.Streams{}
	}
	c.mentioned[name] |= streams
}

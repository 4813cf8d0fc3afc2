package flowrun

import (
	"fmt"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// defaultPlanSteps is how many steps a plan may have where the Library says nothing.
const defaultPlanSteps = 1_000_000

// mostCounted is where counting ends: products of larger numbers do not fit.
const mostCounted = 1 << 31

// measure counts the plan's steps, and reports the first that makes them too many. What a
// tool that it uses has too many of is reported there.
func (c *compiler) measure(p *compiledPlan) {
	most := int64(c.lib.MaxPlanSteps())
	if most == 0 {
		most = defaultPlanSteps
	}
	told := false
	for _, s := range p.steps {
		p.size = min(p.size+sizeOf(s), mostCounted)
		if p.size <= most || told {
			continue
		}
		told = true
		if inner := s.nested; inner != nil && !inner.group && inner.size > most {
			continue
		}
		at := tool.Text{Pos: s.def.Pos}
		if s.def.Kind == tool.UseTool {
			at = s.def.UseTool
		}
		c.errorf("plan-size", at, "use the tool fewer times, or raise limits.max-plan-steps",
			"with step %s the plan of %s has %s steps; at most %d are allowed", s.def.Name, p.Definition.Name, counted(p.size), most)
	}
}

// sizeOf is how many steps a step stands for.
func sizeOf(s *planStep) int64 {
	n := int64(1)
	if s.nested != nil {
		if s.nested.group {
			for _, in := range s.nested.steps {
				s.nested.size = min(s.nested.size+sizeOf(in), mostCounted)
			}
		}
		n += s.nested.size
	}
	if s.loop != nil {
		n = 1 + min(n*s.loop.known(), mostCounted)
	}
	return min(n, mostCounted)
}

// known is how many items the loop has, 1 where only a run knows.
func (l *planLoop) known() int64 {
	if l.matrix == nil {
		return l.items.known()
	}
	n := int64(1)
	for _, a := range l.matrix.axes {
		n = min(n*a.values.known(), mostCounted)
	}
	return n
}

// known is how many values a list has that names nothing, 1 for another.
func (l listing) known() int64 {
	switch {
	case l.tree != nil && l.tree.isList:
		return int64(len(l.tree.list))
	case l.over != nil && len(l.over.Refs()) == 0:
		if list, err := l.list(nil); err == nil {
			return int64(len(list))
		}
	}
	return 1
}

func counted(n int64) string {
	if n >= mostCounted {
		return "more than two billion"
	}
	return fmt.Sprint(n)
}

// sizes reports defaults that would be too large. A default can name others, which name
// others; how long they become is known without making them.
func (c *compiler) sizes(p *compiledPlan) {
	size := map[string]int{}
	told := false
	for _, prm := range p.params { // a default comes after those that it names
		if prm.initial == nil {
			continue
		}
		n := prm.initial.size(func(r expr.Ref) int {
			if r.Class == expr.Parameter && len(r.Path) == 0 {
				return size[r.Root]
			}
			return 0
		})
		size[prm.def.Name] = n
		if n > expr.MaxValue && !told {
			told = true // those that name it would be larger still
			at := tool.Text{Pos: prm.def.Default.Pos}
			c.errorf("value-size", at, "let the step make it, or pass it by a file",
				"the default of %s would be larger than %d MiB", prm.def.Name, expr.MaxValue>>20)
		}
	}
}

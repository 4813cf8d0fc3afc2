package taskfile

import (
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// deps returns the steps of dependencies, which run at the same time.
func (b *builder) deps(n importer.Node, depth int) (steps []*importer.Step, why string) {
	for i, d := range n.Items() {
		s, why := b.call(d, depth)
		if why != "" {
			return nil, why
		}
		if s == nil {
			continue
		}
		s.Parallel = i > 0 && len(steps) > 0
		steps = append(steps, s)
	}
	return steps, ""
}

// call returns a step for a call of another task: {task, vars} or a name.
func (b *builder) call(n importer.Node, depth int) (*importer.Step, string) {
	called, tolerate := n, false
	given := map[string]value{}
	if n.IsMap() {
		called = n.Get("task")
		for _, p := range n.Pairs() {
			switch p.Key {
			case "task":
			case "silent":
				p.True()
			case "ignore_error":
				tolerate = p.True()
			case "vars":
				for _, v := range p.Pairs() {
					text, why := b.variable(v.Node)
					if why != "" {
						return nil, "it passes " + v.Key + ": " + why
					}
					given[v.Key] = value{text: text}
				}
			default:
				return nil, "flowrun has no counterpart for " + p.Key + " of a call"
			}
		}
	}
	name, why := b.expand(called.Text())
	if why != "" {
		return nil, why
	}
	name = strings.TrimPrefix(name, ":")
	if _, ok := b.tasks[name]; !ok {
		return nil, "it needs the task " + name + ", which is not in the file"
	}
	if b.ran[name] && b.runsOnce(name) {
		return nil, "it calls " + name + " again, which runs once"
	}
	b.ran[name] = true
	label, guards := b.name(name), b.guards
	var steps []*importer.Step
	why = b.tasks[name].Unit(func() (why string) {
		steps, why = b.task(name, given, depth+1)
		return why
	})
	switch {
	case why != "" && depth == 0: // deeper, the reasons would be nested
		return nil, importer.Needs(name, why)
	case why != "":
		return nil, why
	case tolerate && b.guards > guards:
		return nil, "flowrun would ignore also the answer no, or a precondition that fails, of " + name
	case len(steps) == 0:
		return nil, ""
	case len(steps) == 1 && !steps[0].Parallel:
		steps[0].Name = label
		steps[0].Tolerate = steps[0].Tolerate || tolerate
		return steps[0], ""
	}
	return &importer.Step{Name: label, Steps: steps, Tolerate: tolerate}, ""
}

// runsOnce reports whether go-task runs a task once, however often it is called.
func (b *builder) runsOnce(name string) bool {
	run := b.run
	if n := b.tasks[name]; n.IsMap() && n.Get("run").Exists() {
		run = n.Get("run").Text()
	}
	return run != "" && run != "always"
}

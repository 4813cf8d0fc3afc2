package dagu

import (
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// planned is a step that is being carried over.
type planned struct {
	stepNode
	name     string     // in flowrun
	waits    []*planned // the steps that it waits for
	step     *importer.Step
	why      string            // why it is left out
	outputs  map[string]string // the variables that the steps after it find, with the steps that set them
	runs     []string          // the conditions under which the steps after it run
	begun    bool
	finished bool
}

// steps returns the steps of the DAG, in the order of the file.
func (r *reader) steps(doc importer.Node) []*importer.Step {
	all, waitFor := r.plan(doc)
	for _, p := range all {
		r.carry(p)
	}
	var list []*importer.Step
	for _, p := range all {
		if p.why != "" {
			r.result.Add("step "+p.stepNode.name, p.Line(), "", importer.LeftOut, "%s", p.why)
			r.tool.Notes = append(r.tool.Notes, "Left out: the step "+p.stepNode.name+": "+p.why+".")
			continue
		}
		if waitFor {
			p.step.WaitFor = []string{}
			for _, w := range p.waits {
				p.step.WaitFor = append(p.step.WaitFor, w.name)
			}
		}
		list = append(list, p.step)
		r.result.Outcome("step "+p.stepNode.name, p.Line(), r.tool.Name+"/"+p.name, r.reasons(p.step))
	}
	return list
}

// plan finds out what each step waits for. waitFor says that the definition must say so: it is not the order of the file.
func (r *reader) plan(doc importer.Node) (all []*planned, waitFor bool) {
	kind := doc.Get("type").Text()
	if kind != "" && kind != "graph" && kind != "chain" {
		r.bad = "flowrun has no counterpart for type: " + short(kind)
		return nil, false
	}
	byName := map[string]*planned{}
	for _, n := range stepNodes(doc.Get("steps")) {
		p := &planned{stepNode: n, name: r.names[n.name]}
		all = append(all, p)
		byName[p.name] = p
		waitFor = waitFor || n.get("depends").Exists()
	}
	graph := kind == "graph" || kind == "" && waitFor
	free := false // a step waits for nothing
	for i, p := range all {
		depends := p.get("depends")
		for _, d := range depends.Texts() {
			if byName[r.names[d]] == nil {
				p.why = "it depends on " + short(d) + ", which is not in the file"
				continue
			}
			p.waits = append(p.waits, byName[r.names[d]])
		}
		noDepends := depends.Exists() && len(p.waits) == 0
		if !graph && i > 0 && !noDepends && !slices.Contains(p.waits, all[i-1]) {
			p.waits = append(p.waits, all[i-1])
		}
		free = free || graph && i > 0 && !depends.Exists()
	}
	switch {
	case kind == "" && free:
		r.changed = append(r.changed, "the steps without depends start at once, as in old versions of Dagu; in current versions, they wait for the step above")
	case kind == "" && !graph && len(all) > 1:
		r.changed = append(r.changed, "the steps run one after the other, as in current versions of Dagu; old versions start them together")
	}
	return all, waitFor || graph
}

// carry makes the step, after those that it waits for.
func (r *reader) carry(p *planned) {
	if p.begun {
		return
	}
	p.begun = true
	outputs := map[string]string{}
	var conditions []string
	for _, w := range p.waits {
		r.carry(w)
		switch {
		case p.why != "":
		case !w.finished:
			p.why = "its depends form a cycle"
		case p.get("depends").Exists():
			p.why = r.lost.Needs(w.stepNode.name)
		case w.why != "":
			p.why = r.lost.After()
		}
		maps.Copy(outputs, w.outputs)
		conditions = append(conditions, w.runs...)
	}
	rows := len(r.result.Rows)
	if p.why == "" {
		p.why = p.Unit(func() (why string) {
			p.step, why = r.step(p.stepNode, outputs)
			return why
		})
	}
	if p.finished = true; p.why != "" {
		r.result.DropSince(rows, "its step is left out")
		r.leave(p)
		return
	}
	for name, from := range r.outputs {
		if from == p.name {
			outputs[name] = from
		}
	}
	p.outputs = outputs
	// Dagu skips the steps that wait for a skipped one.
	if p.step.When != "" {
		conditions = append(conditions, p.step.When)
	}
	slices.Sort(conditions)
	conditions = slices.Compact(conditions)
	p.step.When = strings.Join(conditions, " && ")
	if !p.runsOn() {
		p.runs = conditions
	}
}

// leave notes that a step and the variable with its output are left out.
func (r *reader) leave(p *planned) {
	r.lost.Part(p.stepNode.name, "")
	for name, from := range r.outputs {
		if from == p.name {
			delete(r.outputs, name)
			r.lost.Variable(name, "is the output of "+p.stepNode.name+", which is left out")
		}
	}
}

// runsOn reports whether the steps below run if this one is skipped.
func (p *planned) runsOn() bool {
	if !p.IsMap() {
		return false
	}
	for _, k := range p.Pairs() {
		if key(k.Key) == "continueon" && k.IsMap() {
			return k.Get("skipped").True()
		} else if key(k.Key) == "continueon" {
			return k.Text() == "skipped"
		}
	}
	return false
}

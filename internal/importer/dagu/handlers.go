package dagu

import "github.com/flowrun/flowrun/internal/importer"

// handlers reads handlerOn.
func (r *reader) handlers(doc importer.Node) {
	for _, top := range doc.Pairs() {
		if key(top.Key) != "handleron" {
			continue
		}
		for _, p := range top.Pairs() {
			r.handler(p)
		}
	}
}

func (r *reader) handler(p importer.Pair) {
	var s *importer.Step
	rows := len(r.result.Rows)
	why := p.Unit(func() (why string) {
		s, why = r.step(stepNode{p.Node, "on-" + p.Key}, r.outputs)
		return why
	})
	if why == "" {
		why = r.lost.InSteps([]*importer.Step{s})
	}
	var differs []string
	switch event := key(p.Key); {
	case event == "init" && why != "":
		r.bad = "its init handler: " + why
	case why != "":
	case event == "init":
		differs = []string{"it is the first step"}
		r.first(s)
	case event == "success":
		r.tool.OnSuccess = []*importer.Step{s}
	case event == "failure":
		r.tool.OnFailure = []*importer.Step{s}
	case event == "exit":
		r.tool.Finally = []*importer.Step{s}
	default:
		why = "flowrun has no counterpart"
	}
	if why != "" {
		r.result.DropSince(rows, "its handler is left out")
		r.result.Add("handlerOn: "+p.Key, p.Line, "", importer.LeftOut, "%s", why)
		r.tool.Notes = append(r.tool.Notes, "Left out: handlerOn: "+p.Key+": "+why+".")
		return
	}
	r.result.Outcome("handlerOn: "+p.Key, p.Line, r.tool.Name+"/"+s.Name, append(differs, r.reasons(s)...))
}

// first puts a step before all others.
func (r *reader) first(s *importer.Step) {
	for _, other := range r.tool.Steps {
		if other.WaitFor != nil && len(other.WaitFor) == 0 {
			other.WaitFor = []string{s.Name}
		}
	}
	r.tool.Steps = append([]*importer.Step{s}, r.tool.Steps...)
}

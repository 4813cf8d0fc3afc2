package github

import (
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/lang/cron"
)

func (r *reader) triggers(on importer.Node) {
	if !on.IsMap() {
		for _, t := range on.Items() {
			r.event(t.Text(), t.Line())
		}
		return
	}
	for _, p := range on.Pairs() {
		switch p.Key {
		case "schedule":
			for _, s := range p.Items() {
				text := s.Get("cron").Text()
				if _, err := cron.Parse(text, cron.Options{}); err != nil {
					r.result.Add("schedule "+text, s.Line(), "", importer.LeftOut, "flowrun cannot use it")
					continue
				}
				r.tool.Schedules = append(r.tool.Schedules, importer.Schedule{Cron: text, Timezone: "UTC"})
				r.result.Outcome("schedule "+text, s.Line(), r.tool.Name, nil)
			}
		case "workflow_dispatch":
			r.inputs(p.Get("inputs"))
		default:
			r.event(p.Key, p.Line)
		}
	}
}

// event adds the row of an event. A person can start every tool; flowrun does not know the other events.
func (r *reader) event(name string, line int) {
	if name == "workflow_dispatch" {
		r.result.Outcome("on: "+name, line, "", nil)
		return
	}
	r.result.Add("on: "+name, line, "", importer.LeftOut, "start the tool with flowrun run or the API")
}

// inputs become parameters, which steps find in placeholders.
func (r *reader) inputs(inputs importer.Node) {
	for _, p := range inputs.Pairs() {
		if !importer.ValidVariable(strings.ReplaceAll(p.Key, "-", "_")) || importer.Name(p.Key) != p.Key {
			r.result.Add("input "+p.Key, p.Line, "", importer.LeftOut, "its name is not possible in flowrun")
			continue
		}
		d := p.Get("default")
		prm := importer.Parameter{Name: p.Key, Description: p.Get("description").Text(), Default: d.Text(), HasDefault: d.Exists() || !p.Get("required").True()}
		r.params[p.Key], r.names[strings.ToLower(p.Key)] = true, true
		reasons := values(p.Node, &prm)
		r.tool.Parameters = append(r.tool.Parameters, prm)
		r.result.Outcome("input "+p.Key, p.Line, r.tool.Name, reasons)
	}
}

// values limits a parameter to the values that the type of an input allows. It returns how the parameter differs.
func values(input importer.Node, prm *importer.Parameter) (reasons []string) {
	kind, options := input.Get("type").Text(), input.Get("options").Texts()
	switch kind {
	case "", "string":
		return nil
	case "choice":
		prm.Enum = options
	case "boolean":
		prm.Enum = []string{"false", "true"}
	}
	if len(prm.Enum) > 0 && !input.Get("default").Exists() {
		prm.HasDefault = !input.Get("required").True()
		prm.Default = prm.Enum[0]
	}
	return []string{"its type is text"}
}

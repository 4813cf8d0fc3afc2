package plan

import (
	"maps"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Mention records which stream of which step a reference reads.
func Mention(kept map[string]steps.Streams, r expr.Ref) {
	if r.Class == expr.Step {
		kept[r.Root] |= Read(r)
	}
}

// Read returns the stream that a reference to a step, or to the last attempt, reads, or steps.Artifacts.
func Read(r expr.Ref) steps.Streams {
	if r.Class != expr.Step && r.Class != expr.Last || len(r.Path) == 0 {
		return 0
	}
	switch r.Path[0].Field {
	case "output", "stdout", "json", "value":
		return steps.Stdout
	case "error", "stderr":
		return steps.Stderr
	case "outputs":
		return steps.Outputs
	case "artifacts":
		return steps.Artifacts
	}
	return 0
}

// ReadsArtifact reports whether a reference reads the path of an artifact.
func ReadsArtifact(r expr.Ref) bool {
	return r.Class == expr.Step && len(r.Path) > 1 && r.Path[0].Field == "artifacts"
}

// AnyArgument in the list of parameters that a step uses means all parameters, including undeclared ones.
const AnyArgument = "*"

// Mentioning returns the plan's steps that mention a parameter: all steps, if a tool-wide setting mentions it.
func (p *Plan) Mentioning(name string) []dag.ID {
	var list []dag.ID
	toolWide := p.mentionedToolWide()[name]
	for _, s := range p.Steps {
		if toolWide || s.Uses[name] || s.Uses[AnyArgument] {
			list = append(list, dag.ID(s.Def.Name))
		}
	}
	return list
}

// Mentioned returns the parameters that the plan's steps or tool-wide settings mention. AnyArgument among them means all.
func (p *Plan) Mentioned() map[string]bool {
	names := p.mentionedToolWide()
	for _, s := range p.Steps {
		maps.Copy(names, s.Uses)
	}
	return names
}

// mentionedToolWide returns the parameters in settings that apply to all steps.
func (p *Plan) mentionedToolWide() map[string]bool {
	texts := []*expr.Template{p.Dir, p.Temp, p.Input}
	for _, v := range p.Environ {
		texts = append(texts, v.Value)
	}
	for _, f := range p.EnvFiles {
		texts = append(texts, f.Path)
	}
	for _, s := range p.SecretSources {
		texts = append(texts, s.File, s.Argv)
	}
	names := map[string]bool{}
	for _, t := range texts {
		if t == nil {
			continue
		}
		for _, r := range t.Refs() {
			if r.Class == expr.Parameter {
				names[r.Root] = true
			}
		}
	}
	return names
}

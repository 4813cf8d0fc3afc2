package plan

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// LastStep returns the path of the plan's last step if its stdout is certain to be the run's output once it runs: no
// output template chooses another, and no further attempt prints it again. Otherwise it returns "".
func (p *Plan) LastStep() dag.ID {
	if p.Output != nil || len(p.Steps) == 0 {
		return ""
	}
	last := len(p.Steps) - 1
	for ; last >= 0 && p.Steps[last].Silent(); last-- {
	}
	if last < 0 {
		return ""
	}
	s := p.Steps[last]
	if s.Loop != nil || s.Policy.Attempts > 0 || s.Policy.Repeat != nil || s.Policy.Fallback != nil || s.NoSlot {
		return ""
	}
	if s.Nested == nil {
		return dag.ID(s.Def.Name)
	}
	inner := s.Nested.LastStep()
	if inner == "" {
		return ""
	}
	return dag.ID(s.Def.Name) + "/" + inner
}

// Streams returns the steps of the plan, nested ones included, that stream to the given destination.
func (p *Plan) Streams(to steps.StreamTo) []*tool.Step {
	var list []*tool.Step
	for _, s := range p.Steps {
		if s.Nested != nil {
			list = append(list, s.Nested.Streams(to)...)
		}
		if base := s.BaseCommand(); base != nil && base.Stream != nil && base.Stream.To == to {
			list = append(list, s.Def)
		}
	}
	return list
}

// CallInput is the only reference in the input of a command that calls a discovered tool. It stands for all
// parameters.
const CallInput = "CALL"

// CallsProgram reports whether the tool consists of nothing but such a command, that is, whether it is a discovered
// tool.
func (p *Plan) CallsProgram() bool {
	if !p.Definition.Single {
		return false
	}
	_, ok := p.Definition.Steps[0].Body.(*tool.ProgramCall)
	return ok
}

package plan

import (
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Output is an output of a tool or of a group of steps, computed from what its steps wrote.
type Output struct {
	stepfile.Declaration
	Value *expr.Template
}

// ReadAtEnd returns what is read of the steps when all have ended, by name: the output of the tool and its declared outputs
// are rendered then.
func (p *Plan) ReadAtEnd() map[string]steps.Streams {
	read := map[string]steps.Streams{}
	mention := func(t *expr.Template) {
		for _, r := range t.Refs() {
			Mention(read, r)
		}
	}
	if p.Output != nil {
		mention(p.Output)
	}
	for _, o := range p.Outputs {
		mention(o.Value)
	}
	return read
}

// PassesOutputs reports whether the outputs of the tool are those of its only step.
func (p *Plan) PassesOutputs() bool {
	return p.Definition.Single && !p.Group && len(p.Steps) > 0 && len(p.Steps[0].Declared()) > 0
}

// Declared returns the outputs that a step has: its own, or those of the tool that it uses.
func (s *Step) Declared() []*tool.DeclaredOutput {
	if s.UsesTool {
		return s.Nested.Definition.Outputs
	}
	return s.Def.DeclaredOutputs()
}

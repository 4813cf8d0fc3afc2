package plan

import (
	"time"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Artifact is a compiled artifact of a step.
type Artifact struct {
	Name      string
	Path      *expr.Template
	OnSuccess bool // it is kept if the step succeeded
	OnFailure bool // it is kept if the step failed
	Optional  bool // no file needs to match
	Retention time.Duration
}

// ArtifactNames returns the names of the artifacts that can be referred to as those of the step: its own, and those of
// the steps in its group or tool.
func (s *Step) ArtifactNames() (list []string) {
	for _, a := range s.Artifacts {
		list = append(list, a.Name)
	}
	if s.Nested != nil {
		list = append(list, s.Nested.artifactNames()...)
	}
	return list
}

func (p *Plan) artifactNames() (list []string) {
	for _, s := range p.Steps {
		list = append(list, s.ArtifactNames()...)
	}
	return list
}

// KeepsArtifacts reports whether a step of the plan, or of its groups and tools, has artifacts.
func (p *Plan) KeepsArtifacts() bool { return len(p.artifactNames()) > 0 }

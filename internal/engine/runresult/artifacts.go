package runresult

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/artifact"
)

// KeptArtifact is an artifact of a run.
type KeptArtifact struct {
	Step string `json:"step"` // path of the step
	dag.Artifact
}

// Artifacts returns the artifacts of the run, in the order of the steps. Each is listed once, although the results of
// loops, groups and nested tools have the paths of those inside them.
func (r *Result) Artifacts() []KeptArtifact {
	list := []KeptArtifact{}
	listed := map[string]bool{}
	for _, s := range r.Steps {
		for _, a := range s.Artifacts {
			if a.Digest != "" {
				list, listed[a.Path] = append(list, KeptArtifact{s.ID, a}), true
			}
		}
	}
	for _, s := range r.Steps { // of a retried run, whose results are those of the other run
		for _, a := range s.Artifacts {
			for _, path := range append([]string{a.Path}, a.Paths...) {
				if path == "" || listed[path] {
					continue
				}
				listed[path] = true
				if c, err := artifact.Open(dag.Artifact{Name: a.Name, Path: path}); err == nil {
					list = append(list, KeptArtifact{string(c.Step), c.Result()})
					c.Close()
				}
			}
		}
	}
	return list
}

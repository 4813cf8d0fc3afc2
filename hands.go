package flowrun

import (
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// heard refuses a run whose steps stream to a function that nobody gave (S1-086).
func (j *job) heard() error {
	if j.stream != nil {
		return nil
	}
	var ds tool.Diagnostics
	for _, s := range j.plan.Streams(steps.StreamToFunction) {
		ds = append(ds, tool.Diagnostic{Code: "no-function", Severity: tool.Error, Pos: s.Output.StreamPos, Path: "output.stream-callback",
			Message: "step " + s.Name + " streams its output to a function, and this run has none: only a Go program can give it",
			Hint:    "use stream-callback: console or file, or run it by flowrun.WithStream"})
	}
	return ds.Err()
}

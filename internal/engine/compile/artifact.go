package compile

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// artifacts compiles the step's artifacts.
func artifacts(c *stepTexts) (list []plan.Artifact) {
	for i, def := range c.step.Artifacts {
		if def.Path == nil || def.Name == "" && def.Path.S != "" { // the decoder has already reported it
			continue
		}
		paths := patterns(c, []tool.Text{*def.Path}, fmt.Sprintf("artifacts[%d]", i), cache.CheckOutput)
		if paths == nil {
			continue
		}
		a := plan.Artifact{Name: def.Name, Path: paths[0], OnSuccess: def.When != "failure", OnFailure: def.When == "failure" || def.When == "always", Optional: def.Optional}
		if def.Retention != nil {
			a.Retention = *def.Retention
		}
		list = append(list, a)
	}
	return list
}

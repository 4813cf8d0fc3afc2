package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// cache compiles the step's cache. It returns nil if the step has none. Artifacts of a step that succeeded are outputs
// too, so that a reused result has them.
func cacheRule(c *stepTexts, artifacts []plan.Artifact) *plan.CacheRule {
	def := c.step.Cache
	if def == nil {
		return nil
	}
	r := &plan.CacheRule{TTL: def.TTL, Key: c.text(def.Key, "cache.key", expr.Plain)}
	r.Inputs = patterns(c, def.Inputs, "cache.inputs", cache.CheckInput)
	r.Outputs = patterns(c, def.Outputs, "cache.outputs", cache.CheckOutput)
	r.Artifacts = slices.DeleteFunc(slices.Clone(artifacts), func(a plan.Artifact) bool { return !a.OnSuccess })
	for _, name := range def.Env {
		r.Env = append(r.Env, name.S)
	}
	return r
}

// patterns compiles file patterns. Patterns without placeholders are checked now, the others when the step runs.
func patterns(c *stepTexts, texts []tool.Text, key string, check func(string) error) []*expr.Template {
	var list []*expr.Template
	for i := range texts {
		at := &texts[i]
		path := fmt.Sprintf("%s[%d]", key, i)
		t := c.text(at, path, expr.Plain)
		if t == nil {
			continue
		}
		list = append(list, t)
		if err := checkKnown(t, check); err != nil {
			why, hint, _ := strings.Cut(err.Error(), "; ")
			c.problem(*at, path, "bad-pattern", tool.Error, fmt.Sprintf("invalid file pattern %q: %s", at.S, why), hint)
		}
	}
	return list
}

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

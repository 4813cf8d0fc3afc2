package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// artifacts compiles the step's artifacts.
func (c *stepCompiler) artifacts() (list []plan.Artifact) {
	for i, def := range c.step.Artifacts {
		if def.Path == nil || def.Name == "" && def.Path.S != "" { // the decoder has already reported it
			continue
		}
		paths := c.patterns([]tool.Text{*def.Path}, fmt.Sprintf("artifacts[%d]", i), cache.CheckOutput)
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

// artifactMention is a reference to an artifact of a step.
type artifactMention struct {
	at  tool.Text
	ref expr.Ref
}

// mentionArtifacts records the references to artifacts in a text, for checkArtifacts.
func (c *compiler) mentionArtifacts(p *plan.Plan, at tool.Text, refs []expr.Ref) {
	for _, r := range refs {
		if plan.ReadsArtifact(r) {
			if c.artifactMentions == nil {
				c.artifactMentions = map[*plan.Plan][]artifactMention{}
			}
			c.artifactMentions[p] = append(c.artifactMentions[p], artifactMention{at, r})
		}
	}
}

// checkArtifacts reports references to artifacts that the steps do not have. The tools that the steps use are compiled
// then.
func (c *compiler) checkArtifacts(p *plan.Plan) {
	for _, m := range c.artifactMentions[p] {
		s := stepNamed(p, m.ref.Root)
		if s == nil || s.UsesTool && s.Nested == nil { // already reported
			continue
		}
		known, name := s.ArtifactNames(), m.ref.Path[1].Field
		d := tool.Diagnostic{Code: "unknown-field", Severity: tool.Error, Pos: m.at.At(m.ref.Off), Len: m.ref.Len}
		switch count := len(slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k != name })); {
		case count == 1:
			continue
		case count > 1:
			d.Message, d.Hint = fmt.Sprintf("several steps in %s have an artifact %q", m.ref.Root, name), "give the artifacts different names"
		case len(known) == 0:
			d.Message, d.Hint = fmt.Sprintf("step %q has no artifacts", m.ref.Root), "add artifacts: to it"
		default:
			d.Message = fmt.Sprintf("step %q has no artifact %q", m.ref.Root, name)
			if d.Hint = diagnostic.DidYouMean(name, known); d.Hint == "" {
				d.Hint = "its artifacts are " + strings.Join(known, ", ")
			}
		}
		c.report(d)
	}
	delete(c.artifactMentions, p)
}

// stepNamed returns the step with that name, which may be in a group or among handlers.
func stepNamed(p *plan.Plan, name string) *plan.Step {
	for _, s := range p.Steps {
		if s.Def.Name == name {
			return s
		}
		if s.Nested != nil && !s.UsesTool {
			if in := stepNamed(s.Nested, name); in != nil {
				return in
			}
		}
	}
	return nil
}

// artifactType returns the type of references to the artifacts of a step, "" if it is not known: a step that uses a tool,
// or a group, may contain loops.
func artifactType(s *tool.Step) string {
	switch {
	case s.Loop != nil:
		return "array"
	case len(s.Artifacts) > 0:
		return "string"
	}
	return ""
}

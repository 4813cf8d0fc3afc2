package compile

import (
	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// stepTexts compiles the texts of one step, and collects what they refer to.
type stepTexts struct {
	*texts.Parser
	definition *tool.Definition
	step       *tool.Step
	path       string // in the definition; "" for the step of a single tool
	names      texts.Names

	edges          []edge
	mentioned      map[string]steps.Streams // of other steps, by name
	usedParameters map[string]bool
	artifacts      []check.Reference // references to artifacts of steps
}

// key returns the path of one of the step's keys, for diagnostics.
func (c *stepTexts) key(k string) string {
	if c.path == "" {
		return k
	}
	return c.path + "." + k
}

// problem reports what is wrong with the text of one of the step's keys.
func (c *stepTexts) problem(at tool.Text, key, code string, severity tool.Severity, message, hint string) {
	c.Report(tool.Diagnostic{Code: code, Severity: severity, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: c.key(key),
		Message: message, Hint: hint})
}

// noEffect reports a key that has no effect on this step.
func (c *stepTexts) noEffect(at tool.Pos, key, message, hint string) {
	c.Report(tool.Diagnostic{Code: "no-effect", Severity: tool.Error, Pos: at, Path: c.key(key), Message: message, Hint: hint})
}

// text parses a template of the step and records its references.
func (c *stepTexts) text(at *tool.Text, key string, sh expr.Shell) *expr.Template {
	t := c.Template(at, c.key(key), sh, c.names)
	if t != nil {
		c.addReferences(*at, t.Refs())
	}
	return t
}

// value is text for a value, which may contain texts.
func (c *stepTexts) value(v tool.Value, key string) plan.ValueTemplate {
	return c.Value(v, c.key(key), c.names, c.addReferences)
}

// addReferences records what a text refers to: steps, of which each is an edge, and parameters.
func (c *stepTexts) addReferences(at tool.Text, refs []expr.Ref) {
	c.artifacts = append(c.artifacts, artifactReferences(at, refs)...)
	for _, r := range refs {
		c.Report(checkRun(at, r)...)
		c.Report(checkMatrix(at, r, c.names)...)
		switch r.Class {
		case expr.Parameter:
			c.useParameter(r.Root)
		case expr.Arguments:
			c.useParameter(argumentOf(r))
		case expr.Step:
			c.mention(r.Root, plan.Read(r))
			c.edges = append(c.edges, edge{r.Root, &at, r.Off})
		}
	}
}

// useParameter records that the step uses a parameter.
func (c *stepTexts) useParameter(name string) {
	if c.usedParameters == nil {
		c.usedParameters = map[string]bool{}
	}
	c.usedParameters[name] = true
}

// mention records that the step reads streams of another step.
func (c *stepTexts) mention(name string, streams steps.Streams) {
	if c.mentioned == nil {
		c.mentioned = map[string]steps.Streams{}
	}
	c.mentioned[name] |= streams
}

// checkKnown returns the error of check for a text that is known before the run, and nil for one with placeholders.
func checkKnown(t *expr.Template, check func(string) error) error {
	if t == nil || !t.Static() {
		return nil
	}
	text, err := t.Text(nil)
	if err != nil {
		return err
	}
	return check(text)
}

// artifactReferences returns the references to artifacts of steps in a text.
func artifactReferences(at tool.Text, refs []expr.Ref) (list []check.Reference) {
	for _, r := range refs {
		if plan.ReadsArtifact(r) {
			list = append(list, check.Reference{At: at, Ref: r})
		}
	}
	return list
}

package compile

import (
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/remote"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// stepCompiler compiles one step and collects its edges.
type stepCompiler struct {
	*compiler
	plan           *plan.Plan
	step           *tool.Step
	path           string // in the definition; "" for the step of a single tool
	names          names
	inherited      plan.Interrupt
	keptStreams    map[string]steps.Streams // streams that steps must keep for others, by name
	edges          []edge
	mentioned      map[string]steps.Streams
	usedParameters map[string]bool // parameters
	sourced        []plan.SecretSource

	interactiveSettings *steps.Interactive // nil: not interactive
	streamTo            *steps.Stream      // nil: no streaming
	account             *remote.Account    // nil: the step runs on this machine
	isHandler           bool               // the step is a handler
}

// key returns the path of one of the step's keys, for diagnostics.
func (c *stepCompiler) key(k string) string {
	if c.path == "" {
		return k
	}
	return c.path + "." + k
}

// addReferences adds an edge for each step that a text refers to.
func (c *stepCompiler) addReferences(at tool.Text, refs []expr.Ref) {
	c.mentionArtifacts(c.plan, at, refs)
	for _, r := range refs {
		c.checkRun(at, r)
		c.checkMatrix(at, r)
		if r.Class == expr.Parameter {
			if c.usedParameters == nil {
				c.usedParameters = map[string]bool{}
			}
			c.usedParameters[r.Root] = true
		}
		if r.Class == expr.Arguments {
			c.addUsedArguments(r)
		}
		if r.Class != expr.Step {
			continue
		}
		c.mention(r.Root, plan.Read(r))
		c.edges = append(c.edges, edge{r.Root, &at, r.Off})
	}
}

// text parses a template of the step and records its references.
func (c *stepCompiler) text(at *tool.Text, key string, sh expr.Shell, n expr.Names) *expr.Template {
	if at == nil {
		return nil
	}
	t := c.template(at, c.key(key), sh, n)
	if t != nil {
		c.addReferences(*at, t.Refs())
	}
	return t
}

// reportInertKeys reports keys that have no effect on a step without a command of its own, except those in works.
func (c *stepCompiler) reportInertKeys(on, hint string, works ...string) {
	for key, pos := range c.commandKeys() {
		if slices.Contains(works, key) {
			continue
		}
		c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Error, Pos: pos, Path: c.key(key),
			Message: key + " has no effect on " + on, Hint: hint})
	}
}

// commandKeys returns the keys of the step that only a command can use, with their positions.
func (c *stepCompiler) commandKeys() map[string]tool.Pos {
	s, keys := c.step, map[string]tool.Pos{}
	add := func(key string, set bool, pos tool.Pos) {
		if set {
			keys[key] = pos
		}
	}
	if s.Input != nil {
		add("input", true, s.Input.Pos)
	}
	if s.WorkingDirectory != nil {
		add("working-directory", true, s.WorkingDirectory.Pos)
	}
	for _, v := range s.Environment.Variables[:min(len(s.Environment.Variables), 1)] {
		add("environment", true, v.Pos)
	}
	for _, v := range s.Environment.Secrets[:min(len(s.Environment.Secrets), 1)] {
		add("environment", true, v.Name.Pos)
	}
	for _, v := range s.EnvFiles[:min(len(s.EnvFiles), 1)] {
		add("env-files", true, v.Path.Pos)
	}
	for _, v := range s.Output.MaskedValues[:min(len(s.Output.MaskedValues), 1)] {
		add("output.masked-values", true, v.Pos)
	}
	if len(s.Artifacts) > 0 {
		add("artifacts", true, s.Artifacts[0].Pos)
	}
	if s.SSH != nil {
		add("ssh", true, s.SSH.Pos)
	}
	add("strict", s.Strict != nil, s.Pos)
	add("detach", s.Detach, s.Pos)
	add("interactive", s.Interactive != nil, s.Pos)
	add("interactive-options", s.InteractiveOptions.Pos.Line > 0, s.InteractiveOptions.Pos)
	add("output.mode", s.Output.Mode == "stream", s.Pos)
	add("output.buffer-limit", s.Output.BufferLimit > 0 && s.Loop == nil, s.Pos)
	add("output.truncation", s.Output.Truncation != nil, s.Pos)
	return keys
}

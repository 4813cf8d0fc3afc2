package compile

import (
	"errors"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Tool compiles the tool with the given name, or the file at that path. release is the version of flowrun that
// min-flowrun-version is compared with; "" is newer than all versions.
func Tool(lib *library.Library, release, name string) (*plan.Plan, error) {
	c := newCompiler(lib, release)
	def, ds, err := c.find(name, nil)
	if err != nil {
		return nil, err
	}
	c.Problems = ds
	c.recordSource(name, "", def)
	// A definition with errors is compiled too, as far as it could be read, so that the author gets all errors at once.
	return c.result(c.tool(def, false, ""))
}

// Definition compiles a definition. lib finds the tools it uses. release is as in Tool.
func Definition(lib *library.Library, release string, def *tool.Definition) (*plan.Plan, error) {
	c := newCompiler(lib, release)
	c.recordSource(def.Name, "", def)
	return c.result(c.tool(def, false, ""))
}

// recordSource records the source of a definition. A definition made in Go has no text, or none that says all; to resume
// such a run, the program must have made it again.
func (c *compiler) recordSource(name, from string, def *tool.Definition) {
	known := func(s tool.Source) bool { return s.From == from && s.Name == name }
	text := HistoryText(def)
	if text == nil || hasGoCode(def.Steps) || slices.ContainsFunc(c.sources, known) {
		return
	}
	c.sources = append(c.sources, tool.Source{From: from, Name: name, File: def.File, Scope: def.Scope,
		Digest: tool.DigestOf(text), Text: text, Files: def.Files})
}

// hasGoCode reports whether one of the steps is written in Go. A program may add it to a definition that has a text.
func hasGoCode(steps []*tool.Step) bool {
	return slices.ContainsFunc(steps, func(s *tool.Step) bool {
		_, is := s.Body.(*tool.GoCode)
		return is || hasGoCode(s.Steps())
	})
}

// HistoryText returns the text of a definition that a run stores.
func HistoryText(def *tool.Definition) []byte {
	if def.HistoryText != nil {
		return def.HistoryText
	}
	return def.Source
}

func (c *compiler) result(p *plan.Plan) (*plan.Plan, error) {
	if p != nil && c.Problems.Err() == nil {
		p.Claims = p.FindClaims()
		c.Report(check.LockLevels(p)...)
	}
	ds := c.Problems.Sorted()
	if err := ds.Err(); err != nil {
		return nil, err
	}
	if p == nil { // errors in the definition were reported when it was decoded
		return nil, errors.New("cannot compile the definition: it has errors, or is an alias without a base tool")
	}
	p.Warnings, p.Sources, p.Found = ds, c.sources, c.found
	return p, nil
}

// tool compiles one definition, once for each way it is used. outputRead reports that the output of the tool is read.
// inherited is the interruption setting of the step that uses the tool.
func (c *compiler) tool(def *tool.Definition, outputRead bool, inherited plan.Interrupt) *plan.Plan {
	key := nestedKey{def, outputRead, inherited}
	if p, ok := c.compiled[key]; ok {
		return p
	}
	c.chain = append(c.chain, def.Name)
	defer func() { c.chain = c.chain[:len(c.chain)-1] }()
	def = c.resolveAlias(def)
	if def == nil {
		return nil
	}
	p := &plan.Plan{Definition: def, Callable: c.callables(def), Loops: map[string]bool{}, Scripts: map[string]bool{}}
	t := &toolCompiler{Parser: &c.Parser, plan: p, keptStreams: map[string]steps.Streams{},
		names: texts.NamesOf(def, func(use *tool.ToolUse) *tool.Definition { return c.used(def, use) })}
	t.compile(inherited)
	for _, s := range p.Steps {
		c.setKeptStreams(s, def, t.keptStreams, outputRead)
	}
	markScripts(p)
	c.Report(countSteps(p, c.lib.MaxPlanSteps())...)
	c.Report(check.Artifacts(p, t.artifacts)...)
	c.Report(check.Definition(def, c.release)...)
	c.Report(check.Plan(p)...)
	if c.lib.Live() == c.lib { // nothing starts the recorded definition of a run that is resumed, and the record does not have the other tools
		c.Report(check.Triggers(p, c.find)...)
	}
	if c.Problems.Err() == nil {
		c.Report(check.Examples(p)...)
	}
	if c.Problems.Err() == nil {
		if err := graph.Build(p); err != nil {
			c.Report(check.Errorf("graph", tool.Text{Pos: def.Pos}, "", "%v", err))
		}
	}
	c.compiled[key] = p
	return p
}

// setKeptStreams sets the streams that a step's command or script must keep: those that other steps read (kept, by
// name), and the output if the step is in a loop or if the output of the group or tool that contains it is read
// (output).
func (c *compiler) setKeptStreams(s *plan.Step, def *tool.Definition, kept map[string]steps.Streams, output bool) {
	streams := kept[s.Def.Name]
	if output || s.Loop != nil {
		streams |= steps.Stdout
	}
	if s.RetryWhen != nil {
		for _, r := range s.RetryWhen.Refs() {
			streams |= plan.Read(r)
		}
	}
	if s.RepeatUntil != nil {
		for _, r := range s.RepeatUntil.Refs() {
			if r.Class == expr.Step && r.Root == s.Def.Name {
				streams |= plan.Read(r)
			}
		}
	}
	for _, runner := range []dag.Runner{s.Runner, s.Policy.Fallback} {
		if cmd := plan.CommandOf(runner); cmd != nil {
			cmd.Keep = streams
		}
	}
	if s.Script != nil {
		s.Script.Base.Keep = streams
	}
	switch {
	case s.UsesTool:
		s.Nested = c.nested(def, s, streams&steps.Stdout != 0)
	case s.Nested != nil: // a group
		for _, in := range s.Nested.Steps {
			c.setKeptStreams(in, def, kept, streams&steps.Stdout != 0)
		}
	}
}

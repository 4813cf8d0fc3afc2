package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// writtenFiles is a text that names files which a step writes: an output of its cache, an artifact, or save-as.
type writtenFiles struct {
	step    *plan.Step
	at      tool.Text
	pattern string // clean
	folder  bool   // it ends with /
}

// maxWriters limits how many texts of a list of steps are compared with each other.
const maxWriters = 500

// sharedFiles warns of files that two steps write which may run at the same time, or two items of a loop. Of such a
// file nobody can say whose it is. Texts with references are checked when the steps run.
func sharedFiles(p *plan.Plan) (ds tool.Diagnostics) {
	var before []writtenFiles
	for _, s := range p.Steps {
		if s.Nested != nil && s.Nested.Group {
			ds = append(ds, sharedFiles(s.Nested)...)
		}
		files := filesOf(s)
		if s.Handler != nil || len(files) == 0 || len(before) > maxWriters {
			continue
		}
		if loopShares(s) {
			ds = append(ds, files[0].shared(fmt.Sprintf("the items of %s may run at the same time, and each writes %s", s.Def.Name, files[0].at.S),
				"write the item in the path, or set max-parallel: 1"))
		}
		ds = append(ds, sharedSteps(p.Steps, before, files)...)
		before = append(before, files...)
	}
	return ds
}

// loopShares reports whether the items of a step's loop may run at the same time, in the same directory.
func loopShares(s *plan.Step) bool {
	return s.Loop != nil && s.Loop.Def.MaxParallel != 1 && isStatic(s.Def.WorkingDirectory)
}

// sharedSteps compares the files of one step with those of the steps before it, until one is shared.
func sharedSteps(list []*plan.Step, before, files []writtenFiles) tool.Diagnostics {
	var upstream map[dag.ID]bool
	for _, f := range files {
		for _, b := range before {
			if !b.meets(f) {
				continue
			}
			if upstream == nil {
				upstream = upstreamOf(list, f.step)
			}
			if !upstream[dag.ID(b.step.Def.Name)] {
				return tool.Diagnostics{f.shared(fmt.Sprintf("steps %s and %s may run at the same time, and both write %s (%s: %s in line %d)", b.step.Def.Name, f.step.Def.Name, f.at.S, b.step.Def.Name, b.at.S, b.at.Pos.Line),
					"write different files, or let one step wait for the other")}
			}
		}
	}
	return nil
}

func (f writtenFiles) shared(message, hint string) tool.Diagnostic {
	return tool.Diagnostic{Code: "shared-files", Severity: tool.Warning, Pos: f.at.Pos, Len: max(1, len([]rune(f.at.S))),
		Message: message + ": nobody can say whose the file is", Hint: hint}
}

// filesOf returns the texts without references that name files which the step writes.
func filesOf(s *plan.Step) (list []writtenFiles) {
	var texts []tool.Text
	if s.Def.Cache != nil {
		texts = append(texts, s.Def.Cache.Outputs...)
	}
	for _, a := range s.Def.Artifacts {
		if a.Path != nil {
			texts = append(texts, *a.Path)
		}
	}
	if b, ok := s.Def.Body.(interface{ Saved() *tool.Text }); ok && b.Saved() != nil {
		texts = append(texts, tool.Text{S: cache.Literal(b.Saved().S), Pos: b.Saved().Pos})
	}
	for _, at := range texts {
		if isStatic(&at) && cache.CheckOutput(at.S) == nil {
			list = append(list, writtenFiles{s, at, strings.TrimSuffix(strings.TrimPrefix(at.S, "./"), "/"), strings.HasSuffix(at.S, "/")})
		}
	}
	return list
}

// isStatic reports whether a text has no references. A text with braces may have some.
func isStatic(t *tool.Text) bool { return t == nil || !strings.ContainsAny(t.S, "{") }

// meets reports whether two texts of steps in the same directory certainly name a common file, and neither names it more
// definitely. Steps with conditions may exclude each other.
func (f writtenFiles) meets(g writtenFiles) bool {
	if f.step == g.step || dirOf(f.step) != dirOf(g.step) || f.step.When != nil && g.step.When != nil {
		return false
	}
	return f.pattern == g.pattern || f.contains(g) || g.contains(f)
}

// contains reports whether one text names a folder, and the other files in it, but no single one.
func (f writtenFiles) contains(g writtenFiles) bool {
	if !cache.IsName(f.pattern) || cache.IsName(g.pattern) && !g.folder {
		return false
	}
	inside, _, err := cache.Base(g.pattern)
	if cache.IsName(g.pattern) {
		inside = g.pattern
	}
	return err == nil && (inside == f.pattern || strings.HasPrefix(inside, f.pattern+"/"))
}

func dirOf(s *plan.Step) string {
	if s.Def.WorkingDirectory == nil {
		return ""
	}
	return s.Def.WorkingDirectory.S
}

// upstreamOf returns the steps of a list, and the joins, for which a step waits.
func upstreamOf(list []*plan.Step, s *plan.Step) map[dag.ID]bool {
	after := make(map[dag.ID][]dag.ID, len(list))
	for _, in := range list {
		after[dag.ID(in.Def.Name)] = in.After
		if in.Join != nil {
			after[in.Join.ID] = in.Join.After
		}
	}
	found := map[dag.ID]bool{}
	for rest := slices.Clone(s.After); len(rest) > 0; {
		id := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if !found[id] {
			found[id] = true
			rest = append(rest, after[id]...)
		}
	}
	return found
}

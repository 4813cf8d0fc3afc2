package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// security warns about security settings that have no effect.
func security(p *plan.Plan) (ds tool.Diagnostics) {
	sec := p.Definition.Security
	warn := func(at tool.Pos, path, message, hint string) {
		ds = append(ds, tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: at, Path: path, Message: message, Hint: hint})
	}
	commands := slices.ContainsFunc(p.Steps, func(s *plan.Step) bool { return s.Command != nil })
	if sec.Isolation == "none" && commands {
		warn(sec.IsolationPos, "security.isolation", "isolation: none has the same effect as process", "write process, or remove the key")
	}
	if sec.Image != "" && sec.Isolation != "container" {
		warn(sec.ImagePos, "security.image", "security.image has no effect without a container", "add isolation: container")
	}
	for _, s := range p.Steps {
		if s.Def.Detach && sec.Isolation == "container" {
			warn(s.Def.Pos, "", "detach has no effect in a container: its processes end with the container", "remove detach")
		}
	}
	return ds
}

// heldPlaces warns about questions that keep the locks of a run which has none.
func heldPlaces(p *plan.Plan) (ds tool.Diagnostics) {
	for _, s := range p.Steps {
		if a, asks := s.Def.Body.(*tool.Approve); asks && a.Hold && !p.Queues() {
			ds = append(ds, tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: a.Pos, Path: "approve.hold",
				Message: "hold keeps the locks of a run, and a run of this tool has none", Hint: "add max-active-runs: 1 to the tool, or locks, or remove hold"})
		}
	}
	return ds
}

// filePaths warns about parameters with path: true that file-paths does not rewrite, and about file-paths that have nothing
// to rewrite.
func filePaths(def *tool.Definition) (ds tool.Diagnostics) {
	rewrites := def.FilePaths.Normalize || def.FilePaths.AutoConvert
	some := false
	for _, p := range def.Parameters {
		some = some || p.Path
		if p.Path && !rewrites {
			ds = append(ds, tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: p.Pos, Len: len(p.Name), Path: "parameters." + p.Name + ".path",
				Message: "path has no effect: file-paths of the tool does not rewrite paths",
				Hint:    "set file-paths.normalize or file-paths.cross-platform.auto-convert, or remove it"})
		}
	}
	if rewrites && !some {
		ds = append(ds, tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: def.FilePaths.Pos, Path: "file-paths",
			Message: "file-paths has no effect: it rewrites only parameters with path: true, and there are none",
			Hint:    "add path: true to parameters that are paths"})
	}
	return ds
}

// notifications checks the commands of notifications. Everything else was checked when the definition was decoded.
func notifications(def *tool.Definition) (ds tool.Diagnostics) {
	for i, n := range def.Notify {
		if n.Command == nil {
			continue
		}
		if _, err := expr.Words(n.Command.S); err != nil {
			ds = append(ds, tool.Diagnostic{Code: "bad-notification", Severity: tool.Error, Pos: n.Command.Pos, Len: max(1, len([]rune(n.Command.S))),
				Path: fmt.Sprintf("notify[%d].command", i), Message: "the command of the notification cannot be started: " + err.Error(),
				Hint: "write a program and its arguments; for a script, sh -c '...'"})
		}
	}
	return ds
}

// secrets warns about names in environment.secrets that look like misspelled names of the definition. It is only a
// warning, because the process may have a variable with that name.
func secrets(p *plan.Plan) (ds tool.Diagnostics) {
	names, files := p.NamedInside()
	if files || len(p.EnvFiles) > 0 {
		return nil
	}
	for _, s := range p.Secrets {
		near := diagnostic.Near(s.S, names)
		if slices.Contains(names, s.S) || len(near) == 0 {
			continue
		}
		ds = append(ds, tool.Diagnostic{Code: "unknown-secret", Severity: tool.Warning, Pos: s.Pos, Len: len(s.S),
			Message: fmt.Sprintf("the secret %s masks nothing: the tool has no parameter or variable with this name", s.S),
			Hint:    fmt.Sprintf("did you mean %s? A variable of the flowrun process is masked if it is set", near[0])})
	}
	return ds
}

// LockLevels reports a run that holds locks while its steps wait for others: two such runs could wait for each
// other forever.
func LockLevels(p *plan.Plan) tool.Diagnostics {
	var wide, step *tool.Lock
	for _, t := range p.Tools() {
		if locks := t.Definition.Locks; len(locks) > 0 && wide == nil {
			wide = &locks[0]
		}
	}
	for _, x := range p.Claims {
		if len(x.Locks) > 0 && step == nil {
			step = &x.Locks[0]
		}
	}
	if wide == nil || step == nil {
		return nil
	}
	return tool.Diagnostics{{Code: "two-lock-levels", Severity: tool.Error, Pos: step.Name.Pos, Len: max(1, len([]rune(step.Name.S))),
		Message: fmt.Sprintf("a step cannot wait for the lock %s while its run holds the lock %s: two such runs could wait for each other forever", step.Name.S, wide.Name.S),
		Hint:    "write all locks on the tool, or all of them on steps",
		Related: []tool.Place{{Pos: wide.Name.Pos, Len: len([]rune(wide.Name.S)), Message: "the lock of the tool"}}}}
}

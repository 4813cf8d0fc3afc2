package engine

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/permtrace"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/os/systrace"
)

// checkTrace rejects a run whose permissions should be traced but whose steps cannot be observed.
func (e *Engine) checkTrace(j *job) error {
	if !j.tracePermissions {
		return nil
	}
	var problems []string
	refuse := func(why string) {
		if why = "cannot trace permissions: " + why; !slices.Contains(problems, why) {
			problems = append(problems, why)
		}
	}
	if err := systrace.Available(); err != nil {
		refuse(err.Error())
	}
	j.plan.Demands(confinement.Confinement{}, func(c confinement.Confinement, _, _ string) {
		if c.Image != "" {
			refuse("the processes of a container are not those of flowrun; set isolation: process for this run")
		}
	})
	if len(problems) > 0 {
		return &outcome.ConfinementError{Tool: j.plan.Name(), Problems: problems}
	}
	return nil
}

// traceOptions describes the run to a Recorder.
func (j *job) traceOptions(stateDir string) permtrace.Options {
	w := j.args.RunEnv
	workspace, home := permission.RealPath(w.Workspace), permission.RealPath(w.Home)
	o := permtrace.Options{Granted: call.Permissions(j.plan, j.args), Places: permtrace.Places{Workspace: workspace, Home: home},
		Run: j.id, Variables: j.mentionedVariables()}
	if stateDir != "" {
		o.StateDir = permission.RealPath(stateDir)
	}
	for _, name := range slices.Sorted(maps.Keys(j.args.Values)) {
		if text, ok := j.args.Values[name].V.(string); ok && strings.ContainsAny(text, "/.") && !j.plan.Secret(name) {
			o.Names = append(o.Names, permtrace.Name{Text: "{" + name + "}", Path: permission.RealPath(w.Resolve("", text))})
		}
	}
	o.Names = append(o.Names, permtrace.Name{Text: "{WORKSPACE}", Path: workspace},
		permtrace.Name{Text: "{TEMP}", Path: permission.RealPath(w.Temp)}, permtrace.Name{Text: "~", Path: home})
	return o
}

// variablePattern matches how commands name an environment variable: $NAME, ${NAME, $env:NAME, process.env.NAME,
// os.environ["NAME"], getenv("NAME").
const variablePattern = `(?:\$\{?|\benv[.:]|environ(?:\.get\(|\[)["']|getenv\(["'])([A-Za-z_][A-Za-z0-9_]*)`

// mentionedVariables returns the inherited environment variables that the definitions of the run mention and do not set.
func (j *job) mentionedVariables() (list []string) {
	set := map[string]bool{}
	for _, kv := range j.args.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		set[name] = true
	}
	pattern := regexp.MustCompile(variablePattern)
	for _, s := range j.plan.Sources {
		for _, m := range pattern.FindAllSubmatch(s.Text, -1) {
			name := string(m[1])
			if j.args.RunEnv.Vars[name] != "" && !set[name] && !confinement.IsBaseVariable(name) {
				set[name], list = true, append(list, name)
			}
		}
	}
	return list
}

// reportPermissions adds the report to the result, and keeps it with the run.
func (j *job) reportPermissions(res *runresult.Result) error {
	if !j.tracePermissions {
		return nil
	}
	res.Permissions = j.permissions.Report()
	for _, list := range [][]string{res.Permissions.Needed, res.Permissions.Unused} {
		for i := range list {
			list[i] = j.session.Mask().String(list[i])
		}
	}
	if j.logs == "" {
		return nil
	}
	kept := permtrace.Record{Run: j.id, File: j.plan.Definition.Pos.File, Report: *res.Permissions}
	for _, p := range j.plan.Permissions {
		kept.Granted = append(kept.Granted, p.Written)
	}
	return kept.Save(filepath.Dir(j.logs))
}

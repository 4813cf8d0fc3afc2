package github

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// job adds the group of a job.
func (r *reader) job(j importer.Pair, c context) {
	what := "job " + j.Key
	name := r.jobs[j.Key]
	if name == "" {
		r.result.Add(what, j.Line, "", importer.LeftOut, "it has no run step")
		return
	}
	c.env, c.lost = maps.Clone(c.env), c.lost.clone()
	c.matrix = map[string][]string{}
	g := &importer.Step{Name: name, WaitFor: []string{}}
	var vars []importer.Variable
	var secrets []string
	var changed, differs []string
	note := func(format string) { g.Notes = append(g.Notes, format) }
	leave := func(key string, line int, reason string) {
		r.result.Add(what+": "+key, line, r.tool.Name+"/"+name, importer.LeftOut, "%s", reason)
		note("Left out: " + key + ": " + reason + ".")
	}
	if why := c.strategy(j.Get("strategy"), g); why != "" {
		r.result.Add(what, j.Line, "", importer.LeftOut, "its matrix: %s", why)
		delete(r.jobs, j.Key)
		return
	}
	for _, p := range j.Pairs() {
		switch p.Key {
		case "steps", "strategy", "name", "permissions":
		case "runs-on":
			changed = append(changed, "it runs on this machine, not on "+short(strings.Join(p.Texts(), " ")))
		case "needs":
			for _, n := range p.Texts() {
				if why := r.notWaiting(n); why != "" {
					differs = append(differs, "it does not wait for the job "+n+", "+why)
					continue
				}
				g.WaitFor = append(g.WaitFor, r.jobs[n])
			}
		case "env":
			// A group cannot set variables, so each of its steps does.
			vars, secrets = c.environment(p.Node, what+": env")
		case "defaults":
			c.defaults(p.Node)
		case "timeout-minutes":
			text, why := minutes(p.Node)
			if why != "" {
				leave(p.Key, p.Line, why)
			}
			g.Timeout = text
		case "continue-on-error":
			if p.Text() != "true" && p.Text() != "false" {
				leave(p.Key, p.Line, "flowrun does not evaluate it")
			}
			g.Tolerate = p.True()
		case "if":
			when, why := c.condition(p.Text())
			if why != "" {
				r.result.Add(what, j.Line, "", importer.LeftOut, "its condition: %s", why)
				r.tool.Notes = append(r.tool.Notes, "Left out: the job "+j.Key+", because of its condition: "+short(p.Text()))
				delete(r.jobs, j.Key)
				return
			}
			g.When = when
		default:
			leave(p.Key, p.Line, "flowrun has no counterpart")
		}
	}
	names := map[string]bool{}
	for i, s := range j.Get("steps").Items() {
		c.step(s, i+1, g, names, what)
	}
	if len(g.Steps) == 0 {
		r.result.Add(what, j.Line, "", importer.LeftOut, "none of its steps could be carried over")
		delete(r.jobs, j.Key)
		return
	}
	for _, s := range g.Steps {
		s.Environment, s.Secrets = merge(vars, secrets, s)
	}
	differs = append(differs, c.lost.reasons()...)
	if len(g.Matrix)+len(g.Include) > 0 {
		differs = append(differs, "all combinations run on this machine, in one folder and at the same time unless max-parallel limits them; no value selects an operating system")
	}
	for _, why := range differs {
		changed = append(changed, why)
		note("Changed: " + why + ".")
	}
	r.tool.Steps = append(r.tool.Steps, g)
	r.result.Outcome(what, j.Line, r.tool.Name+"/"+name, changed)
}

// merge returns the variables and secrets of a job together with those of a step, which win.
func merge(vars []importer.Variable, secrets []string, s *importer.Step) ([]importer.Variable, []string) {
	own := map[string]bool{}
	for _, v := range s.Environment {
		own[v.Name] = true
	}
	for _, name := range s.Secrets {
		own[name] = true
	}
	vars = slices.DeleteFunc(slices.Clone(vars), func(v importer.Variable) bool { return own[v.Name] })
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(name string) bool { return own[name] })
	return append(vars, s.Environment...), append(secrets, s.Secrets...)
}

// strategy reads the matrix of a job.
func (c *context) strategy(n importer.Node, g *importer.Step) (why string) {
	if !n.Exists() {
		return ""
	}
	m := n.Get("matrix")
	if !m.IsMap() {
		return "its values are known only when it runs"
	}
	for _, p := range m.Pairs() {
		if p.Key == "include" || p.Key == "exclude" {
			for _, one := range p.Items() {
				var vars []importer.Variable
				for _, v := range one.Pairs() {
					if !v.IsScalar() || strings.Contains(v.Text(), "${{") || !importer.ValidVariable(strings.ReplaceAll(v.Key, "-", "_")) {
						return "a value is not a plain text"
					}
					vars = append(vars, importer.Variable{Name: v.Key, Value: v.Text()})
					if p.Key == "include" {
						c.matrix[v.Key] = append(c.matrix[v.Key], v.Text())
					}
				}
				if p.Key == "include" {
					g.Include = append(g.Include, vars)
				} else {
					g.Exclude = append(g.Exclude, vars)
				}
			}
			continue
		}
		a := importer.Axis{Name: p.Key}
		if !p.IsList() || !importer.ValidVariable(strings.ReplaceAll(p.Key, "-", "_")) {
			return "the values of " + p.Key + " are known only when it runs"
		}
		for _, v := range p.Items() {
			if !v.IsScalar() || strings.Contains(v.Text(), "${{") {
				return "a value of " + p.Key + " is not a plain text"
			}
			a.Values = append(a.Values, v.Text())
		}
		if len(a.Values) == 0 {
			return p.Key + " has no values"
		}
		c.matrix[p.Key] = append(c.matrix[p.Key], a.Values...)
		g.Matrix = append(g.Matrix, a)
	}
	if f := n.Get("fail-fast"); !f.Exists() || f.True() {
		g.FailFast = true
	} else if f.Text() != "false" {
		return "fail-fast is known only when it runs"
	}
	if p := n.Get("max-parallel"); p.Exists() {
		v, err := strconv.Atoi(p.Text())
		if err != nil || v < 1 {
			return "max-parallel is not a number"
		}
		g.MaxParallel = v
	}
	return ""
}

// step adds a step of a job to its group.
func (c *context) step(s importer.Node, n int, g *importer.Step, names map[string]bool, what string) {
	label := s.Get("name").Text()
	if label == "" {
		label = s.Get("id").Text()
	}
	if strings.Contains(label, "${{") || label == "" {
		label = "step " + strconv.Itoa(n)
	}
	what += ": " + label
	leave := func(reason string) {
		c.result.Add(what, s.Line(), "", importer.LeftOut, "%s", reason)
		g.Notes = append(g.Notes, "Left out: "+label+": "+reason+".")
		c.leave(s, label)
	}
	if u := s.Get("uses"); u.Exists() {
		leave("it uses " + short(u.Text()) + ", and flowrun does not run actions")
		return
	}
	if !s.Get("run").Exists() {
		leave("it has no command")
		return
	}
	run, changed, why := c.expand(s.Get("run").Text())
	if why != "" {
		leave("its command: " + why)
		return
	}
	inner := *c
	inner.env, inner.lost = maps.Clone(c.env), c.lost.clone()
	out := &importer.Step{Script: run}
	shell, dir := c.shell, c.dir
	var reasons []string
	if changed {
		reasons = append(reasons, "a value is always one word, and the shell never reads it as code")
	}
	for _, p := range s.Pairs() {
		switch p.Key {
		case "name", "id", "run":
		case "shell":
			shell = p.Text()
		case "working-directory":
			dir = p.Text()
		case "env":
			before := len(c.result.Rows)
			out.Environment, out.Secrets = inner.environment(p.Node, what+": env")
			for _, r := range c.result.Rows[before:] {
				if r.Status == importer.LeftOut {
					leave("its variable " + strings.TrimPrefix(r.What, what+": env ") + " could not be carried over")
					return
				}
			}
			// A value of the step's own env is fixed too.
			if again, _, why := inner.expand(s.Get("run").Text()); why == "" {
				out.Script = again
			}
		case "timeout-minutes":
			out.Timeout, why = minutes(p.Node)
		case "continue-on-error":
			if out.Tolerate = p.True(); p.Text() != "true" && p.Text() != "false" {
				why = "flowrun does not evaluate its continue-on-error"
			}
		case "if":
			out.When, why = c.condition(p.Text())
		default:
			why = "flowrun has no counterpart for " + p.Key
		}
		if why != "" {
			leave(why)
			return
		}
	}
	if out.Dir, _, why = c.expand(dir); why != "" {
		leave(why)
		return
	}
	for _, word := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY", "GITHUB_STATE", "::set-output"} {
		if strings.Contains(run, word) {
			leave("it writes to " + word)
			return
		}
	}
	if strings.Contains(run, "$GITHUB_") || strings.Contains(run, "${GITHUB_") || strings.Contains(run, "$RUNNER_") || strings.Contains(run, "${RUNNER_") {
		leave("it reads variables that only GitHub sets")
		return
	}
	if why := inner.lost.of(s.Get("run").Text(), dir); why != "" {
		leave(why)
		return
	}
	differs := c.lost.reasons()
	reasons = append(reasons, differs...)
	for _, why := range differs {
		out.Notes = append(out.Notes, "Changed: "+why+".")
	}
	if why := setShell(out, shell); why != "" {
		leave(why)
		return
	}
	out.Name = importer.Unique(c.names, importer.Name(label))
	g.Steps = append(g.Steps, out)
	c.result.Outcome(what, s.Line(), c.tool.Name+"/"+g.Name+"/"+out.Name, reasons)
}

// setShell makes a script do what the runner does for a shell.
func setShell(s *importer.Step, shell string) (why string) {
	switch path.Base(strings.TrimSpace(shell)) {
	case ".", "":
		s.Shell, s.Script = "bash", "set -e\n"+s.Script
	case "bash":
		s.Shell, s.Script = "bash", "set -eo pipefail\n"+s.Script
	case "sh":
		s.Shell, s.Script = "sh", "set -e\n"+s.Script
	case "python":
		s.Shell = "python"
	default:
		return "flowrun has no steps for the shell " + short(shell)
	}
	return ""
}

// condition returns the condition of flowrun for an if.
func (c *context) condition(s string) (when, why string) {
	e := strings.TrimSpace(s)
	if strings.HasPrefix(e, "${{") && strings.HasSuffix(e, "}}") && strings.Count(e, "${{") == 1 {
		e = strings.TrimSpace(e[3 : len(e)-2])
	}
	switch e {
	case "always()", "failure()", "cancelled()", "success()":
		return e, ""
	case "!cancelled()":
		return "success() || failure()", ""
	case "true":
		return "", ""
	}
	for _, op := range []string{"==", "!="} {
		left, right, ok := strings.Cut(e, op)
		left, right = strings.TrimSpace(left), strings.TrimSpace(right)
		scope, name, _ := strings.Cut(left, ".")
		literal := len(right) >= 2 && right[0] == '\'' && right[len(right)-1] == '\'' && importer.Plain(right[1:len(right)-1])
		switch {
		case !ok || !literal:
		case scope == "matrix" && c.matrix[name] != nil, scope == "inputs" && c.params[name]:
			if scope == "inputs" {
				left = name
			}
			// == of GitHub ignores case.
			if strings.ToLower(right) != strings.ToUpper(right) {
				for _, v := range c.matrix[name] {
					if v != right[1:len(right)-1] && strings.EqualFold(v, right[1:len(right)-1]) {
						return "", "its comparison ignores case"
					}
				}
			}
			return "'" + importer.Ref(left) + "' " + op + " " + right, ""
		}
	}
	return "", "flowrun does not evaluate " + short(e)
}

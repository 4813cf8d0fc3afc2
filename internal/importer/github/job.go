package github

import (
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// job is a job that is being read, and its group.
type job struct {
	context
	importer.Pair
	what    string // in the table
	group   *importer.Step
	vars    []importer.Variable // a group cannot set variables, so each of its steps does
	secrets []string
	changed []string // how the group differs
	noted   []string // likewise; a comment says so too
}

// job adds the group of a job.
func (r *reader) job(p importer.Pair, c context) {
	c.env, c.lost, c.matrix = maps.Clone(c.env), c.lost.clone(), map[string][]string{}
	j := &job{context: c, Pair: p, what: "job " + p.Key, group: &importer.Step{Name: r.jobs[p.Key], WaitFor: []string{}}}
	if why := j.read(); why != "" {
		r.result.Add(j.what, p.Line, "", importer.LeftOut, "%s", why)
		delete(r.jobs, p.Key)
		return
	}
	for _, s := range j.group.Steps {
		s.Environment, s.Secrets = merge(j.vars, j.secrets, s)
	}
	j.noted = append(j.noted, j.lost.reasons()...)
	if len(j.group.Matrix)+len(j.group.Include) > 0 {
		j.noted = append(j.noted, "all combinations run on this machine, in one folder and at the same time unless max-parallel limits them; no value selects an operating system")
	}
	for _, why := range j.noted {
		j.group.Notes = append(j.group.Notes, "Changed: "+why+".")
	}
	r.tool.Steps = append(r.tool.Steps, j.group)
	r.result.Outcome(j.what, p.Line, r.tool.Name+"/"+j.group.Name, append(j.changed, j.noted...))
}

// read fills the group. It returns why the job is left out.
func (j *job) read() (why string) {
	if j.group.Name == "" {
		return "it has no run step"
	}
	if why := j.strategy(j.Get("strategy"), j.group); why != "" {
		return "its matrix: " + why
	}
	for _, p := range j.Pairs() {
		if why := j.key(p); why != "" {
			return why
		}
	}
	for i, s := range j.Get("steps").Items() {
		j.step(s, i+1, j.group, j.what)
	}
	if len(j.group.Steps) == 0 {
		return "none of its steps could be carried over"
	}
	return ""
}

// key reads a key of the job. It returns why the whole job is left out.
func (j *job) key(p importer.Pair) (why string) {
	switch p.Key {
	case "steps", "strategy", "name", "permissions":
	case "runs-on":
		j.changed = append(j.changed, "it runs on this machine, not on "+short(strings.Join(p.Texts(), " ")))
	case "needs":
		j.needs(p.Texts())
	case "env":
		j.vars, j.secrets = j.environment(p.Node, j.what+": env")
	case "defaults":
		j.defaults(p.Node)
	case "timeout-minutes":
		text, why := minutes(p.Node)
		if why != "" {
			j.without(p, why)
		}
		j.group.Timeout = text
	case "continue-on-error":
		if p.Text() != "true" && p.Text() != "false" {
			j.without(p, "flowrun does not evaluate it")
		}
		j.group.Tolerate = p.True()
	case "if":
		when, why := j.condition(p.Text())
		if why != "" {
			j.tool.Notes = append(j.tool.Notes, "Left out: the job "+j.Key+", because of its condition: "+short(p.Text()))
			return "its condition: " + why
		}
		j.group.When = when
	default:
		j.without(p, "flowrun has no counterpart")
	}
	return ""
}

// without leaves out a key of the job.
func (j *job) without(p importer.Pair, reason string) {
	j.result.Add(j.what+": "+p.Key, p.Line, j.tool.Name+"/"+j.group.Name, importer.LeftOut, "%s", reason)
	j.group.Notes = append(j.group.Notes, "Left out: "+p.Key+": "+reason+".")
}

func (j *job) needs(jobs []string) {
	for _, n := range jobs {
		if why := j.notWaiting(n); why != "" {
			j.noted = append(j.noted, "it does not wait for the job "+n+", "+why)
			continue
		}
		j.group.WaitFor = append(j.group.WaitFor, j.jobs[n])
	}
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

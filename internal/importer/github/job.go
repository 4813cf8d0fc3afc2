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
	what     string // in the table
	group    *importer.Step
	box      *importer.Container
	vars     []importer.Variable // a group cannot set variables, so each of its steps does
	secrets  []string
	changed  []string // how the group differs
	noted    []string // likewise; a comment says so too
	prepared []string // the steps that are left out and only prepare the machine
	gap      string   // the first other step that is left out
}

// job adds the group of a job.
func (r *reader) job(p importer.Pair, c context) {
	c.env, c.lost, c.matrix, c.outputs = maps.Clone(c.env), c.lost.Clone(), map[string][]string{}, map[string]written{}
	j := &job{context: c, Pair: p, what: "job " + p.Key, group: &importer.Step{Name: r.jobs[p.Key], WaitFor: []string{}}}
	rows := len(r.result.Rows)
	if why := p.Unit(j.read); why != "" {
		r.result.DropSince(rows, "its job is left out")
		r.result.Add(j.what, p.Line, "", importer.LeftOut, "%s", why)
		r.tool.Notes = append(r.tool.Notes, "Left out: the job "+p.Key+": "+why+".")
		r.lost.Part(p.Key, "")
		return
	}
	if j.gap != "" {
		r.lost.Incomplete(p.Key, j.gap)
	}
	for _, s := range j.group.Steps {
		s.Environment, s.Secrets = merge(j.vars, j.secrets, s)
		s.Container = j.box
	}
	j.noted = append(j.noted, j.differs()...)
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
	if j.Get("uses").Exists() {
		return "it calls another workflow"
	}
	if !slices.ContainsFunc(j.Get("steps").Items(), func(s importer.Node) bool { return s.Get("run").Exists() }) {
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
	if why := j.container(); why != "" {
		return why
	}
	for i, s := range j.Get("steps").Items() {
		j.step(s, i+1)
	}
	if len(j.group.Steps) == 0 {
		return "none of its steps could be carried over"
	}
	return ""
}

// key reads a key of the job. It returns why the whole job is left out: a key without a counterpart, such as environment,
// may guard it.
func (j *job) key(p importer.Pair) (why string) {
	switch p.Key {
	case "steps", "strategy", "container", "services":
	case "name":
		p.Text()
	case "permissions":
		permissions(p.Node)
	case "runs-on":
		j.changed = append(j.changed, "it runs on this machine, not on "+short(runner(p.Node)))
	case "needs":
		return j.needs(p.Texts())
	case "env":
		j.vars, j.secrets = j.environment(p.Node, j.what+": env", false)
	case "defaults":
		j.defaults(p.Node)
	case "timeout-minutes":
		j.group.Timeout, why = minutes(p.Node)
	case "continue-on-error":
		j.group.Tolerate = p.True()
	case "concurrency":
		j.changed = append(j.changed, j.oneAtATime(p.Node))
	case "outputs": // what reads them is left out by itself
		reason := "flowrun does not evaluate outputs of a job"
		j.result.Add(j.what+": outputs", p.Line, "", importer.LeftOut, "%s", reason)
		j.group.Notes = append(j.group.Notes, "Left out: outputs: "+reason+".")
	case "if":
		if j.group.When, why = j.condition(p.Text()); why != "" {
			why = "its condition: " + why
		}
	default:
		why = "flowrun has no counterpart for " + p.Key
	}
	return why
}

// runner returns the labels of a runner.
func runner(n importer.Node) string {
	if n.IsMap() {
		n = n.Get("labels")
	}
	return strings.Join(n.Texts(), " ")
}

// needs makes the group wait for other jobs. It returns why the job is left out.
func (j *job) needs(jobs []string) (why string) {
	for _, n := range jobs {
		switch why := j.reader.lost.Needs(n); {
		case why != "":
			return why
		case !j.begun[n]:
			return "it needs " + n + ", which is not in the file"
		case !j.done[n]:
			return "its needs form a cycle"
		}
		j.group.WaitFor = append(j.group.WaitFor, j.jobs[n])
	}
	return ""
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

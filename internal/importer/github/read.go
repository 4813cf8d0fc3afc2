// Package github reads workflows of GitHub Actions for flowrun import. A workflow becomes a tool, a job a group of steps.
package github

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

type reader struct {
	result importer.Result
	budget importer.Budget
	tool   *importer.Tool
	jobs   map[string]string // the names of the groups
	begun  map[string]bool   // the jobs of the file that were reached
	done   map[string]bool   // the jobs that were read
	names  map[string]bool
	params map[string]bool
	lost   importer.Lost // the jobs that are left out
	bad    string        // why the whole workflow is left out
}

// Read reads a workflow.
func Read(file string, src []byte) (*importer.Result, error) {
	doc, err := importer.ParseYAML(file, src)
	if err != nil {
		return nil, err
	}
	r := &reader{jobs: map[string]string{}, begun: map[string]bool{}, done: map[string]bool{}, names: map[string]bool{}, params: map[string]bool{}}
	name := doc.Get("name").Text()
	if name == "" {
		name = "workflow"
	}
	r.tool = &importer.Tool{Name: importer.Name(strings.ToLower(name)), Description: "The workflow " + name}
	c := context{reader: r, env: map[string]string{}}
	for _, p := range doc.Pairs() {
		r.top(p, &c)
	}
	jobs := doc.Get("jobs").Pairs()
	for _, j := range jobs { // names first: needs may name a job further down
		r.jobs[j.Key] = importer.Unique(r.names, importer.Name(j.Key))
	}
	for _, j := range jobs {
		r.inOrder(j, jobs, c)
	}
	if r.bad == "" && len(r.tool.Steps) == 0 {
		r.bad = "it has no run step that flowrun can carry out"
	}
	if r.bad != "" {
		r.result.DropSince(0, "the workflow is left out")
		r.result.Add("workflow", 1, "", importer.LeftOut, "%s", r.bad)
		return &r.result, doc.Faults()
	}
	if len(r.tool.Steps) > 1 || len(jobs) > 1 {
		r.tool.Notes = append(r.tool.Notes, "Changed: all jobs run on this machine, in the same folder.")
	}
	r.result.Tools = []*importer.Tool{r.tool}
	r.result.Outcome("workflow", 1, r.tool.Name, []string{"jobs run on this machine and share its folder and environment; nothing is checked out"})
	return &r.result, doc.Faults()
}

// top reads a key of the workflow.
func (r *reader) top(p importer.Pair, c *context) {
	none := []string{"flowrun needs no counterpart"}
	switch p.Key {
	case "name", "jobs":
	case "on", "true":
		r.triggers(p.Node)
	case "env":
		r.tool.Environment, r.tool.Secrets = c.environment(p.Node, "env", false)
	case "defaults":
		c.defaults(p.Node)
	case "concurrency":
		r.result.Outcome(p.Key, p.Line, r.tool.Name, []string{r.oneAtATime(p.Node)})
	case "permissions":
		permissions(p.Node)
		r.result.Outcome(p.Key, p.Line, "", none)
	case "run-name":
		p.Text()
		r.result.Outcome(p.Key, p.Line, "", none)
	default:
		r.bad = "flowrun has no counterpart for " + p.Key
	}
}

// permissions reads the permissions of a token that flowrun does not make: a word, or a mapping.
func permissions(n importer.Node) {
	if !n.IsMap() {
		n.Text()
	}
}

// oneAtATime limits the tool as concurrency does, and returns how that differs.
func (r *reader) oneAtATime(n importer.Node) string {
	if n.IsMap() {
		n = n.Get("group")
	}
	n.Text()
	r.tool.MaxActiveRuns = 1
	return "concurrency: the tool runs once at a time, and other runs of it wait; the name of the group does not count"
}

// inOrder reads a job after the jobs that it needs: only then is known which of them are left out.
func (r *reader) inOrder(j importer.Pair, jobs []importer.Pair, c context) {
	if r.begun[j.Key] {
		return
	}
	r.begun[j.Key] = true
	needs := j.Get("needs").Texts()
	for _, other := range jobs {
		if slices.Contains(needs, other.Key) {
			r.inOrder(other, jobs, c)
		}
	}
	r.job(j, c)
	r.done[j.Key] = true
}

// Package github reads workflows of GitHub Actions for flowrun import. A workflow becomes a tool, a job a group of steps.
package github

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/cron"
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
	r.tool = &importer.Tool{Name: importer.Name(strings.ToLower(name)), Line: 1, Description: "The workflow " + name}
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

func (r *reader) triggers(on importer.Node) {
	if !on.IsMap() {
		for _, t := range on.Items() {
			r.event(t.Text(), t.Line())
		}
		return
	}
	for _, p := range on.Pairs() {
		switch p.Key {
		case "schedule":
			for _, s := range p.Items() {
				text := s.Get("cron").Text()
				if _, err := cron.Parse(text, cron.Options{}); err != nil {
					r.result.Add("schedule "+text, s.Line(), "", importer.LeftOut, "flowrun cannot use it")
					continue
				}
				r.tool.Schedules = append(r.tool.Schedules, importer.Schedule{Cron: text, Timezone: "UTC"})
				r.result.Outcome("schedule "+text, s.Line(), r.tool.Name, nil)
			}
		case "workflow_dispatch":
			r.inputs(p.Get("inputs"))
		default:
			r.event(p.Key, p.Line)
		}
	}
}

// event adds the row of an event. A person can start every tool; flowrun does not know the other events.
func (r *reader) event(name string, line int) {
	if name == "workflow_dispatch" {
		r.result.Outcome("on: "+name, line, "", nil)
		return
	}
	r.result.Add("on: "+name, line, "", importer.LeftOut, "start the tool with flowrun run or the API")
}

// inputs become parameters, which steps find in placeholders.
func (r *reader) inputs(inputs importer.Node) {
	for _, p := range inputs.Pairs() {
		if !importer.ValidVariable(strings.ReplaceAll(p.Key, "-", "_")) || importer.Name(p.Key) != p.Key {
			r.result.Add("input "+p.Key, p.Line, "", importer.LeftOut, "its name is not possible in flowrun")
			continue
		}
		d := p.Get("default")
		prm := importer.Parameter{Name: p.Key, Description: p.Get("description").Text(), Default: d.Text(), HasDefault: d.Exists() || !p.Get("required").True()}
		r.params[p.Key], r.names[strings.ToLower(p.Key)] = true, true
		reasons := values(p.Node, &prm)
		r.tool.Parameters = append(r.tool.Parameters, prm)
		r.result.Outcome("input "+p.Key, p.Line, r.tool.Name, reasons)
	}
}

// values limits a parameter to the values that the type of an input allows. It returns how the parameter differs.
func values(input importer.Node, prm *importer.Parameter) (reasons []string) {
	kind, options := input.Get("type").Text(), input.Get("options").Texts()
	switch kind {
	case "", "string":
		return nil
	case "choice":
		prm.Enum = options
	case "boolean":
		prm.Enum = []string{"false", "true"}
	}
	if len(prm.Enum) > 0 && !input.Get("default").Exists() {
		prm.HasDefault = !input.Get("required").True()
		prm.Default = prm.Enum[0]
	}
	return []string{"its type is text"}
}

// context is what surrounds a step: variables, the shell and the folder.
type context struct {
	*reader
	env     map[string]string // variables with a fixed value
	shell   string
	dir     string
	matrix  map[string][]string
	lost    importer.Lost      // variables, and steps above
	outputs map[string]written // of the steps above, by id
}

func (c *context) defaults(n importer.Node) {
	if s := n.Get("run").Get("shell"); s.Exists() {
		c.shell = s.Text()
	}
	if d := n.Get("run").Get("working-directory"); d.Exists() {
		c.dir = d.Text()
	}
}

// environment reads env and returns the variables, and the names of those that are secrets of the same name.
// inStep says that they are those of a step, whose values can have placeholders.
func (c *context) environment(n importer.Node, what string, inStep bool) (vars []importer.Variable, secrets []string) {
	for _, p := range n.Pairs() {
		if s := secretRef(p.Text()); s != "" {
			if s != p.Key {
				delete(c.env, p.Key)
				c.lost.Variable(p.Key, "is a secret of another name")
				c.result.Add(what+" "+p.Key, p.Line, "", importer.LeftOut, "a secret of another name: write it in environment.secrets")
				continue
			}
			delete(c.env, p.Key)
			c.lost.Set(p.Key)
			secrets = append(secrets, s)
			c.result.Outcome(what+" "+p.Key, p.Line, "", []string{"the secret is the environment variable " + s})
			continue
		}
		value, _, why := c.expand(p.Text())
		if why != "" || !importer.ValidVariable(p.Key) || strings.Contains(value, "\x01") && !inStep {
			if why == "" {
				why = "its value is known only when it runs"
			}
			delete(c.env, p.Key)
			c.lost.Variable(p.Key, "could not be carried over")
			c.result.Add(what+" "+p.Key, p.Line, "", importer.LeftOut, "%s", why)
			continue
		}
		if c.env[p.Key] = value; strings.Contains(value, "\x01") {
			delete(c.env, p.Key)
		}
		c.lost.Set(p.Key)
		vars = append(vars, importer.Variable{Name: p.Key, Value: value})
	}
	return vars, secrets
}

func secretRef(s string) string {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "${{") || !strings.HasSuffix(s, "}}") {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(s[3:len(s)-2]), "secrets.")
	if !ok || !importer.ValidVariable(name) {
		return ""
	}
	return name
}

// expand replaces ${{ ... }}. changed says that a value which is not fixed is protected from the shell.
func (c *context) expand(s string) (text string, changed bool, why string) {
	var b strings.Builder
	for {
		i := strings.Index(s, "${{")
		if i < 0 {
			return b.String() + s, changed, ""
		}
		to := strings.Index(s[i:], "}}")
		if to < 0 {
			return "", false, "a ${{ has no end"
		}
		b.WriteString(s[:i])
		e := strings.TrimSpace(s[i+3 : i+to])
		scope, name, _ := strings.Cut(e, ".")
		value, known := c.env[name]
		switch {
		case scope == "env" && known:
			if why := c.budget.Spend(len(value)); why != "" {
				return "", false, why
			}
			b.WriteString(value)
		case scope == "matrix" && c.matrix[name] != nil:
			b.WriteString(importer.Ref(e))
			changed = changed || slices.ContainsFunc(c.matrix[name], func(v string) bool { return !importer.Plain(v) })
		case (scope == "inputs" || strings.HasPrefix(e, "github.event.inputs.")) && c.params[strings.TrimPrefix(name, "event.inputs.")]:
			b.WriteString(importer.Ref(strings.TrimPrefix(name, "event.inputs.")))
			changed = true
		case c.output(e) != "":
			b.WriteString(c.output(e))
			changed = true
		case e == "github.workspace":
			b.WriteString(importer.Ref("WORKSPACE"))
		default:
			return "", false, "flowrun does not evaluate ${{ " + short(e) + " }}"
		}
		s = s[i+to+2:]
	}
}

func short(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if r := []rune(s); len(r) > 50 {
		return string(r[:47]) + "..."
	}
	return s
}

func minutes(n importer.Node) (text, why string) {
	m, err := strconv.ParseFloat(n.Text(), 64)
	if err != nil || m <= 0 || m > 1e6 {
		return "", fmt.Sprintf("timeout-minutes is %q, not a number", short(n.Text()))
	}
	return fmt.Sprintf("%ds", int(m*60)), ""
}

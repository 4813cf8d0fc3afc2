package dagu

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// stepNode is a step of the file with its name.
type stepNode struct {
	importer.Node
	name string
}

// get returns the value of a key. A step can also be its command, or a list of commands.
func (s stepNode) get(key string) importer.Node {
	if !s.IsMap() {
		return importer.Node{}
	}
	return s.Get(key)
}

// stepNodes returns the steps of a list, or of a mapping from names to steps.
func stepNodes(n importer.Node) []stepNode {
	var list []stepNode
	if n.IsMap() {
		for _, p := range n.Pairs() {
			list = append(list, stepNode{p.Node, p.Key})
		}
		return list
	}
	for i, s := range n.Items() {
		step := stepNode{Node: s}
		step.name = cmp.Or(step.get("name").Text(), step.get("id").Text(), "step-"+strconv.Itoa(i+1))
		list = append(list, step)
	}
	return list
}

// step returns a step, or why it cannot be carried over.
// outputs are the variables that it finds, with the steps that set them.
func (r *reader) step(n stepNode, outputs map[string]string) (*importer.Step, string) {
	s := &importer.Step{Name: r.names[n.name], Shell: r.shell}
	if s.Name == "" {
		s.Name = importer.Unique(r.taken, importer.Name(n.name))
	}
	switch {
	case n.IsList():
		return nil, "it is a list of commands that run at the same time"
	case !n.IsMap(): // a step can be its command
		s.Script = n.Text()
		if why := r.defaultShell(s); why != "" {
			return nil, why
		}
		return s, r.finish(s, outputs)
	}
	for _, p := range n.Pairs() {
		if why := r.stepKey(s, n, p); why != "" {
			return nil, why
		}
	}
	if why := r.script(s, n); why != "" {
		return nil, why
	}
	return s, r.finish(s, outputs)
}

// stepKey reads a key of a step. It returns why the step cannot be carried over.
func (r *reader) stepKey(s *importer.Step, n stepNode, p importer.Pair) (why string) {
	switch key(p.Key) {
	case "description":
		p.Text()
	case "name", "id", "depends", "args":
	case "command", "run", "cmd", "script":
		return command(s, n, p)
	case "shell":
		if s.Shell = shellOf(p.Node); s.Shell == "" {
			return "flowrun has no steps for the shell " + short(strings.Join(p.Texts(), " "))
		}
	case "dir", "workingdir":
		ok := false
		if s.Dir, ok = r.expand(p.Text()); !ok {
			return "its folder is known only when it runs"
		}
	case "env":
		ofAll := maps.Clone(r.fixed)
		s.Environment = append(s.Environment, r.variables(p.Node, "step "+n.name+": env")...)
		r.fixed = ofAll
	case "output":
		if !p.IsScalar() {
			return "its output has a form that is not understood"
		}
		name := strings.TrimPrefix(p.Text(), "$")
		if !importer.ValidVariable(name) {
			return "its output has a form that is not understood"
		}
		r.outputs[name] = s.Name
	case "retrypolicy":
		return retry(s, p.Node)
	case "continueon":
		return tolerate(s, p.Node)
	case "timeoutsec":
		return seconds(p.Node, &s.Timeout)
	case "preconditions", "precondition":
		if n.Get("env").Exists() {
			return "flowrun does not evaluate preconditions of a step that has env"
		}
		return r.precondition(s, p.Node)
	case "stdout", "stderr", "mailonerror":
		return "flowrun has no counterpart for " + p.Key + "; redirect the output in the command"
	default:
		return "flowrun has no counterpart for " + p.Key
	}
	return ""
}

// tolerate reads continueOn. What it says of a skipped step is for the steps below: see runsOn.
func tolerate(s *importer.Step, n importer.Node) (why string) {
	if n.IsScalar() {
		switch n.Text() {
		case "failed", "failure":
			s.Tolerate = true
		case "skipped":
		default:
			return "its continueOn is not understood"
		}
		return ""
	}
	for _, p := range n.Pairs() {
		switch strings.ToLower(p.Key) {
		case "failure", "failed":
			s.Tolerate = p.True()
		case "skipped":
			p.True()
		default:
			return "flowrun has no counterpart for " + p.Key + " of its continueOn"
		}
	}
	return ""
}

// precondition makes a condition of a comparison of a parameter, or of a variable of the DAG, with a text.
func (r *reader) precondition(s *importer.Step, n importer.Node) (why string) {
	var parts []string
	for _, c := range n.Items() {
		if !c.IsMap() {
			return "flowrun does not evaluate its preconditions"
		}
		condition := strings.Trim(c.Get("condition").Text(), `"`)
		name := strings.Trim(condition, "${}")
		want := c.Get("expected").Text()
		if !strings.HasPrefix(condition, "$") || r.values[name] == "" || !importer.Plain(want) || strings.HasPrefix(want, "re:") || len(c.Pairs()) != 2 {
			return "flowrun does not evaluate its preconditions"
		}
		parts = append(parts, "'"+r.values[name]+"' == '"+want+"'")
	}
	s.When = strings.Join(parts, " && ")
	return ""
}

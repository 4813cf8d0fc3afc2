package github

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

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
	if m*60 < 1 {
		return "", "timeout-minutes is less than a second"
	}
	return fmt.Sprintf("%ds", int(m*60)), ""
}

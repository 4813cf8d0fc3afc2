package github

import (
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

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

package github

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// strategy reads the matrix of a job.
func (c *context) strategy(n importer.Node, g *importer.Step) (why string) {
	if !n.Exists() {
		return ""
	}
	for _, p := range n.Pairs() {
		if !slices.Contains([]string{"matrix", "fail-fast", "max-parallel"}, p.Key) {
			return "flowrun has no counterpart for " + p.Key
		}
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
	f := n.Get("fail-fast")
	g.FailFast = !f.Exists() || f.True()
	if p := n.Get("max-parallel"); p.Exists() {
		v, err := strconv.Atoi(p.Text())
		if err != nil || v < 1 {
			return "max-parallel is not a number"
		}
		g.MaxParallel = v
	}
	return ""
}

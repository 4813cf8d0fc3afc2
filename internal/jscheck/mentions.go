package jscheck

import (
	"cmp"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// Mention is a member of a variable that a script names: steps.build.
type Mention struct {
	Name string
	Path []string // what is read of it, as far as it is written with names: output, or json and url
	Off  int      // in the script's text
	Len  int      // of the variable and the member's name together
}

// mentionsOf are the members that the script reads of one of its variables. whole says
// that the script uses the variable otherwise, as in steps[x], so that nobody can tell
// which; at is an offset where it does.
func (t *Tree) Mentions(variable string) (list []Mention, whole bool, at int) {
	m := &mentions{source: t.Source, variable: variable}
	if m.redeclared(t.body.Body) {
		return nil, false, 0
	}
	m.visit(t.body.Body)
	slices.SortStableFunc(m.list, func(a, b Mention) int { return cmp.Compare(a.Off, b.Off) })
	return m.list, m.whole, m.at
}

// mentions looks for the members of a variable.
type mentions struct {
	source   Source
	variable string
	list     []Mention
	whole    bool
	at       int
}

func (m *mentions) visit(n ast.Node) { visit(n, m.node) }

// node looks at a node, and says whether to look below it.
func (m *mentions) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return !m.hidden(n)
	case *ast.Binding:
		return !m.pattern(n.Target, n.Initializer)
	case *ast.AssignExpression:
		return !m.pattern(n.Left, n.Right)
	case *ast.CallExpression:
		return !m.chain(n.Callee, true, n.ArgumentList)
	case ast.Expression:
		return !m.chain(n, false, nil)
	}
	return true
}

// redeclared says whether the script, outside of its functions, has a variable of that name.
func (m *mentions) redeclared(body ast.Node) (found bool) {
	visit(body, func(n ast.Node) bool {
		declares(n, func(name string) { found = found || name == m.variable })
		return !isFunction(n)
	})
	return found
}

// hidden says whether a function gives the variable's name to something of its own.
func (m *mentions) hidden(f ast.Node) (found bool) {
	visit(f, func(n ast.Node) bool {
		declares(n, func(name string) { found = found || name == m.variable })
		return n == f || !isFunction(n)
	})
	return found
}

// member is one link of a chain: a property with its name, "" where that is not written.
type member struct {
	name    string
	end     file.Idx
	dynamic ast.Expression // of [x]
}

// links are the properties after the first expression of a chain, in order.
func links(e ast.Expression) (base ast.Expression, list []member) {
	for {
		switch n := e.(type) {
		case *ast.DotExpression:
			list = append(list, member{name: n.Identifier.Name.String(), end: n.Identifier.Idx1()})
			e = n.Left
		case *ast.BracketExpression:
			link := member{end: n.Idx1(), dynamic: n.Member}
			if s, ok := n.Member.(*ast.StringLiteral); ok {
				link.name = s.Value.String()
			}
			list = append(list, link)
			e = n.Left
		case *ast.Optional:
			e = n.Expression
		case *ast.OptionalChain:
			e = n.Expression
		default:
			slices.Reverse(list)
			return e, list
		}
	}
}

// chain takes an expression that begins with the variable, and says whether it does.
// The last link of what is called is a method.
func (m *mentions) chain(e ast.Expression, called bool, args []ast.Expression) bool {
	base, list := links(e)
	id, ok := base.(*ast.Identifier)
	if !ok || id.Name.String() != m.variable {
		return false
	}
	for _, link := range list {
		m.visit(link.dynamic)
	}
	for _, arg := range args {
		m.visit(arg)
	}
	if len(list) == 0 || list[0].name == "" || called && len(list) == 1 {
		m.otherwise(id)
		return true
	}
	found := Mention{Name: list[0].name, Off: m.source.offset(id.Idx)}
	found.Len = m.source.offset(list[0].end) - found.Off
	if called {
		list = list[:len(list)-1]
	}
	for _, link := range list[1:] {
		if link.name == "" {
			break
		}
		found.Path = append(found.Path, link.name)
	}
	m.list = append(m.list, found)
	return true
}

func (m *mentions) otherwise(n ast.Node) {
	if !m.whole {
		m.whole, m.at = true, m.source.offset(n.Idx0())
	}
}

// pattern takes const {build, test: t} = steps, and says whether it is one.
func (m *mentions) pattern(target, value ast.Expression) bool {
	id, ok := value.(*ast.Identifier)
	pattern, object := target.(*ast.ObjectPattern)
	if !ok || !object || id.Name.String() != m.variable {
		return false
	}
	if pattern.Rest != nil {
		m.otherwise(id)
	}
	for _, p := range pattern.Properties {
		switch p := p.(type) {
		case *ast.PropertyShort:
			m.add(p, p.Name.Name.String())
			m.visit(p.Initializer)
		case *ast.PropertyKeyed:
			if key, ok := p.Key.(*ast.StringLiteral); ok && !p.Computed {
				m.add(p, key.Value.String())
			} else {
				m.otherwise(id)
			}
			m.visit(p.Value)
		}
	}
	return true
}

func (m *mentions) add(n ast.Node, name string) {
	m.list = append(m.list, Mention{Name: name, Off: m.source.offset(n.Idx0()), Len: len(name)})
}

package jscheck

import (
	"cmp"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// Mention is a use of a member of a variable, such as steps.build.
type Mention struct {
	Name string
	Path []string // what is read of the member, as far as it is written as names: output, or json and url
	Off  int      // offset in the script's text
	Len  int      // length of the variable, the dot and the member's name
}

// Mentions returns the members of a variable that the script reads, in the order of the text.
// whole reports that the script also uses the variable in another way, such as steps[x], so that
// the members it reads cannot be known; at is the offset of the first such use.
func (t *Tree) Mentions(variable string) (list []Mention, whole bool, at int) {
	m := &mentions{source: t.Source, variable: variable}
	if m.redeclared(t.body.Body) {
		return nil, false, 0
	}
	m.visit(t.body.Body)
	slices.SortStableFunc(m.list, func(a, b Mention) int { return cmp.Compare(a.Off, b.Off) })
	return m.list, m.whole, m.at
}

// mentions collects the uses of the members of a variable.
type mentions struct {
	source   Source
	variable string
	list     []Mention
	whole    bool
	at       int
}

func (m *mentions) visit(n ast.Node) { visit(n, m.node) }

// node handles one node and reports whether the nodes below it still have to be visited.
func (m *mentions) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return !m.shadows(n)
	case *ast.Binding:
		return !m.destructuring(n.Target, n.Initializer)
	case *ast.AssignExpression:
		return !m.destructuring(n.Left, n.Right)
	case *ast.CallExpression:
		return !m.chain(n.Callee, true, n.ArgumentList)
	case ast.Expression:
		return !m.chain(n, false, nil)
	}
	return true
}

// redeclared reports whether the script declares a variable of that name outside of its
// functions.
func (m *mentions) redeclared(body ast.Node) (found bool) {
	visit(body, func(n ast.Node) bool {
		addDeclared(n, func(name string) { found = found || name == m.variable })
		return !isFunction(n)
	})
	return found
}

// shadows reports whether a function declares or assigns the variable's name itself, so that the
// name means something else in it.
func (m *mentions) shadows(f ast.Node) (found bool) {
	visit(f, func(n ast.Node) bool {
		addDeclared(n, func(name string) { found = found || name == m.variable })
		return n == f || !isFunction(n)
	})
	return found
}

// chainLink is one link of a chain: a property with its name, or "" if the name is not a literal.
type chainLink struct {
	name    string
	end     file.Idx
	dynamic ast.Expression // x in [x]
}

// chainLinks splits a chain into its first expression and the properties after it, in order.
func chainLinks(e ast.Expression) (base ast.Expression, list []chainLink) {
	for {
		switch n := e.(type) {
		case *ast.DotExpression:
			list = append(list, chainLink{name: n.Identifier.Name.String(), end: n.Identifier.Idx1()})
			e = n.Left
		case *ast.BracketExpression:
			link := chainLink{end: n.Idx1(), dynamic: n.Member}
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

// chain handles an expression that begins with the variable, and reports whether it is one. If
// the expression is called, its last link is a method and not part of the path.
func (m *mentions) chain(e ast.Expression, called bool, args []ast.Expression) bool {
	base, list := chainLinks(e)
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
		m.useWhole(id)
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

func (m *mentions) useWhole(n ast.Node) {
	if !m.whole {
		m.whole, m.at = true, m.source.offset(n.Idx0())
	}
}

// destructuring handles a destructuring of the variable, such as const {build, test: t} = steps,
// and reports whether it is one.
func (m *mentions) destructuring(target, value ast.Expression) bool {
	id, ok := value.(*ast.Identifier)
	pattern, object := target.(*ast.ObjectPattern)
	if !ok || !object || id.Name.String() != m.variable {
		return false
	}
	if pattern.Rest != nil {
		m.useWhole(id)
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
				m.useWhole(id)
			}
			m.visit(p.Value)
		}
	}
	return true
}

func (m *mentions) add(n ast.Node, name string) {
	m.list = append(m.list, Mention{Name: name, Off: m.source.offset(n.Idx0()), Len: len(name)})
}

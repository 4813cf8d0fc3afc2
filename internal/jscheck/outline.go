package jscheck

import (
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/flowrun/flowrun/tool"
)

// Outline knows where the methods of a tool stand in its file, for what is wrong with
// what they answer.
type Outline struct {
	source  Source
	methods map[string]method
}

// method is one method of the tool: where its name stands, and its body.
type method struct {
	at   file.Idx
	body ast.Node
}

// OutlineOf reads the syntax tree of a module; of one that cannot be read it knows nothing.
func OutlineOf(m *tool.Module) Outline {
	o := Outline{source: SourceOf(m), methods: map[string]method{}}
	t, bad := o.source.Parse()
	if bad != nil {
		return o
	}
	visit(t.body, func(n ast.Node) bool {
		var found map[string]method
		switch n := n.(type) {
		case *ast.ObjectLiteral:
			found = methodsOf(n.Value)
		case *ast.ClassLiteral:
			found = methodsOfClass(n.Body)
		}
		if found["execute"].body != nil || len(found) > len(o.methods) && o.methods["execute"].body == nil {
			o.methods = found
		}
		return true
	})
	return o
}

// SourceOf is a module as it is parsed.
func SourceOf(m *tool.Module) Source {
	return Source{Form: Module, Text: string(m.Code), Map: m.Map, File: m.File}
}

// toolMethods are the methods that a tool may have.
var toolMethods = []string{"getMetadata", "getSchema", "execute", "getDependencies", "getBusinessErrors", "init", "cleanup", "getBridges", "getMockArgs", "getBridgeErrors"}

func methodsOf(list []ast.Property) map[string]method {
	found := map[string]method{}
	for _, p := range list {
		switch p := p.(type) {
		case *ast.PropertyKeyed:
			add(found, p.Key, p.Value)
		case *ast.PropertyShort: // { execute }, of a function that stands elsewhere
			add(found, &p.Name, &p.Name)
		}
	}
	return found
}

func methodsOfClass(list []ast.ClassElement) map[string]method {
	found := map[string]method{}
	for _, e := range list {
		if m, ok := e.(*ast.MethodDefinition); ok {
			add(found, m.Key, m.Body)
		}
	}
	return found
}

func add(found map[string]method, key ast.Expression, body ast.Node) {
	for _, name := range toolMethods {
		if keyName(key) == name {
			found[name] = method{key.Idx0(), body}
		}
	}
}

// keyName is the name of a property, "" for one that is computed.
func keyName(key ast.Expression) string {
	switch k := key.(type) {
	case *ast.StringLiteral:
		return k.Value.String()
	case *ast.Identifier:
		return k.Name.String()
	}
	return ""
}

// Place is where a method stands, or what it answers at a path such as
// parameters.properties.NAME or [2].match, as far as that is written out there; the
// beginning of the file for a method that it does not have.
func (o Outline) Place(name, path string) tool.Pos {
	m, ok := o.methods[name]
	if !ok {
		return tool.Pos{File: o.source.File, Line: 1, Col: 1}
	}
	at := m.at
	for _, answer := range answers(m.body) {
		if found := inside(answer, splitPath(path)); found != 0 {
			at = found
		}
	}
	return o.source.Pos(o.source.offset(at))
}

// answers are the literals that a function returns itself.
func answers(body ast.Node) (list []ast.Expression) {
	switch f := body.(type) {
	case *ast.ArrowFunctionLiteral:
		if e, ok := f.Body.(*ast.ExpressionBody); ok {
			return []ast.Expression{e.Expression}
		}
		body = f.Body
	case *ast.FunctionLiteral:
		body = f.Body
	default:
		return nil
	}
	visit(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStatement); ok {
			list = append(list, r.Argument)
		}
		return !isFunction(n)
	})
	return list
}

// inside is the place in a literal to which a path leads, as far as it can be followed; 0
// where it cannot be followed at all.
func inside(e ast.Expression, path []string) (at file.Idx) {
	for _, part := range path {
		next := ast.Expression(nil)
		switch v := e.(type) {
		case *ast.ObjectLiteral:
			for _, p := range v.Value {
				if keyed, ok := p.(*ast.PropertyKeyed); ok && keyName(keyed.Key) == part {
					at, next = keyed.Key.Idx0(), keyed.Value
				}
			}
		case *ast.ArrayLiteral:
			if i, err := strconv.Atoi(part); err == nil && i < len(v.Value) && v.Value[i] != nil {
				at, next = v.Value[i].Idx0(), v.Value[i]
			}
		}
		if e = next; e == nil {
			break
		}
	}
	return at
}

// splitPath takes a path apart: list[0].name is list, 0 and name.
func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

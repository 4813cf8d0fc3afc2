package jscheck

import (
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Outline holds the positions of a tool's methods in its file. It locates mistakes in the values
// that they return.
type Outline struct {
	source  Source
	methods map[string]method
}

// method is one method of the tool: the position of its name, and its body.
type method struct {
	at   file.Idx
	body ast.Node
}

// OutlineOf parses a module. The outline of a module that cannot be parsed is empty.
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
			found = objectMethods(n.Value)
		case *ast.ClassLiteral:
			found = classMethods(n.Body)
		}
		if found["execute"].body != nil || len(found) > len(o.methods) && o.methods["execute"].body == nil {
			o.methods = found
		}
		return true
	})
	return o
}

// SourceOf returns the source of a module.
func SourceOf(m *tool.Module) Source {
	return Source{Form: Module, Text: string(m.Code), Map: m.Map, File: m.File}
}

// toolMethods are the names of the methods that a tool may have.
var toolMethods = []string{"getMetadata", "getSchema", "execute", "getDependencies", "getBusinessErrors", "init", "validate", "cleanup", "getBridges", "getMockArgs", "getBridgeErrors"}

func objectMethods(list []ast.Property) map[string]method {
	found := map[string]method{}
	for _, p := range list {
		switch p := p.(type) {
		case *ast.PropertyKeyed:
			addMethod(found, p.Key, p.Value)
		case *ast.PropertyShort: // { execute }: the function is defined elsewhere
			addMethod(found, &p.Name, &p.Name)
		}
	}
	return found
}

func classMethods(list []ast.ClassElement) map[string]method {
	found := map[string]method{}
	for _, e := range list {
		if m, ok := e.(*ast.MethodDefinition); ok {
			addMethod(found, m.Key, m.Body)
		}
	}
	return found
}

func addMethod(found map[string]method, key ast.Expression, body ast.Node) {
	for _, name := range toolMethods {
		if keyName(key) == name {
			found[name] = method{key.Idx0(), body}
		}
	}
}

// keyName returns the name of a property, or "" if it is computed.
func keyName(key ast.Expression) string {
	switch k := key.(type) {
	case *ast.StringLiteral:
		return k.Value.String()
	case *ast.Identifier:
		return k.Name.String()
	}
	return ""
}

// Position returns the position of a method, or of what it returns at a path such as
// parameters.properties.NAME or [2].match, as far as the path can be followed in a literal. For
// a method that the tool does not have it returns the beginning of the file.
func (o Outline) Position(name, path string) tool.Pos {
	m, ok := o.methods[name]
	if !ok {
		return tool.Pos{File: o.source.File, Line: 1, Col: 1}
	}
	at := m.at
	for _, answer := range returnedExpressions(m.body) {
		if found := positionInLiteral(answer, splitPath(path)); found != 0 {
			at = found
		}
	}
	return o.source.Pos(o.source.offset(at))
}

// returnedExpressions returns the expressions that a function itself returns; functions inside
// it are left out.
func returnedExpressions(body ast.Node) (list []ast.Expression) {
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

// positionInLiteral returns the position that a path leads to in a literal, as far as the path
// can be followed, or 0 if it cannot be followed at all.
func positionInLiteral(e ast.Expression, path []string) (at file.Idx) {
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

// splitPath splits a path into its parts: list[0].name becomes list, 0 and name.
func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

package jscheck

import (
	"reflect"

	"github.com/dop251/goja/ast"
)

// visit calls f for n and all nodes below it, in the order of the text, and visits the nodes
// below a node only if f returns true. It skips names that are not references: properties after
// a dot, labels, and keys.
func visit(n ast.Node, f func(ast.Node) bool) { walker{node: f}.visit(n) }

// replace calls f for the expressions below n, and puts what it returns in their place, unless that is nil. It does not
// look into what it has put there.
func replace(n ast.Node, f func(ast.Expression) ast.Expression) {
	walker{node: func(ast.Node) bool { return true }, expression: f}.visit(n)
}

// walker has what is called for each node, and for each expression that another node refers to; nil for none.
type walker struct {
	node       func(ast.Node) bool
	expression func(ast.Expression) ast.Expression
}

func (w walker) visit(n ast.Node) {
	v := reflect.ValueOf(n)
	if n == nil || v.Kind() == reflect.Pointer && v.IsNil() || !w.node(n) {
		return
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		if !isNameField(v, v.Type().Field(i).Name) {
			w.visitField(v.Field(i))
		}
	}
}

func (w walker) visitField(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			w.visitField(v.Index(i))
		}
	case reflect.Struct: // a node that is stored by value in another one
		if n, ok := v.Addr().Interface().(ast.Node); ok {
			w.visit(n)
		}
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if e, ok := v.Interface().(ast.Expression); ok && w.expression != nil && v.Kind() == reflect.Interface {
			if other := w.expression(e); other != nil {
				v.Set(reflect.ValueOf(other))
				return
			}
		}
		if n, ok := v.Interface().(ast.Node); ok {
			w.visit(n)
		}
	}
}

// isNameField reports whether a field of a node holds a name, or nodes that are also reachable
// through another field.
func isNameField(node reflect.Value, field string) bool {
	switch field {
	case "DeclarationList", "File", "Label", "Meta", "Property":
		return true
	case "Identifier":
		return true // of a DotExpression
	case "Name":
		return node.Type() != reflect.TypeFor[ast.PropertyShort]()
	case "Key":
		return !node.FieldByName("Computed").Bool()
	}
	return false
}

// isFunction reports whether n is a function, whose return statements do not belong to the code
// around it.
func isFunction(n ast.Node) bool {
	switch n.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

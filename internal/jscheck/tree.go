package jscheck

import (
	"reflect"

	"github.com/dop251/goja/ast"
)

// visit calls f for the node and everything below it, from the left to the right, and
// goes below a node only where f says so. What is a name and no reference (a property
// after a dot, a label, a key) is left out.
func visit(n ast.Node, f func(ast.Node) bool) {
	v := reflect.ValueOf(n)
	if n == nil || v.Kind() == reflect.Pointer && v.IsNil() || !f(n) {
		return
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		if !named(v, v.Type().Field(i).Name) {
			visitField(v.Field(i), f)
		}
	}
}

func visitField(v reflect.Value, f func(ast.Node) bool) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			visitField(v.Index(i), f)
		}
	case reflect.Struct: // a node that another holds by value
		if n, ok := v.Addr().Interface().(ast.Node); ok {
			visit(n, f)
		}
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if n, ok := v.Interface().(ast.Node); ok {
			visit(n, f)
		}
	}
}

// named says whether a field of a node holds names, or nodes that hang elsewhere as well.
func named(node reflect.Value, field string) bool {
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

// isFunction says whether n has a body of its own, whose returns are not those around it.
func isFunction(n ast.Node) bool {
	switch n.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

package jscheck

import (
	"reflect"

	"github.com/dop251/goja/ast"
)

// visit calls f for n and all nodes below it, in the order of the text, and visits the nodes
// below a node only if f returns true. It skips names that are not references: properties after
// a dot, labels, and keys.
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
		if !isNameField(v, v.Type().Field(i).Name) {
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
	case reflect.Struct: // a node that is stored by value in another one
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

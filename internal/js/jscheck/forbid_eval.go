package jscheck

import (
	"reflect"

	"github.com/dop251/goja/parser"
)

// ForbidEval returns a parser option that calls throw, which must panic. A world parses with its
// options whatever a script turns from text into code at run time, whether with eval, Function
// or the hidden constructors of async functions and generators, so none of them works. Programs
// of flowrun itself are parsed before there is a world and are not affected.
//
// The type of the option's parameter is not exported by the parser package, so the function is
// made by reflection.
func ForbidEval(throw func()) parser.Option {
	option := func([]reflect.Value) []reflect.Value {
		throw()
		return nil
	}
	return reflect.MakeFunc(reflect.TypeFor[parser.Option](), option).Interface().(parser.Option)
}

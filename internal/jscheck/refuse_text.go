package jscheck

import (
	"reflect"

	"github.com/dop251/goja/parser"
)

// RefuseText is an option of the parser that calls throw, which must panic. All that makes
// code of text while a script runs parses it with the options of its world: eval, Function
// and the hidden constructors beside it, whichever way a script gets hold of them. Programs
// of the host are parsed before there is a world. The option's own parameter has no name
// outside of its package, so that the function has to be made.
func RefuseText(throw func()) parser.Option {
	option := func([]reflect.Value) []reflect.Value {
		throw()
		return nil
	}
	return reflect.MakeFunc(reflect.TypeFor[parser.Option](), option).Interface().(parser.Option)
}

package hooks

// shimGlobals are the globals that a built-in module provides, with the module's name.
var shimGlobals = map[string]string{}

// shim is the CommonJS code of a built-in module. In its scope there are exports, module,
// require, and __ask and __askNow.
func shim(name string) (code string, ok bool) {
	code, ok = builtin[name]
	return code, ok
}

// builtin are the built-in modules, by name.
var builtin = map[string]string{}

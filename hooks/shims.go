package hooks

// shimGlobals are the globals that a module of Shim provides, by name.
var shimGlobals = map[string]string{}

// shim is the CommonJS code of a built-in module. In its scope there are exports, module,
// require, and __ask and __askNow.
func shim(name string) (code string, ok bool) { return "", false }

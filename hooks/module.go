package hooks

import _ "embed"

var (
	//go:embed module.js
	moduleJS string
	//go:embed api.js
	apiJS string
)

// moduleProgram is what runs in the world of a module. Its value is a promise.
var moduleProgram = "(async function () {\n'use strict'\n" + apiJS + "\n" + moduleJS + "})()"

package hooks

import _ "embed"

var (
	//go:embed api.js
	apiCode string // this.api of a tool
	//go:embed module.js
	moduleCode string

	// glue is the JavaScript around a tool, in a world and under Node.js alike.
	glue = apiCode + moduleCode
)

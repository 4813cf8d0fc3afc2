package jsworld

import _ "embed"

var (
	//go:embed api.js
	apiCode string // this.api of a tool
	//go:embed module.js
	moduleCode string
)

// Prelude is the JavaScript around a tool, in a world and under Node.js alike.
func Prelude() string { return apiCode + moduleCode }

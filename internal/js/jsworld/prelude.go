package jsworld

import _ "embed"

var (
	//go:embed api.js
	apiCode string // implements this.api of a tool
	//go:embed module.js
	moduleCode string
)

// Prelude returns the JavaScript code that runs a tool. It is the same in a world and under
// Node.js.
func Prelude() string { return apiCode + moduleCode }

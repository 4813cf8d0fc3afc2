package hooks

import _ "embed"

// apiCode is this.api of a tool; it stands in front of moduleCode.
//
//go:embed api.js
var apiCode string

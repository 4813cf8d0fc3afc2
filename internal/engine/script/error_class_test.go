package script

import (
	"testing"

	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

func TestThrownProblem(t *testing.T) {
	m := &tool.Module{Dependencies: []tool.Dependency{{Name: "@scope/known", Range: "^1"}}}
	for _, c := range []struct{ name, message, code, category string }{
		{"TypeError", "list.map is not a function", "TypeError", "development"},
		{"ReferenceError", "timeout is not defined", "ReferenceError", "development"},
		{"Error", "Cannot find package 'axios': add it to getDependencies, and fetch it with flowrun tool deps", "UNDECLARED_DEPENDENCY", "development"},
		{"Error", "Cannot find module '@scope/known/lib'\nRequire stack: ...", "DEPENDENCY_DECLARED_BUT_MISSING", "development"},
		{"Error", "Cannot find package '@scope/known': it is declared but not installed; fetch it with flowrun tool deps mine", "DEPENDENCY_DECLARED_BUT_MISSING", "development"},
		{"Error", "Cannot find module './near.js'", "UNKNOWN_ERROR", "unknown"},
		{"PermissionDenied", "Permission not granted: network:external:api.example.com", "PermissionDenied", "development"},
		{"Error", "child_process.exec is not available, because this tool does not run under Node.js; to use it, set runtime: 'node' in getMetadata", "NODE_REQUIRED", "development"},
		{"ReferenceError", "process is not available, because this tool does not run under Node.js; to use it, set runtime: 'node' in getMetadata", "NODE_REQUIRED", "development"},
		{"Error", "Missing required parameter: id", "MISSING_REQUIRED_PARAM", "validation"},
		{"Error", "Missing environment variable 'KEY'", "MISSING_ENV_VAR", "validation"},
		{"Error", "connect ETIMEDOUT 10.0.0.1:443", "NETWORK_TIMEOUT", "system"},
		{"AbortError", "The request timed out", "NETWORK_TIMEOUT", "system"},
		{"Error", "connect ECONNREFUSED 127.0.0.1:5432", "NETWORK_ERROR", "system"},
		{"TypeError", "fetch failed", "NETWORK_ERROR", "system"},
		{"Error", "ENOSPC: no space left on device, write", "DISK_SPACE_ERROR", "system"},
		{"Error", "EACCES: permission denied, open '/x'", "PERMISSION_DENIED", "system"},
		{"Error", "ENOENT: no such file or directory, open 'x'", "FILE_NOT_FOUND", "system"},
		{"Error", "PermissionDenied: Permission not granted: filesystem:read:x", "PermissionDenied", "development"},
		{"Error", "out of luck", "UNKNOWN_ERROR", "unknown"},
		{"", "thrown text", "UNKNOWN_ERROR", "unknown"},
		{"HTTPError", "status 500", "HTTPError", "unknown"},
		{"ValidationError", "the date is in the past", "ValidationError", "validation"},
		{"ValidationError", "connect ECONNREFUSED 127.0.0.1:5432", "NETWORK_ERROR", "system"},
	} {
		p := thrownProblem(&jsrun.Error{Kind: jsrun.KindThrown, Name: c.name, Message: c.message}, "mine", m)
		if p.Code != c.code || p.Category != c.category || !p.Retryable {
			t.Errorf("%s: %s\ngot  %+v\nwant %s %s", c.name, c.message, p, c.code, c.category)
		}
	}
	if p := thrownProblem(&jsrun.Error{Message: "Cannot find module 'x'"}, "", nil); p.Category != "unknown" {
		t.Errorf("a script that is not a tool has no dependencies: %+v", p)
	}
}

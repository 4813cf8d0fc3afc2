package script

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/toolstate"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// errorClass is what is known about errors whose message matches a pattern.
type errorClass struct {
	pattern                  string
	code, category, solution string
}

// languageErrors are the names of errors that are mistakes in the code of the script.
var languageErrors = []string{"TypeError", "ReferenceError", "SyntaxError", "RangeError"}

// errorClasses are the classes of other errors. The first one that matches applies. Codes and categories are those that
// PromptX gives to the same errors.
var errorClasses = []errorClass{
	{`(?i)missing required parameter`, "MISSING_REQUIRED_PARAM", categoryValidation, ""},
	{`(?i)expected (string|number|boolean|object|array) but got`, "INVALID_PARAM_TYPE", categoryValidation, ""},
	{`(?i)missing environment variable`, toolstate.CodeMissingVariable, categoryValidation, ""},
	{`Permission not granted: `, "PermissionDenied", categoryDevelopment, ""},
	{`ETIMEDOUT|ESOCKETTIMEDOUT|(?i:timed out|timeout)`, "NETWORK_TIMEOUT", categorySystem, "check the network and the service, or allow more time"},
	{`ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|fetch failed|socket hang up`, "NETWORK_ERROR", categorySystem, "check that the service is running and can be reached"},
	{`ENOSPC|(?i:no space left on device|disk full)`, "DISK_SPACE_ERROR", categorySystem, "free disk space"},
	{`EACCES|EPERM|(?i:permission denied|operation not permitted)`, "PERMISSION_DENIED", categorySystem, "check the permissions of the file or folder"},
	{`ENOENT|(?i:no such file or directory)`, "FILE_NOT_FOUND", categorySystem, "check the path"},
	{`ENOMEM|(?i:cannot allocate memory|heap out of memory)`, "MEMORY_ERROR", categorySystem, "free memory, or process less at once"},
}

var errorPatterns = sync.OnceValue(func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(errorClasses))
	for i, c := range errorClasses {
		list[i] = regexp.MustCompile(c.pattern)
	}
	return list
})

// missingPackage matches the errors of flowrun and Node.js for a package that cannot be loaded.
var missingPackage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Cannot find (?:package|module) '((?:@[^/']+/)?[^./'][^/']*)`)
})

// thrownProblem classifies an error that a script threw. name is the tool's; m is nil for a script that is not a tool.
func thrownProblem(e *jsrun.Error, name string, m *tool.Module) *dag.Problem {
	p := &dag.Problem{Code: e.Name, Category: categoryUnknown, Retryable: true}
	if found := missingPackage().FindStringSubmatch(e.Message); found != nil && m != nil {
		p.Code, p.Category = "UNDECLARED_DEPENDENCY", categoryDevelopment
		p.Solution = fmt.Sprintf("add '%s' to getDependencies, and fetch it with flowrun tool deps", found[1])
		if slices.ContainsFunc(m.Dependencies, func(d tool.Dependency) bool { return d.Name == found[1] }) {
			p.Code, p.Solution = "DEPENDENCY_DECLARED_BUT_MISSING", "fetch it with flowrun tool deps "+name
		}
		return p
	}
	if strings.Contains(e.Message, "because this tool does not run under Node.js") {
		p.Code, p.Category = "NODE_REQUIRED", categoryDevelopment
		return p
	}
	if slices.Contains(languageErrors, e.Name) && e.Message != "fetch failed" {
		p.Category = categoryDevelopment
		return p
	}
	for i, pattern := range errorPatterns() {
		if pattern.MatchString(e.Message) {
			c := errorClasses[i]
			p.Code, p.Category, p.Solution = c.code, c.category, c.solution
			return p
		}
	}
	if e.Name == "ValidationError" {
		p.Category = categoryValidation
	}
	if p.Code = cmp.Or(p.Code, "Error"); p.Code == "Error" {
		p.Code = "UNKNOWN_ERROR"
	}
	return p
}

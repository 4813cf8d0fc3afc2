package hooks

import (
	"regexp"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

// The text of a file decides whether it is run as it is; the file is not parsed for that. The
// question is asked for every file of a listing, including hostile ones, in this process, which
// does not limit the memory of their syntax trees. If a comment looks like an import, the file
// is bundled and means the same.
var (
	esModule = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*(import|export)[ \t]*[\s{*'"]|^[ \t]*export[ \t]+default\b|\bimport[ \t]*\(`)
	})
	// asyncIteration is syntax that goja does not have. The bundler replaces it.
	asyncIteration = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bfor\s+await\b|\basync\s*\*|\basync\s+function\s*\*`)
	})
	requireCalls = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:require|importx|loadModule|importModule)\s*\(\s*['"` + "`" + `]([^'"` + "`" + `\n]+)['"` + "`" + `]`)
	})
)

// needsBundle reports whether a file cannot be run as it is: TypeScript, an ES module, or a file
// that requires a module that is not built in.
func needsBundle(file string, src []byte) bool {
	if strings.HasSuffix(strings.ToLower(file), ".ts") || esModule().Match(src) {
		return true
	}
	for _, m := range requireCalls().FindAllSubmatch(src, -1) {
		if _, builtin := jsworld.Shim(string(m[1])); !builtin {
			return true
		}
	}
	return false
}

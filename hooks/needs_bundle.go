package hooks

import (
	"regexp"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/jsworld"
)

// Texts alone tell whether a file is run as it is: that is asked of every file of a
// listing, and of hostile ones in this process, which has no bound on what their syntax
// trees take. Where a comment looks like an import, the file is bundled and means the same.
var (
	esModule = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*(import|export)[ \t]*[\s{*'"]|^[ \t]*export[ \t]+default\b|\bimport[ \t]*\(`)
	})
	required = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:require|importx)\s*\(\s*['"` + "`" + `]([^'"` + "`" + `\n]+)['"` + "`" + `]`)
	})
)

// needsBundle says whether a file cannot be run as it is: TypeScript, an ES module, or one
// that requires what is not built in.
func needsBundle(file string, src []byte) bool {
	if strings.HasSuffix(strings.ToLower(file), ".ts") || esModule().Match(src) {
		return true
	}
	for _, m := range required().FindAllSubmatch(src, -1) {
		if _, builtin := jsworld.Shim(string(m[1])); !builtin {
			return true
		}
	}
	return false
}

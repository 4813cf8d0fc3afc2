package bundle

import (
	"bytes"
	"regexp"
	"sync"
)

// Packages for browsers use process, because the bundlers of their authors define it. A file of a package that uses it
// without asking gets one too; the tool itself does not, so that it learns that it has none.

// processModule is the built-in module that packages get as process.
const processModule = "internal/process"

// processUse matches a member of process, and declaration a declaration or an import of it.
var (
	processUse  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^.\w$])process\s*\.`) })
	declaration = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:var|let|const|function|import)\b[^;=()]*\bprocess\b`)
	})
)

// usesProcess reports whether a file uses process without declaring it, apart from NODE_ENV.
func usesProcess(text []byte) bool {
	plain := bytes.ReplaceAll(text, []byte(nodeEnv), nil)
	return processUse().Match(plain) && !declaration().Match(plain)
}

// withProcess returns the text of a package's file with a declaration of process, or nil if it needs none.
func withProcess(text []byte) []byte {
	if !usesProcess(text) || bytes.HasPrefix(text, []byte("#!")) {
		return nil
	}
	return append([]byte(`var process = require("`+processModule+`");`), text...)
}

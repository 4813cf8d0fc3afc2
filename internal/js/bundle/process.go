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

// declaration matches a declaration or an import of process.
var declaration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:var|let|const|function|import)\b[^;=()]*\bprocess\b`)
})

// withProcess returns the text of a package's file with a declaration of process, or nil if it needs none.
func withProcess(text []byte) []byte {
	plain := bytes.ReplaceAll(text, []byte(nodeEnv), nil)
	if !processUse().Match(plain) || declaration().Match(plain) || bytes.HasPrefix(text, []byte("#!")) {
		return nil
	}
	return append([]byte(`var process = require("`+processModule+`");`), text...)
}

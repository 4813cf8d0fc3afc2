package bundle

import "bytes"

// Packages for browsers use process, because the bundlers of their authors define it. A file of a package that uses it
// without asking gets one too; the tool itself does not, so that it learns that it has none.

// processModule is the built-in module that packages get as process.
const processModule = "internal/process"

// usesProcess reports whether a file uses process without declaring it, apart from NODE_ENV.
func usesProcess(text []byte) bool {
	plain := bytes.ReplaceAll(text, []byte(nodeEnv), nil)
	return compiled().process.Match(plain) && !compiled().declaration.Match(plain)
}

// withProcess returns the text of a package's file with a declaration of process, or nil if it needs none.
func withProcess(text []byte) []byte {
	if !usesProcess(text) || bytes.HasPrefix(text, []byte("#!")) {
		return nil
	}
	return append([]byte(`var process = require("`+processModule+`");`), text...)
}

package bundle

import (
	"regexp"
	"sync"
)

// patterns are the regular expressions that find things in files without parsing them.
type patterns struct {
	importx     *regexp.Regexp // a call of importx, or of it under an older name, with a constant
	page        *regexp.Regexp // a member of what only the page of a browser has
	process     *regexp.Regexp // a member of process
	declaration *regexp.Regexp // a declaration or an import of process
	quoted      *regexp.Regexp // a text that may be the name of a module of Node.js
}

// compiled returns the patterns. They are compiled when the first file is bundled, not when flowrun starts.
var compiled = sync.OnceValue(func() patterns {
	return patterns{
		importx:     regexp.MustCompile("\\b(?:importx|loadModule|importModule)\\s*\\(\\s*['\"`]([^'\"`\\n$]+)['\"`]\\s*\\)"),
		page:        regexp.MustCompile(`(?:^|[^.\w$])(?:document|window)\s*\.\s*[A-Za-z_$]`),
		process:     regexp.MustCompile(`(?:^|[^.\w$])process\s*\.`),
		declaration: regexp.MustCompile(`\b(?:var|let|const|function|import)\b[^;=()]*\bprocess\b`),
		quoted:      regexp.MustCompile(`["']((?:node:)?[a-z0-9_]+(?:/[a-z]+)?)["']`),
	}
})

package config

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// normalizeSpellings renames alternative keys of a file to the preferred ones. A setting that is written
// in several spellings must have the same value in all of them, and counts once.
func (l *loader) normalizeSpellings(list []keytable.Setting) (out []keytable.Setting) {
	written := map[string]keytable.Setting{} // by preferred key
	for _, s := range list {
		as := s.Path()
		key := as
		if known := spellings[as]; known != "" {
			key = known
		}
		first, twice := written[key]
		switch {
		case twice && first.Value != s.Value:
			l.found = append(l.found, tool.Diagnostic{Code: "two-spellings", Severity: tool.Error, Pos: s.Pos, Path: as,
				Message: fmt.Sprintf("%s and %s (line %d) are the same setting but have different values", as, first.Path(), first.Pos.Line),
				Hint:    "keep one of them; " + key + " is the preferred spelling"})
			continue
		case twice:
			continue
		case hasAlternatives(key):
			written[key] = s
		}
		if key != as {
			s.Keys = strings.Split(key, ".")
		}
		out = append(out, s)
	}
	return out
}

// hasAlternatives reports whether a key has alternative spellings.
func hasAlternatives(key string) bool {
	for _, k := range spellings {
		if k == key {
			return true
		}
	}
	return false
}

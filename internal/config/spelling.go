package config

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/keytable"
	"github.com/flowrun/flowrun/tool"
)

// spelt are the settings of a file under the keys that flowrun knows them by. What is
// written in several ways must say the same in all of them, and counts once.
func (l *loader) spelt(list []keytable.Setting) (out []keytable.Setting) {
	written := map[string]keytable.Setting{} // by the key it is known by
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
		case known(key):
			written[key] = s
		}
		if key != as {
			s.Keys = strings.Split(key, ".")
		}
		out = append(out, s)
	}
	return out
}

// known says whether a key has other spellings.
func known(key string) bool {
	for _, k := range spellings {
		if k == key {
			return true
		}
	}
	return false
}

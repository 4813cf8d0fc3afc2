package config

import (
	"cmp"
	"runtime"
	"slices"
)

const enforceKey = "security.enforce"

// enforcements are the values of security.enforce, the weakest first.
var enforcements = []string{"never", "models", "always"}

// Enforcement returns security.enforce: always, models or never.
func (c *Config) Enforcement() string {
	return cmp.Or(c.Word(enforceKey), defaultEnforcement())
}

// defaultEnforcement is security.enforce if nothing sets it. Only Linux can enforce permissions.
func defaultEnforcement() string {
	if runtime.GOOS == "linux" {
		return "models"
	}
	return "never"
}

// weakensEnforcement reports whether a project's value of security.enforce is weaker than that of the
// user or the machine. Trust in the project does not change that.
func (l *loader) weakensEnforcement(v Value) bool {
	if v.Key != enforceKey || v.Origin.Layer != Project {
		return false
	}
	own := defaultEnforcement()
	for _, other := range l.values { // the weakest layer first
		if other.Key == enforceKey && other.Origin.Layer != Project {
			own, _ = other.Value.(string)
		}
	}
	word, _ := v.Value.(string)
	return slices.Index(enforcements, word) < slices.Index(enforcements, own)
}

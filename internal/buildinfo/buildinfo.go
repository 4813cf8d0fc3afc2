// Package buildinfo returns the version of flowrun in a program. A release build stores version, commit and
// date in the program. In other builds the version of the module is used, which the go command records
// if there is one. Nothing can be set at run time.
package buildinfo

import (
	"cmp"
	"runtime/debug"
	"strings"
	"sync"
)

// Set by the linker in a release build (build/release.yaml).
var version, commit, date string

// Stamp is what a release build stores about itself.
type Stamp struct {
	Version string // 1.2.3, without a v
	Commit  string // the full hash
	Date    string // of the commit, RFC 3339
}

// Stamped returns the stamp of this program. It is empty if this is not a release build.
func Stamped() Stamp { return Stamp{version, commit, date} }

// Release returns the version of flowrun that definitions can require, without a v: the stamped version,
// otherwise the version of this module in the program. It is "" for a build from a working copy.
func Release() string { return cmp.Or(version, released(Module())) }

// released returns the version of a module as a release version, "" for a commit, which does not name a
// release.
func released(module string) string {
	if strings.HasPrefix(module, "v0.0.0-") {
		return ""
	}
	return strings.TrimPrefix(module, "v")
}

// Module returns the version of flowrun's module in this program, "" for a working copy.
func Module() string { return module() }

var module = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == "github.com/flowrun/flowrun" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
})

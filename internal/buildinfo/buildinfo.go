// Package buildinfo says which flowrun a program holds. A release build stamps the program
// with its version, commit and date; of other builds the go command wrote down the version
// of the module, if it had one. Nothing can be set while the program runs.
package buildinfo

import (
	"cmp"
	"runtime/debug"
	"strings"
	"sync"
)

// Set by the linker of a release build (build/release.yaml).
var version, commit, date string

// Stamp is what a release build says of itself.
type Stamp struct {
	Version string // 1.2.3, without a v
	Commit  string // in full
	Date    string // of the commit, RFC 3339
}

// Stamped is the stamp of this program, empty in other builds.
func Stamped() Stamp { return Stamp{version, commit, date} }

// Release is the version of flowrun that definitions can ask for, without a v: the stamp's,
// else that of this module in the program; "" for a build from a working copy.
func Release() string { return cmp.Or(version, released(Module())) }

// released is a module's version as that of a release, "" for a commit, which says nothing
// of releases.
func released(module string) string {
	if strings.HasPrefix(module, "v0.0.0-") {
		return ""
	}
	return strings.TrimPrefix(module, "v")
}

// Module is the version of flowrun's module in this program, "" for a working copy.
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

// Package buildinfo returns the version of flowrun in a program. A release build stores version, commit and
// date in the program. In other builds the version of the module is used, which the go command records
// if there is one. Nothing can be set at run time.
package buildinfo

import (
	"cmp"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
)

// Set by the linker in a release build (internal/release/release.yaml).
var version, commit, date string

// Stamp is what a release build stores about itself.
type Stamp struct {
	Version string // 1.2.3, without a v
	Commit  string // the full hash
	Date    string // of the commit, RFC 3339
}

// Stamped returns the stamp of this program. It is empty if this is not a release build.
func Stamped() Stamp { return Stamp{version, commit, date} }

// Next is the version of the release that the changelog calls unreleased.
const Next = "1.0.0"

// Release returns the version of flowrun that definitions can require, without a v: the stamped version,
// otherwise the version of this module in the program. A build between two releases has the version of the
// later one.
func Release() string { return cmp.Or(version, released(Module())) }

// released returns the version of a module as a release version. A pseudo-version names the release after
// its commit, if there was a release before; a working copy has no version.
func released(version string) string {
	clean, _, _ := strings.Cut(version, "+")
	if clean == "" || strings.HasPrefix(clean, "v0.0.0-") {
		return Next
	}
	if pseudoVersion().MatchString(clean) {
		clean, _, _ = strings.Cut(clean, "-")
	}
	return strings.TrimPrefix(clean, "v")
}

// pseudoVersion matches what the go command calls a commit after a release, such as
// v1.2.4-0.20261121080000-0123456789ab.
var pseudoVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-.]0\.\d{14}-[0-9a-f]{12}$`) })

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

package ui

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
)

// Build describes this program.
type Build struct {
	Version       string `json:"version"`
	Commit        string `json:"commit"`  // complete hash, with +dirty if files had been changed; "" if unknown
	Date          string `json:"date"`    // of the commit; "" if unknown
	Release       string `json:"release"` // the version that min-flowrun-version is compared with
	Compatibility string `json:"compatibility"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
}

// ThisBuild returns the version that was stamped at build time, otherwise what the go command
// recorded: the version for go install, the commit for a build in a checkout.
func ThisBuild() Build {
	stamp := buildinfo.Stamped()
	b := Build{Version: stamp.Version, Commit: stamp.Commit, Date: stamp.Date, Release: buildinfo.Release(), Compatibility: check.CompatibilityLevel,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok && stamp.Version == "" {
		b.addBuildInfo(info)
	}
	b.Version = cmp.Or(b.Version, "development")
	return b
}

func (b *Build) addBuildInfo(info *debug.BuildInfo) {
	if info.Main.Version != "(devel)" {
		b.Version = strings.TrimPrefix(info.Main.Version, "v")
	}
	dirty := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+dirty"
			}
		}
	}
	if b.Commit != "" {
		b.Commit += dirty
	}
}

// String returns the build in one line.
func (b Build) String() string {
	parts := []string{b.Go, b.Platform}
	if b.Commit != "" {
		hash, state, changed := strings.Cut(b.Commit, "+")
		short := hash[:min(len(hash), 12)]
		if changed {
			short += "+" + state
		}
		parts = slices.Insert(parts, 0, "commit "+short)
	}
	return fmt.Sprintf("flowrun %s (%s)", b.Version, strings.Join(parts, ", "))
}

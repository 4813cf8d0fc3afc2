package ui

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/flowrun/flowrun"
)

// Stamped by a release build (build/release.yaml). Other builds say what the go command knows.
var (
	Version string // 1.2.3, without a v
	Commit  string // in full, with +dirty behind it where files had been changed
	Date    string // of the commit, RFC 3339
)

// build is what is known of this program.
type build struct {
	Version       string `json:"version"`
	Commit        string `json:"commit"` // "" where it is not known
	Date          string `json:"date"`   // likewise
	Compatibility string `json:"compatibility"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
}

// ThisBuild goes by the stamps, else by what the go command wrote down: a version of
// programs installed by one, a commit of programs built in a checkout.
func ThisBuild() build {
	b := build{Version: Version, Commit: Commit, Date: Date, Compatibility: flowrun.CompatibilityLevel,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok && Version == "" {
		b.learn(info)
	}
	b.Version = cmp.Or(b.Version, "development")
	return b
}

func (b *build) learn(info *debug.BuildInfo) {
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

// String is the build on one line.
func (b build) String() string {
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

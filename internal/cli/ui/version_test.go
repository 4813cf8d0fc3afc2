package ui

import (
	"runtime/debug"
	"testing"
)

// TestBuildsOfTheGoCommand: what a program without a release stamp knows about itself.
func TestBuildsOfTheGoCommand(t *testing.T) {
	checkout := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-11-22T01:02:03Z"}}
	for _, c := range []struct {
		how     string
		version string
		extra   []debug.BuildSetting
		want    Build
		line    string
	}{
		{"go install of a version", "v1.2.3", nil, Build{Version: "1.2.3"}, "flowrun 1.2.3 (go1.26, linux/amd64)"},
		{"go run without git", "(devel)", nil, Build{}, "flowrun  (go1.26, linux/amd64)"},
		{"go build in a checkout", "v0.0.0-20261122010203-0123456789ab", append(checkout, debug.BuildSetting{Key: "vcs.modified", Value: "false"}),
			Build{Version: "0.0.0-20261122010203-0123456789ab", Commit: "0123456789abcdef0123456789abcdef01234567", Date: "2026-11-22T01:02:03Z"},
			"flowrun 0.0.0-20261122010203-0123456789ab (commit 0123456789ab, go1.26, linux/amd64)"},
		{"go build in a changed checkout", "(devel)", append(checkout, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
			Build{Commit: "0123456789abcdef0123456789abcdef01234567+dirty", Date: "2026-11-22T01:02:03Z"},
			"flowrun  (commit 0123456789ab+dirty, go1.26, linux/amd64)"},
	} {
		var got Build
		got.addBuildInfo(&debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.extra})
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.how, got, c.want)
		}
		got.Go, got.Platform = "go1.26", "linux/amd64"
		if got.String() != c.line {
			t.Errorf("%s: %s, want %s", c.how, got, c.line)
		}
	}
}

package buildinfo

import (
	"os"
	"regexp"
	"testing"

	"golang.org/x/mod/semver"
)

// TestNext: the next release is later than every release of the changelog.
func TestNext(t *testing.T) {
	text, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^## (\d+\.\S+)`).FindAllStringSubmatch(string(text), -1) {
		if semver.Compare("v"+Next, "v"+m[1]) <= 0 {
			t.Errorf("%s is released; the next release is still %s", m[1], Next)
		}
	}
}

func TestReleased(t *testing.T) {
	for module, want := range map[string]string{
		"": Next, "v1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3-rc.1",
		"v0.0.0-20261121080000-0123456789ab":         Next,
		"v0.0.0-20261121080000-0123456789ab+dirty":   Next,
		"v1.2.4-0.20261121080000-0123456789ab":       "1.2.4",
		"v1.2.4-0.20261121080000-0123456789ab+dirty": "1.2.4",
		"v1.2.3-rc.1.0.20261121080000-0123456789ab":  "1.2.3",
		"v1.2.3+dirty": "1.2.3",
	} {
		if got := released(module); got != want {
			t.Errorf("%q: %q, want %q", module, got, want)
		}
	}
	if s := Stamped(); s != (Stamp{}) || Release() != released(Module()) {
		t.Errorf("nobody stamped this test: %+v, %q", s, Release())
	}
}

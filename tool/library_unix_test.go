//go:build unix

package tool

import (
	"strings"
	"syscall"
	"testing"
)

// TestNotRegular: what is no regular file is refused, and never waited for.
func TestNotRegular(t *testing.T) {
	h := newHouse(t)
	pipe := h.path("pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{pipe: "a pipe", h.root: "a directory", "/dev/zero": "a device"} {
		if _, _, err := Load(path); err == nil || !strings.Contains(err.Error(), want+", not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

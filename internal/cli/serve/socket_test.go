package serve

import (
	"bytes"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// A problem that stays is reported once, and again when it is another one.
func TestSocketProblem(t *testing.T) {
	var log bytes.Buffer
	missing := filepath.Join(t.TempDir(), "missing", "socket")
	s := &stateSocket{path: missing, log: slog.New(slog.NewTextHandler(&log, nil)), serve: func(net.Listener) {}}
	reports := func() int { return strings.Count(log.String(), "cannot listen") }
	s.open()
	s.open()
	if reports() != 1 {
		t.Errorf("two attempts: %s", log.String())
	}
	s.path = missing + strings.Repeat("x", 200)
	s.open()
	if reports() != 2 {
		t.Errorf("another problem: %s", log.String())
	}
}

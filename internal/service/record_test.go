package service_test

import (
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// record is a log that can be asked.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) logger() *slog.Logger { return slog.New(slog.NewTextHandler(r, nil)) }

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// count returns how many lines match.
func (r *record) count(pattern string) int {
	return len(regexp.MustCompile("(?m)^.*"+pattern+".*$").FindAllString(r.String(), -1))
}

// says waits for a line.
func (r *record) says(t *testing.T, pattern string) {
	t.Helper()
	waittest.Until(t, "line like "+pattern, func() bool { return r.count(pattern) > 0 }, func() any { return r.String() })
}

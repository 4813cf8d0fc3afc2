// Package waittest lets tests wait for what other goroutines and processes do.
//
// It checks a condition every few milliseconds until it is true. If that takes too long, the test
// fails with what it waited for and what it saw last. Limit is far longer than any machine needs:
// on a busy machine a test is slow, but does not fail. No test should sleep for a fixed time
// instead.
package waittest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

const (
	// Limit is how long a test waits for something to happen.
	Limit = 2 * time.Minute

	interval = 5 * time.Millisecond
)

// Until waits until holds returns true. After Limit it fails the test, with the values that the
// seen functions return then.
func Until(t testing.TB, what string, holds func() bool, seen ...func() any) {
	t.Helper()
	Within(t, Limit, what, holds, seen...)
}

// Within is Until with another limit.
func Within(t testing.TB, limit time.Duration, what string, holds func() bool, seen ...func() any) {
	t.Helper()
	if Holds(limit, holds) {
		return
	}
	var last strings.Builder
	for i, s := range seen {
		fmt.Fprintf(&last, "%s%+v", []string{"; seen last: ", ", "}[min(i, 1)], s())
	}
	t.Fatalf("waited %v for this in vain: %s%s", limit, what, last.String())
}

// Exists waits until a file exists.
func Exists(t testing.TB, file string) {
	t.Helper()
	Until(t, "file "+file, func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
}

// Holds reports whether holds returns true within the limit. It is for callers without a test, or
// with a better message.
func Holds(limit time.Duration, holds func() bool) bool {
	for end := time.Now().Add(limit); !holds(); time.Sleep(interval) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

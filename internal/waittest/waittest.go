// Package waittest lets tests wait for what other goroutines and processes do.
//
// A condition is checked every few milliseconds until it is true. When it is not true in
// time, the test fails with what was awaited and what was seen last. Limit is far longer
// than any machine needs, so that a busy machine makes a test slow, never wrong; no test
// sleeps for a fixed time instead. The package knows nothing of what is awaited.
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

// Until waits until holds answers true. After Limit it fails the test; seen are asked for
// what there was in the end.
func Until(t testing.TB, what string, holds func() bool, seen ...func() any) {
	t.Helper()
	Within(t, Limit, what, holds, seen...)
}

// Within is Until with a limit of its own.
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

// Exists waits until there is a file.
func Exists(t testing.TB, file string) {
	t.Helper()
	Until(t, "file "+file, func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
}

// Holds says whether holds answers true within the limit. It is for callers that have no
// test, or more to say than that they waited in vain.
func Holds(limit time.Duration, holds func() bool) bool {
	for end := time.Now().Add(limit); !holds(); time.Sleep(interval) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

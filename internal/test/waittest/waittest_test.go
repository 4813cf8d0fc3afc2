package waittest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// record is a test that records its failure and continues.
type record struct {
	testing.TB
	failed string
}

func (r *record) Helper() {}

func (r *record) Fatalf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, r := time.Now(), &record{TB: t}
		n := 0
		seen := func() any { return n }
		Until(r, "ten", func() bool { n++; return n == 10 }, seen)
		if took := time.Since(began); r.failed != "" || n != 10 || took != 9*interval {
			t.Errorf("%q after %v and %d looks", r.failed, took, n)
		}
		Within(r, time.Second, "a minus", func() bool { n++; return n < 0 }, seen, func() any { return "rain" })
		if want := fmt.Sprintf("waited 1s for this in vain: a minus; seen last: %d, rain", n); r.failed != want {
			t.Errorf("failed with %q, want %q", r.failed, want)
		}
		began = time.Now()
		if Holds(Limit, func() bool { return false }) || time.Since(began) < Limit {
			t.Error("it did not wait")
		}
	})
}

func TestExists(t *testing.T) {
	r, file := &record{TB: t}, filepath.Join(t.TempDir(), "a")
	time.AfterFunc(20*time.Millisecond, func() { os.WriteFile(file, nil, 0o600) })
	if Exists(r, file); r.failed != "" {
		t.Error(r.failed)
	}
}

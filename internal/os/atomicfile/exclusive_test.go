package atomicfile

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestLock: of many callers one at a time holds a lock.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var holders, most atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				unlock, err := Lock(path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n > most.Load() {
					most.Store(n)
				}
				holders.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d callers held the lock at the same time", most.Load())
	}
	if _, err := Lock(filepath.Join(t.TempDir(), "none", "lock")); err == nil {
		t.Error("a file in no folder was locked")
	}
}

package flowruntest

import (
	"testing"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/storetest"
)

// TestStore tests a history.Store against the contract that every Store keeps: ownership,
// fencing, answers, the queue, what survives and what is rejected. Each call of open must
// return an empty Store and close it at the end of the test. For a StoreLapser there are
// more tests. Run it with the race detector.
func TestStore(t *testing.T, open func(t *testing.T) history.Store) { storetest.Test(t, open) }

// StoreLapser is a Store whose owners can lose a run while they are alive: a Store that
// several processes use should implement it in its test.
//
//	type StoreLapser interface {
//		history.Store
//		// Lapse makes the owner of the run look dead. It returns the Store as another process
//		// sees it.
//		Lapse(t *testing.T, run string) history.Store
//	}
type StoreLapser = storetest.Lapser

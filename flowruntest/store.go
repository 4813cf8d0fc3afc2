package flowruntest

import (
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/storetest"
)

// TestStore tests a flowrun.Store against the contract that flowrun's own stores keep: ownership, fencing,
// durability, and invalid calls. Each call of open must return an empty store and close it when the test ends. Run it
// with the race detector.
func TestStore(t *testing.T, open func(t *testing.T) flowrun.Store) { storetest.Test(t, open) }

package flowruntest

import (
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/storetest"
)

// TestStore holds a flowrun.Store against the contract that flowrun's own keep:
// ownership, fencing, what survives, what is refused. Each call of open gives an
// empty store and closes it with the test. Run it with the race detector.
func TestStore(t *testing.T, open func(t *testing.T) flowrun.Store) { storetest.Test(t, open) }

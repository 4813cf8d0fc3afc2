package flowruntest_test

import (
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/flowruntest"
)

func TestTestStore(t *testing.T) {
	flowruntest.TestStore(t, func(*testing.T) flowrun.Store { return flowrun.NewMemory() })
}

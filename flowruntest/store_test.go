package flowruntest_test

import (
	"testing"

	"github.com/flowrun/flowrun/flowruntest"
	"github.com/flowrun/flowrun/history"
)

func TestTestStore(t *testing.T) {
	flowruntest.TestStore(t, func(*testing.T) history.Store { return history.NewMemory() })
}

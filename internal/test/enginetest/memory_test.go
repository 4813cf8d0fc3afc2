package enginetest

import (
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/test/storetest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(*testing.T) flowrun.Store { return flowrun.NewMemory() })
}

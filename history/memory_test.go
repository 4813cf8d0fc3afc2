package history_test

import (
	"testing"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/storetest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(*testing.T) history.Store { return history.NewMemory() })
}

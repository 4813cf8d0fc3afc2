package tooltest_test

import (
	"github.com/flowrun/flowrun/internal/engine"
	"os"
	"testing"
)

// The scripts of tools run in this program, started again.
func TestMain(m *testing.M) {
	engine.HelperMain()
	os.Exit(m.Run())
}

package flowrun_test

import (
	"testing"

	"github.com/flowrun/flowrun"
)

// TestMain makes the test binary of the examples what supervises their steps.
func TestMain(m *testing.M) {
	flowrun.HelperMain()
	m.Run()
}

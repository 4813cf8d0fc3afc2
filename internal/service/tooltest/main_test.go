package tooltest_test

import (
	"os"
	"testing"

	"github.com/flowrun/flowrun"
)

// The scripts of tools run in this program, started again.
func TestMain(m *testing.M) {
	flowrun.HelperMain()
	os.Exit(m.Run())
}

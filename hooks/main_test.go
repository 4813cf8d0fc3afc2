package hooks_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/internal/js/jsrun"
)

func TestMain(m *testing.M) {
	jsrun.Main()
	goleak.VerifyTestMain(m)
}

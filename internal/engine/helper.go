package engine

import (
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/os/supervisor"
)

// HelperMain is flowrun.HelperMain, for the programs of this module.
func HelperMain() {
	hooks.Main()
	supervisor.Main()
}

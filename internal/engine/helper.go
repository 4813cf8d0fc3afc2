package engine

import (
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/supervisor"
)

// HelperMain is flowrun.HelperMain, for the programs of this module.
func HelperMain() {
	proc.KeeperMain()
	jsrun.Main()
	supervisor.Main()
}

// Command flowrun-temporal runs tools on a Temporal service.
package main

import (
	"os"
	_ "time/tzdata" // time zones of schedules, where the machine has no database, as in an empty container

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/temporal/internal/command"
)

func main() {
	engine.HelperMain()
	confine.Seal()
	_ = proc.BecomeReaper() // only steps create child processes here, so this process can reap their trees itself
	os.Exit(command.Main(command.Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}

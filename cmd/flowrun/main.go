// Command flowrun runs tools defined in YAML from a shell.
package main

import (
	"os"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cli"
	"github.com/flowrun/flowrun/internal/proc"
)

func main() {
	flowrun.HelperMain()
	// Nothing else in this process has children, so it may be the reaper of its
	// steps' process trees itself and needs no helper for that.
	_ = proc.BecomeReaper() // without it, what escapes a step is still reported
	os.Exit(cli.Main(cli.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}

// Command flowrun runs tools defined in YAML from a shell.
package main

import (
	"net/http"
	"os"
	"runtime"
	_ "time/tzdata" // time zones of schedules, where the machine has no database, as in an empty container

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cli"
	"github.com/flowrun/flowrun/internal/cli/serve"
	"github.com/flowrun/flowrun/internal/confine"
	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/web"
)

func main() {
	flowrun.HelperMain()
	confine.Seal()
	oneProcessor()
	// Nothing else in this process has children, so it may be the reaper of its
	// steps' process trees itself and needs no helper. Where that cannot be, what
	// escapes from a step is reported.
	_ = proc.BecomeReaper()
	os.Exit(cli.Main(cli.Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Web: webDoor}))
}

// oneProcessor keeps the program to one processor, unless the user said otherwise.
// Its own work is microseconds a step; on several processors its threads wake each
// other just when the steps need the CPUs (1,000 short steps on two CPUs: 1.6 times
// the time of bare spawning, against 1.35 on one).
func oneProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// webDoor is the door of flowrun serve: doors do not know each other.
func webDoor(s service.API, o serve.WebOptions) (http.Handler, error) {
	return web.New(s, web.Options{Tokens: o.Tokens, Hosts: o.Hosts, StateDir: o.StateDir, Metrics: o.Metrics, Webhooks: o.Webhooks, Version: o.Version,
		Stopping: o.Stopping, Log: o.Log, Trust: o.Trust, Schedules: o.Schedules})
}

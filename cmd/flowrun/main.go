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
	// Only steps create child processes here, so this process can reap their process trees itself
	// and needs no supervisor process. Where the system does not support that, flowrun reports
	// processes that escape from a step.
	_ = proc.BecomeReaper()
	os.Exit(cli.Main(cli.Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Web: webDoor}))
}

// oneProcessor limits the Go scheduler to one processor, unless GOMAXPROCS is set. flowrun itself
// needs microseconds per step. With several processors its threads wake each other just when the
// steps need the CPUs: 1,000 short steps on two CPUs take 1.6 times as long as bare process
// creation, against 1.35 times with one processor.
func oneProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// webDoor returns the HTTP handler of flowrun serve. It is passed in because entry points do not
// import each other.
func webDoor(s service.API, o serve.WebOptions) (http.Handler, error) {
	return web.New(s, web.Options{Tokens: o.Tokens, Hosts: o.Hosts, StateDir: o.StateDir, Metrics: o.Metrics, Webhooks: o.Webhooks, Version: o.Version,
		Stopping: o.Stopping, Log: o.Log, Trust: o.Trust, MCP: o.MCP, Schedules: o.Schedules})
}

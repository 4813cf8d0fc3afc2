// Command flowrun runs tools defined in YAML from a shell.
package main

import (
	"net/http"
	"os"
	_ "time/tzdata" // time zones of schedules, where the machine has no database, as in an empty container

	"github.com/flowrun/flowrun/internal/cli"
	"github.com/flowrun/flowrun/internal/cli/serve"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/proc"
	_ "github.com/flowrun/flowrun/internal/os/startup"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/web"
)

func main() {
	engine.HelperMain()
	confine.Seal()
	limitHeapGrowth()
	// Only steps create child processes here, so this process can reap their process trees itself
	// and needs no supervisor process. Where the system does not support that, flowrun reports
	// processes that escape from a step.
	_ = proc.BecomeReaper()
	os.Exit(cli.Main(cli.Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Web: webDoor}))
}

// webDoor returns the HTTP handler of flowrun serve. It is passed in because entry points do not
// import each other.
func webDoor(s *service.Service, o serve.WebOptions) (http.Handler, error) {
	return web.New(web.ServiceOf(s), web.Options{Tokens: o.Tokens, Hosts: o.Hosts, StateDir: o.StateDir, Metrics: o.Metrics, Webhooks: o.Webhooks, Version: o.Version,
		Stopping: o.Stopping, Log: o.Log, Enter: o.Enter, MCP: o.MCP, Schedules: o.Schedules, Attention: o.Attention, Audit: o.Audit, Users: o.Users, Sessions: o.Sessions, UserHeader: o.UserHeader, ReadOnly: o.ReadOnly, URL: o.URL})
}

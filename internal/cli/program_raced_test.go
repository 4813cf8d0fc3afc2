//go:build !unix || race

package cli_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/flowrun/flowrun/internal/cli"
	"github.com/flowrun/flowrun/internal/cli/serve"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/web"
)

// mainWithProgram runs the tests with this test binary as flowrun, because it is compiled for the race detector.
func mainWithProgram(m *testing.M) (code int) {
	testscript.Main(m, map[string]func(){"flowrun": func() {
		_ = proc.BecomeReaper() // without it, what escapes a step is still reported
		os.Exit(cli.Main(cli.Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Web: func(s *service.Service, o serve.WebOptions) (http.Handler, error) {
				return web.New(web.ServiceOf(s), web.Options{Tokens: o.Tokens, Hosts: o.Hosts, StateDir: o.StateDir, Metrics: o.Metrics, Webhooks: o.Webhooks,
					Version: o.Version, Stopping: o.Stopping, Log: o.Log, Enter: o.Enter, MCP: o.MCP, Schedules: o.Schedules, Attention: o.Attention, Audit: o.Audit, Users: o.Users, Sessions: o.Sessions,
					UserHeader: o.UserHeader, ReadOnly: o.ReadOnly, URL: o.URL})
			}}))
	}})
	return 0 // Main has ended this process
}

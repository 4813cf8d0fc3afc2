package serve

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

func uiCommand(env *ui.Env, web Web) *cobra.Command {
	var listen []string
	var noBrowser bool
	c := &cobra.Command{
		Use:   "ui",
		Short: "Open the web UI in a browser",
		Long: `Open the web UI of the service in a browser, signed in. If no service is running for this
state directory, this command starts one, as flowrun serve does, and runs it until you stop
it with Ctrl-C.

The browser is signed in by a link that works once and for 5 minutes. Without a browser on
this machine, print the link with --no-browser.`,
		Example: `  flowrun ui
  flowrun ui --no-browser
  flowrun ui --listen 127.0.0.1:9000`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			show := func(link string) {
				fmt.Fprintln(env.Stdout, link)
				if !noBrowser {
					openBrowser(env, link)
				}
			}
			dir, err := ui.StateDir()
			if err != nil {
				return err
			}
			if !ui.ServiceRunning(dir) {
				return runService(env, c, web, serveFlags{listenFlags: listenFlags{listen: listen}, drain: defaultDrain, logFormat: "text", showLink: show})
			}
			if len(listen) > 0 {
				return ui.Usagef(c, "a service is running for the state directory %s, so --listen has no effect", dir)
			}
			var answer struct {
				URL string `json:"url"`
			}
			if err := ui.CallService("POST", "/api/v1/login-link", struct{}{}, &answer); err != nil {
				return err
			}
			show(answer.URL)
			return nil
		},
	}
	c.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the link")
	c.Flags().StringArrayVar(&listen, "listen", nil, "if no service is running, listen on `HOST:PORT` (default: "+defaultListen+")")
	return c
}

// openBrowser opens a link in the browser of the desktop. If there is none, the printed link has to do.
func openBrowser(env *ui.Env, link string) {
	var c *exec.Cmd
	switch {
	case runtime.GOOS == "darwin":
		c = exec.Command("open", link)
	case runtime.GOOS == "windows":
		c = exec.Command("rundll32", "url.dll,FileProtocolHandler", link)
	case os.Getenv("DISPLAY")+os.Getenv("WAYLAND_DISPLAY") == "":
		env.Notef("this machine has no desktop to open a browser on; open the link yourself")
		return
	default:
		c = exec.Command("xdg-open", link)
	}
	if err := c.Start(); err != nil {
		env.Notef("cannot open a browser: %v; open the link yourself", err)
		return
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			env.Notef("cannot open a browser: %v; open the link yourself", err)
		}
	case <-time.After(2 * time.Second): // some launchers run as long as the browser
	}
}

package servers

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/model/mcpclient"
)

func loginCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "login SERVER",
		Short: "Sign in to an MCP server",
		Long: `Sign in to an MCP server with OAuth. flowrun prints the URL of the page where you sign in, and
waits up to 10 minutes until your browser returns. The token is stored for you alone, and renewed
when it expires. It is sent to this server only.`,
		Example:           "  flowrun mcp login github",
		Args:              oneServer,
		ValidArgsFunction: completeServer,
		RunE: func(_ *cobra.Command, args []string) error {
			err := withServer(env, args[0], func(c *mcpclient.Client) error {
				return c.SignIn(args[0], func(url string) {
					env.Notef("to sign in to %s, open this page in a browser on this machine:", args[0])
					fmt.Fprintln(env.Stdout, url)
				})
			})
			if err != nil {
				return fmt.Errorf("cannot sign in to the MCP server %s: %w", args[0], err)
			}
			env.Notef("signed in to %s", args[0])
			return nil
		},
	}
}

func logoutCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "logout SERVER",
		Short: "Remove the token of an MCP server",
		Long: `Remove the token that flowrun mcp login stored. The server may accept it until it expires;
to end that earlier, remove flowrun from the list of applications in your account.`,
		Example:           "  flowrun mcp logout github",
		Args:              oneServer,
		ValidArgsFunction: completeServer,
		RunE: func(_ *cobra.Command, args []string) error {
			removed := false
			err := withServer(env, args[0], func(c *mcpclient.Client) (err error) {
				removed, err = c.SignOut(args[0])
				return err
			})
			switch {
			case err != nil:
				return fmt.Errorf("cannot sign out of the MCP server %s: %w", args[0], err)
			case removed:
				env.Notef("signed out of %s", args[0])
			default:
				env.Notef("you were not signed in to %s", args[0])
			}
			return nil
		},
	}
}

// withServer calls a function for a server of the settings.
func withServer(env *ui.Env, name string, f func(*mcpclient.Client) error) error {
	env.QuietServers()
	c, err := ui.LoadSettings(false)
	if err != nil {
		return err
	}
	if err := known(c, []string{name}); err != nil {
		return err
	}
	env.WithServers(func(client *mcpclient.Client) { err = f(client) })
	return err
}

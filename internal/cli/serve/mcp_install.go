package serve

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/model/clientconfig"
	"github.com/flowrun/flowrun/internal/os/editedfile"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// installFlags are the flags of flowrun mcp install.
type installFlags struct {
	client, name string
	user, print  bool
}

func installCommand(env *ui.Env, web Web) *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "install --client NAME [-- FLAGS]",
		Short: "Add this server to the settings of a client",
		Long: `Add flowrun mcp to the settings of a client, so that it offers the tools of this project.
Without --user, flowrun changes the settings in the project, for everyone who works on it;
with --user, those of your user account, with this folder as the server's directory. FLAGS
are passed to flowrun mcp.

Comments and all other settings stay as they are; a file for which flowrun cannot ensure that
is not changed, and the message says what to add by hand. The file is kept as FILE.bak before
it is changed. Running the command again changes nothing. In a project, links are not followed.

Clients: ` + strings.Join(clientconfig.Names(), ", ") + `.`,
		Example: `  flowrun mcp install --client claude-code
  flowrun mcp install --client cursor -- --auto-approve tool:read
  flowrun mcp install --client claude-desktop --user
  flowrun mcp install --client zed --print`,
		RunE: func(c *cobra.Command, args []string) error { return install(env, c, web, args, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.client, "client", "", "the `client`: "+strings.Join(clientconfig.Names(), "|"))
	fl.StringVar(&f.name, "name", "flowrun", "the `name` of the server in the settings")
	fl.BoolVar(&f.user, "user", false, "change the settings of your user account, not those of the project")
	fl.BoolVar(&f.print, "print", false, "print the settings file as it would be, and change nothing")
	c.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(clientconfig.Names(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// install adds the server to the settings of a client.
func install(env *ui.Env, c *cobra.Command, web Web, args []string, f installFlags) error {
	client, ok := clientconfig.Find(f.client)
	switch {
	case f.client == "":
		return ui.Usagef(c, "--client is missing; clients: %s", strings.Join(clientconfig.Names(), ", "))
	case !ok:
		return ui.Usagef(c, "--client: unknown client %q%s; clients: %s", f.client, ui.Nearest(f.client, clientconfig.Names()), strings.Join(clientconfig.Names(), ", "))
	case f.name == "":
		return ui.Usagef(c, "--name must not be empty")
	case len(args) > 0 && c.ArgsLenAtDash() != 0:
		return ui.Usagef(c, "unexpected argument %q; flags for flowrun mcp follow --", args[0])
	}
	if err := checkFlags(mcpCommand(env, web), args); err != nil {
		return ui.Usagef(c, "flowrun mcp %s: %v", strings.Join(args, " "), err)
	}
	read, server, err := installation(c, client, args, f)
	if err != nil {
		return err
	}
	file, err := read()
	if err != nil {
		return fmt.Errorf("cannot read the settings of %s: %w%s", client.Title, err, byHand(client, server))
	}
	text, err := client.Add(file.Text, server)
	if err != nil {
		return fmt.Errorf("cannot change %s: %w%s", console.Quote(file.Path), err, byHand(client, server))
	}
	if f.print {
		_, err := env.Stdout.Write(text)
		return err
	}
	return writeSettings(env, client, file, text)
}

// byHand returns what to add to the settings if flowrun cannot do it.
func byHand(client clientconfig.Client, s clientconfig.Server) string {
	block, err := client.Add(nil, s)
	if err != nil {
		return ""
	}
	return "; correct that, or add the server by hand:\n\n" + strings.TrimSpace(string(block))
}

// checkFlags checks the arguments of a command as if it was run.
func checkFlags(c *cobra.Command, args []string) error {
	if err := c.ParseFlags(args); err != nil {
		return err
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		return err
	}
	return c.PreRunE(c, nil)
}

// installation returns how to read the file to change, and what the client will start.
func installation(c *cobra.Command, client clientconfig.Client, args []string, f installFlags) (read func() (*editedfile.File, error), s clientconfig.Server, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, s, err
	}
	s = clientconfig.Server{Name: f.name, Args: append([]string{"mcp"}, args...)}
	if !f.user {
		path := client.ProjectFile(dir)
		if path == "" {
			return nil, s, ui.Usagef(c, "%s has no settings for a project; use --user", client.Title)
		}
		s.Command = sharedCommand()
		return func() (*editedfile.File, error) { return editedfile.ReadProject(dir, path) }, s, nil
	}
	if s.Command, err = os.Executable(); err != nil {
		return nil, s, fmt.Errorf("cannot find the path of flowrun: %w", err)
	}
	s.Args = append([]string{"mcp", "--directory", dir}, args...)
	d := clientconfig.Dirs{System: runtime.GOOS}
	if d.Home, err = home.Dir(); err != nil {
		return nil, s, err
	}
	if d.Config, err = os.UserConfigDir(); err != nil {
		return nil, s, err
	}
	return func() (*editedfile.File, error) { return editedfile.ReadUser(client.UserFile(d)) }, s, nil
}

// sharedCommand returns how others can start flowrun: by its name if that is this program here.
func sharedCommand() string {
	self, err := os.Executable()
	if err != nil {
		return "flowrun"
	}
	found, err := exec.LookPath("flowrun")
	if err != nil || !sameFile(found, self) {
		return self
	}
	return "flowrun"
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// writeSettings writes the settings, and reports where they are.
func writeSettings(env *ui.Env, client clientconfig.Client, file *editedfile.File, text []byte) error {
	if bytes.Equal(file.Text, text) {
		fmt.Fprintf(env.Stdout, "%s already has this server\n", file.Path)
		return nil
	}
	err := file.Keep()
	if err == nil {
		err = file.Write(text)
	}
	if err != nil {
		return fmt.Errorf("cannot write the settings of %s: %w", client.Title, err)
	}
	if file.Text == nil {
		fmt.Fprintf(env.Stdout, "wrote %s\n", file.Path)
	} else {
		fmt.Fprintf(env.Stdout, "changed %s; the former file is %s\n", file.Path, filepath.Base(file.Backup()))
	}
	env.Notef("restart %s, or reload its servers; then ask it to list the tools of flowrun", client.Title)
	return nil
}

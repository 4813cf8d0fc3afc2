package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/os/textdiff"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/library"
)

func trustCommand(env *ui.Env) *cobra.Command {
	var list, show, diff, remove bool
	var output string
	c := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Trust the settings and tools of a project",
		Long: `Trust the project that contains DIR (default: the current directory).

Until you trust a project,

- flowrun ignores the settings in its .flowrun/config.yaml and .flowrun/settings.json that
  start programs, extend permissions, raise limits or remove history: mcpServers, mcp,
  notifications, tools, approvals.allow, roots, history, webhooks, pools, and grace and limits
  above yours;
- no pattern allows a model to call its tools, and your own tools do not use them.

Trust applies to the folder, to the current definitions in .flowrun/tools and .cycod/tools,
and to the current values of these settings. When a setting is added or changed, flowrun
asks again. When a definition is, no pattern allows a model to call it any more. --show lists
these definitions, --diff shows what changed in them; to trust them, run flowrun trust again.

flowrun ignores a .flowrun or .cycod folder that belongs to another user, or that others
can write. To use it anyway, trust DIR itself. This is needed in a container with a project
of another user, and on file systems without owners.`,
		Example: `  flowrun trust
  flowrun trust --list
  flowrun trust --show
  flowrun trust --diff
  flowrun trust --remove ~/src/demo`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 || list && len(args) > 0 || moreThanOne(list, show, diff, remove) {
				return ui.Usagef(c, "give at most one folder, and one of --list, --show, --diff and --remove; --list takes no folder")
			}
			if !list && c.Flags().Changed("output") {
				return ui.Usagef(c, "--output requires --list")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := ui.StateDir()
			switch {
			case err != nil:
				return err
			case list:
				return listTrust(env, dir, output)
			}
			folder := "."
			if len(args) > 0 {
				folder = args[0]
			}
			switch {
			case show:
				return showTrust(env, dir, folder)
			case diff:
				return diffTrust(env, dir, folder)
			case remove:
				return withdrawTrust(env, dir, folder)
			}
			return trust(env, dir, folder)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list the projects that are trusted or declined")
	ui.OutputFlag(c, &output, "table", "json")
	c.Flags().BoolVar(&show, "show", false, "show which tools of the project were added, changed or removed since it was trusted")
	c.Flags().BoolVar(&diff, "diff", false, "show what changed in the tools of the project since it was trusted")
	c.Flags().BoolVar(&remove, "remove", false, "withdraw the decision about a project")
	return c
}

// moreThanOne reports whether more than one of the flags is set.
func moreThanOne(flags ...bool) bool {
	set := 0
	for _, f := range flags {
		if f {
			set++
		}
	}
	return set > 1
}

func trust(env *ui.Env, stateDir, folder string) error {
	if st, err := os.Stat(folder); err != nil || !st.IsDir() {
		if err == nil {
			err = errors.New("not a folder")
		}
		return ui.Missing(fmt.Errorf("cannot trust %q: %w", folder, err))
	}
	vouched, err := vouch(env, stateDir, folder)
	if err != nil {
		return err
	}
	c, err := config.Load(config.Options{WorkingDirectory: folder, StateDir: stateDir})
	if err != nil {
		return err
	}
	switch t := c.Trust; {
	case vouched && len(t.Needed) == 0:
		return nil
	case t.Folder == "":
		return ui.Missing(fmt.Errorf("cannot find a project: neither %s nor a folder above it contains .flowrun or .cycod/tools", folder))
	case len(t.Needed) > 0:
		ui.PrintProjectSettings(env, t)
	}
	if err := c.Decide(stateDir, true); err != nil {
		return err
	}
	env.Notef("trusted %s: its settings apply, and patterns that allow tools match its tools; to undo: flowrun trust --remove", console.Quote(c.Trust.Folder))
	return nil
}

// vouch records that the .flowrun of a folder is trusted although another user owns it or others
// can write it. It returns false if that is not necessary.
func vouch(env *ui.Env, stateDir, folder string) (bool, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return false, err
	}
	uid, foreign := ownership.ForeignOwner(abs)
	if !foreign || config.Vouched(stateDir, abs, uid) {
		return false, nil
	}
	if err := config.Vouch(stateDir, abs, uid); err != nil {
		return false, err
	}
	env.Notef("trusted %s, although user %d or others can write its .flowrun; to undo: flowrun trust --remove", console.Quote(abs), uid)
	return true, nil
}

// compare compares the definitions of a project with those that were trusted.
func compare(stateDir, folder string) ([]config.FileState, error) {
	c, err := config.Load(config.Options{WorkingDirectory: folder, StateDir: stateDir})
	if err != nil {
		return nil, err
	}
	if t := c.Trust; t.State != config.Trusted {
		return nil, ui.Missing(fmt.Errorf("the project of %q is not trusted; to trust it: flowrun trust", folder))
	}
	files, err := c.Trust.Compare()
	if err != nil {
		return nil, fmt.Errorf("cannot compare the definitions of the project: %w", err)
	}
	return files, nil
}

// showTrust lists the definitions of a project, and whether they were trusted.
func showTrust(env *ui.Env, stateDir, folder string) error {
	files, err := compare(stateDir, folder)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, f := range files {
		rows = append(rows, []string{f.File, f.State})
	}
	if len(rows) == 0 {
		env.Notef("the project has no tools")
		return nil
	}
	return ui.Table(env, console.Columns("FILE", "STATE"), rows, nil)
}

// diffTrust shows what changed in the definitions of a project since they were trusted.
func diffTrust(env *ui.Env, stateDir, folder string) error {
	files, err := compare(stateDir, folder)
	if err != nil {
		return err
	}
	changes := 0
	for _, f := range files {
		if f.State == "unchanged" {
			continue
		}
		changes++
		text := textdiff.Unified("trusted/"+f.File, string(f.Before), f.File, string(f.Now))
		if !f.Known {
			text = f.File + ": " + f.State + "; the text that was trusted is not known\n"
		}
		for line := range strings.Lines(text) { // somebody else may have written it, so nothing in it may hide
			if _, err := fmt.Fprintln(env.Stdout, console.VisibleLine(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
	}
	if changes == 0 {
		env.Notef("the tools of the project are as you trusted them")
	}
	return nil
}

type projectJSON struct {
	Folder string    `json:"folder"`
	State  string    `json:"state"`
	Since  time.Time `json:"since"`
}

func listTrust(env *ui.Env, stateDir, output string) error {
	list, err := config.Records(stateDir)
	if err != nil {
		return err
	}
	projects, rows := []projectJSON{}, [][]string{}
	for _, r := range list {
		word := string(config.Declined)
		switch {
		case r.Vouched:
			word = "another user's"
		case r.Trusted:
			word = string(config.Trusted)
		}
		projects = append(projects, projectJSON{r.Folder, word, r.At})
		rows = append(rows, []string{r.Folder, word, r.At.Local().Format(time.DateTime)})
	}
	if output == "json" {
		return ui.WriteJSON(env, struct {
			Schema   string        `json:"schema"`
			Projects []projectJSON `json:"projects"`
		}{"flowrun/trust.v1", projects})
	}
	if len(rows) == 0 {
		env.Notef("no trusted or declined projects")
		return nil
	}
	return ui.Table(env, []console.Column{{Title: "PROJECT"}, {Title: "STATE"}, {Title: "SINCE", Yields: 1, Whole: true}}, rows, nil)
}

func withdrawTrust(env *ui.Env, stateDir, folder string) error {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	home, _ := os.UserHomeDir()                                                                    // if unknown, no folder is the home folder
	for _, dir := range []string{library.ProjectRoot(abs), library.ToolsProject(abs, home), abs} { // the project may no longer exist
		if dir == "" {
			continue
		}
		found, err := config.Forget(stateDir, dir)
		if err != nil {
			return fmt.Errorf("cannot withdraw the decision: %w", err)
		}
		if found {
			env.Notef("withdrew the decision about %s", console.Quote(dir))
			return nil
		}
	}
	return ui.Missing(fmt.Errorf("no decision about %q is recorded; to list the decisions: flowrun trust --list", folder))
}

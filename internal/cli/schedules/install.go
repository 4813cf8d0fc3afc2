package schedules

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// installFlags are the flags of flowrun schedule install.
type installFlags struct{ systemd, crontab, user, dryRun, remove bool }

func scheduleInstallCommand(env *ui.Env) *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "install [NAME ...]",
		Short: "Install the service or schedules with systemd or cron",
		Long: `Without a name, write a systemd unit that keeps flowrun serve running. This is the
recommended way, because only flowrun serve supports all features of schedules. With names,
write a systemd timer for each schedule, or with --crontab a line of your crontab. The
command then lists the features that do not work this way. Units are user units, or system
units if you are root.

The command starts nothing; it prints the commands that do. --remove removes what it wrote.`,
		Example: `  flowrun schedule install
  flowrun schedule install report --dry-run
  flowrun schedule install report --crontab
  flowrun schedule install report --remove`,
		RunE: func(c *cobra.Command, args []string) error {
			if f.systemd && f.crontab {
				return ui.Usagef(c, "--systemd and --crontab cannot be combined")
			}
			if f.crontab && len(args) == 0 {
				return ui.Usagef(c, "missing argument: give the name of a schedule; cron cannot keep the service running")
			}
			if f.crontab && f.user {
				return ui.Usagef(c, "--user cannot be combined with --crontab, because a crontab always belongs to a user")
			}
			if runtime.GOOS == "windows" {
				return errors.New("cannot install a schedule on Windows: it has neither systemd nor cron; run flowrun serve, or start flowrun run with the task scheduler of Windows")
			}
			return env.ReadHistory(func(ctx context.Context, s ui.History) error {
				list, err := namedSchedules(ctx, env, s, args, false)
				if err != nil {
					return err
				}
				for _, e := range list {
					if e.Trigger != nil {
						return fmt.Errorf("cannot install %s: it has no times, it runs %s; only flowrun serve can start it: flowrun schedule install", e.Title, e.When())
					}
				}
				in, err := installationOf(f)
				if err != nil {
					return err
				}
				for _, path := range append(folders(list), in.program, in.home, in.state, timetable.ProjectHere()) {
					if strings.ContainsAny(path, "\n\r") {
						return fmt.Errorf("cannot use the path %q with systemd or cron: it contains a line break", path)
					}
				}
				switch {
				case f.crontab:
					return installCrontab(env, in, list, f)
				case len(args) == 0:
					return installUnits(env, in, f, []unit{in.serveUnit(timetable.ProjectHere())})
				}
				return installTimers(env, in, list, f)
			})
		},
	}
	c.ValidArgsFunction = completeSchedules(env)
	fl := c.Flags()
	fl.BoolVar(&f.systemd, "systemd", false, "write systemd units (the default)")
	fl.BoolVar(&f.crontab, "crontab", false, "write lines of your crontab")
	fl.BoolVar(&f.user, "user", false, "write user units even if you are root")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print what would be written, without changing anything")
	fl.BoolVar(&f.remove, "remove", false, "remove what was written")
	return c
}

func installationOf(f installFlags) (installation, error) {
	program, err := os.Executable()
	if err != nil {
		return installation{}, fmt.Errorf("cannot find the path of flowrun: %w", err)
	}
	at, err := home.Dir()
	if err != nil {
		return installation{}, err
	}
	return installation{program: program, home: at, state: os.Getenv("FLOWRUN_STATE_DIR"), system: os.Geteuid() == 0 && !f.user}, nil
}

// folders returns the projects of the schedules.
func folders(list []timetable.Entry) (dirs []string) {
	for _, e := range list {
		dirs = append(dirs, e.Project)
	}
	return dirs
}

// unit is one systemd unit file. id is the schedule that it is for.
type unit struct{ name, id, text string }

// folder returns the folder for unit files.
func (in installation) folder() string {
	if in.system {
		return "/etc/systemd/system"
	}
	return filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(in.home, ".config")), "systemd", "user")
}

// systemctl returns the command that manages the units.
func (in installation) systemctl() string {
	if in.system {
		return "systemctl"
	}
	return "systemctl --user"
}

// serveUnit returns the unit that keeps flowrun serve running, for a project, or for user and
// global tools if project is "".
func (in installation) serveUnit(project string) unit {
	name, dir, about := "flowrun", in.home, "flowrun serve"
	if project != "" {
		name, dir, about = "flowrun-serve-"+unitNamePart(filepath.Base(project)), project, "flowrun serve for "+project
	}
	wanted := "default.target"
	if in.system {
		wanted = "multi-user.target"
	}
	id := timetable.ScheduleID("serve", project)
	return unit{name + ".service", id, in.serviceUnit(id, about, dir, "exec", wanted, []string{in.program, "serve"})}
}

// unitNamePart replaces all characters that are not allowed in names of units.
func unitNamePart(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r) {
			return r
		}
		return '-'
	}, s)
}

// installTimers writes a timer and a service for each schedule. It returns an error for a schedule
// that systemd cannot express.
func installTimers(env *ui.Env, in installation, list []timetable.Entry, f installFlags) error {
	var units []unit
	for _, e := range list {
		calendar, err := onCalendar(e.Spec)
		if err != nil && !f.remove {
			return fmt.Errorf("cannot write a timer for schedule %s: %w; to install flowrun serve, which can run it: flowrun schedule install, without a name", e.Title, err)
		}
		units = append(units, unit{unitName(e) + ".timer", e.Name, timerUnit(e, calendar)},
			unit{unitName(e) + ".service", e.Name, in.serviceUnit(e.Name, "flowrun schedule "+e.Title+": tool "+e.Tool, in.dir(e), "oneshot", "", in.runCommand(e))})
		if !f.remove {
			reportUnsupported(env, e, false)
		}
	}
	return installUnits(env, in, f, units)
}

// reportUnsupported lists the features of a schedule that only flowrun serve supports.
func reportUnsupported(env *ui.Env, e timetable.Entry, cron bool) {
	env.Notef("schedule %s behaves differently when it runs this way:", e.Title)
	for _, text := range unsupportedFeatures(e, cron) {
		fmt.Fprintf(env.Stderr, "  - %s\n", text)
	}
	if !e.Paused {
		fmt.Fprintf(env.Stderr, "  - if flowrun serve is also running, both start the tool; to prevent this: flowrun schedule pause %s\n", shellword.Sh(e.Title))
	}
}

// installUnits writes the units or removes them. It changes nothing if a unit file exists that
// belongs to something else.
func installUnits(env *ui.Env, in installation, f installFlags, units []unit) error {
	for _, u := range units { // before anything is written, so that either all units are or none
		if strings.ContainsAny(u.id, "\r\n") { // the rest of the path would be lines of the unit
			return fmt.Errorf("cannot write %s: the path of the project, %q, has a line break", u.name, u.id)
		}
		text, err := os.ReadFile(filepath.Join(in.folder(), u.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(text, []byte(marker(u.id))) {
			return fmt.Errorf("cannot change %s: it was not written for this schedule; move it away first", filepath.Join(in.folder(), u.name))
		}
	}
	var enabled []string
	removed := 0
	for _, u := range units {
		path := filepath.Join(in.folder(), u.name)
		if strings.Contains(u.text, "[Install]") {
			enabled = append(enabled, u.name)
		}
		switch {
		case f.dryRun && f.remove:
			fmt.Fprintf(env.Stdout, "would remove %s\n", path)
		case f.dryRun:
			fmt.Fprintf(env.Stdout, "# %s\n%s\n", path, u.text)
		case f.remove:
			err := os.Remove(path)
			if errors.Is(err, fs.ErrNotExist) {
				env.Notef("%s does not exist", path)
				continue
			}
			if err != nil {
				return err
			}
			removed++
			fmt.Fprintf(env.Stdout, "removed %s\n", path)
		default:
			if err := os.MkdirAll(in.folder(), 0o755); err != nil {
				return err
			}
			if err := atomicfile.Output(path, []byte(u.text), 0o644); err != nil {
				return err
			}
			fmt.Fprintf(env.Stdout, "wrote %s\n", path)
		}
	}
	if f.dryRun || f.remove && removed == 0 {
		return nil
	}
	ctl, names := in.systemctl(), strings.Join(enabled, " ")
	if f.remove {
		env.Notef("now stop it: %s disable --now %s; %s daemon-reload", ctl, names, ctl)
		return nil
	}
	env.Notef("now start it: %s daemon-reload && %s enable --now %s", ctl, ctl, names)
	if !in.system {
		env.Notef("to keep it running while you are not logged in: loginctl enable-linger")
	}
	return nil
}

// installCrontab adds a line for each schedule to the user's crontab, or removes these lines.
func installCrontab(env *ui.Env, in installation, list []timetable.Entry, f installFlags) error {
	before, err := readCrontab()
	if err != nil && !f.dryRun {
		return err
	}
	text := before
	for _, e := range list {
		text = removeCrontabEntry(text, e.Name)
		if f.remove {
			continue
		}
		line, err := in.crontabLine(e)
		if err != nil {
			return fmt.Errorf("cannot write a crontab line for schedule %s: %w; to install flowrun serve, which can run it: flowrun schedule install, without a name", e.Title, err)
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += marker(e.Name) + line + "\n"
		reportUnsupported(env, e, true)
		if f.dryRun {
			fmt.Fprint(env.Stdout, marker(e.Name)+line+"\n")
		}
	}
	switch {
	case f.dryRun && f.remove:
		fmt.Fprintf(env.Stdout, "would change %s of the crontab\n", plural.Of(strings.Count(before, "\n")-strings.Count(text, "\n"), "line"))
		return nil
	case f.dryRun:
		return nil
	case text == before:
		env.Notef("nothing to change in the crontab")
		return nil
	}
	cmd := exec.Command("crontab", "-")
	cmd.Stdin = strings.NewReader(text)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := proc.Run(cmd, 0); err != nil {
		return fmt.Errorf("cannot change the crontab: %w: %s", err, bytes.TrimSpace(output.Bytes()))
	}
	fmt.Fprintln(env.Stdout, "changed the crontab; to see it: crontab -l")
	return nil
}

// readCrontab returns the user's crontab, or "" if there is none.
func readCrontab() (string, error) {
	cmd := exec.Command("crontab", "-l")
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	err := proc.Run(cmd, 0)
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("cannot find the program crontab; install cron, or print the line with --dry-run")
	case strings.Contains(bad.String(), "no crontab"):
		return "", nil
	}
	return "", fmt.Errorf("cannot read the crontab: %w: %s", err, bytes.TrimSpace(bad.Bytes()))
}

// removeCrontabEntry returns a crontab without the lines that were written for a schedule.
func removeCrontabEntry(text, id string) string {
	before, after, found := strings.Cut("\n"+text, "\n"+marker(id))
	if !found {
		return text
	}
	_, rest, _ := strings.Cut(after, "\n")
	return strings.TrimPrefix(before+"\n"+rest, "\n")
}

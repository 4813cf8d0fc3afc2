package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// finding is the result of one check.
type finding struct {
	Check   string `json:"check"`  // the subject, a stable name
	Status  string `json:"status"` // ok, warn or fail
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`  // what to do about it
	Fixed   bool   `json:"fixed,omitempty"` // set if --fix has solved the problem

	fix func() error // used by --fix; nil if only a person can solve the problem
}

// Statuses of findings.
const (
	statusOK   = "ok"
	statusWarn = "warn"
	statusFail = "fail"
)

// checks returns all checks, in the order in which they run.
func checks(env *ui.Env) []func() []finding {
	of := func(check func(*ui.Env) []finding) func() []finding { return func() []finding { return check(env) } }
	return []func() []finding{
		checkVersion, checkShells, checkClock, checkTemp, checkSupervision, checkPermissions, checkMechanisms, of(checkTerminal),
		checkSettings, of(checkDiscovery), checkTelemetry, checkState, of(checkHistory), of(checkRuns), of(checkAttention), of(checkScheduler),
		of(checkScopes), of(checkDefinitions), of(checkSchemas),
	}
}

func doctorCommand(env *ui.Env) *cobra.Command {
	var output string
	var fix bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check your installation",
		Long: `Check everything that runs need on this machine: shells, clock, temporary folder, process
supervision, terminal, settings and traces. The command also checks the history and its
permissions, interrupted runs and their leftovers, everything that needs a person, the
folders of tools, and the definitions in them.

Each line is ok, warn or fail, with a hint. --fix creates missing folders and removes the
access of other users to the history. The command exits with 1 if a check fails.`,
		Example: `  flowrun doctor
  flowrun doctor --fix
  flowrun doctor -o json | jq '.findings[] | select(.status != "ok")'`,
		Args: ui.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			return doctor(env, output, fix)
		},
	}
	ui.OutputFlag(c, &output, "text", "json")
	c.Flags().BoolVar(&fix, "fix", false, "fix what can be fixed without risk")
	return c
}

func doctor(env *ui.Env, output string, fix bool) error {
	var all []finding
	for _, check := range checks(env) {
		for _, f := range check() {
			if fix && f.fix != nil {
				f.runFix()
			}
			all = append(all, f)
		}
	}
	return report(env, all, output)
}

// report prints findings. If one of them is a failure, it returns exit code 1 as an error.
func report(env *ui.Env, all []finding, output string) error {
	if output == "json" {
		err := ui.WriteJSON(env, struct {
			Schema   string    `json:"schema"`
			Findings []finding `json:"findings"`
		}{"flowrun/doctor.v1", all})
		if err != nil {
			return err
		}
	} else {
		printFindings(env, all)
	}
	if slices.ContainsFunc(all, func(f finding) bool { return f.Status == statusFail }) {
		return ui.CodeError(outcome.ExitFailed)
	}
	return nil
}

// runFix runs the fix of the finding and updates its status.
func (f *finding) runFix() {
	if err := f.fix(); err != nil {
		f.Status, f.Hint = statusFail, ui.Format("could not be fixed: %v", err)
		return
	}
	f.Status, f.Hint, f.Fixed = statusOK, "", true
}

func printFindings(env *ui.Env, all []finding) {
	width, count := 0, map[string]int{}
	for _, f := range all {
		width = max(width, len(f.Check))
		count[f.Status]++
	}
	indent := strings.Repeat(" ", width+8)
	for _, f := range all {
		message := f.Message
		if f.Fixed {
			message += " (fixed)"
		}
		lines := strings.Split(message, "\n")
		for i, line := range lines {
			lines[i] = console.Clean(line)
		}
		fmt.Fprintf(env.Stdout, "%-4s  %-*s  %s\n", f.Status, width, f.Check, strings.Join(lines, "\n"+indent))
		if f.Hint != "" {
			fmt.Fprintf(env.Stdout, "%s-> %s\n", indent, console.Clean(f.Hint))
		}
	}
	fmt.Fprintf(env.Stdout, "\n%d ok, %d warn, %d fail\n", count[statusOK], count[statusWarn], count[statusFail])
}

// passed returns a finding with the status ok; warning and failed return warnings and failures.
func passed(check, format string, args ...any) finding {
	return finding{Check: check, Status: statusOK, Message: ui.Format(format, args...)}
}

func warning(check, hint, format string, args ...any) finding {
	return finding{Check: check, Status: statusWarn, Hint: hint, Message: ui.Format(format, args...)}
}

func failed(check, hint, format string, args ...any) finding {
	return finding{Check: check, Status: statusFail, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// checkPrivate returns a finding with a fix if other users can access any of the files, and nil
// otherwise.
func checkPrivate(check string, files []string) []finding {
	if runtime.GOOS == "windows" { // file modes do not describe access there
		return nil
	}
	var open []string
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
			open = append(open, file)
		}
	}
	if len(open) == 0 {
		return nil
	}
	f := failed(check, "flowrun doctor --fix removes their access (chmod go-rwx)", "other users can access %s", strings.Join(open, ", "))
	f.fix = func() error {
		for _, file := range open {
			if err := removeOtherAccess(file); err != nil {
				return err
			}
		}
		return nil
	}
	return []finding{f}
}

// removeOtherAccess removes the access of group and others from a file. It does not follow symbolic
// links, because their targets may belong to somebody else.
func removeOtherAccess(file string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link; change its target yourself", file)
	}
	return os.Chmod(file, info.Mode().Perm()&0o700)
}

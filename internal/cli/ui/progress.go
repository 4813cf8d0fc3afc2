package ui

import (
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// leastColumns is how wide a terminal must be for the live view.
const leastColumns = 20

// ProgressModes are the ways to narrate a run.
func ProgressModes() []string {
	return []string{"auto", "tty", "plain", "json", "github", "quiet", "none"}
}

// ResolveProgress decides how a run is narrated: by --progress, else FLOWRUN_PROGRESS, else by
// where stderr goes.
func (env *Env) ResolveProgress(c *cobra.Command, f *Asking) error {
	if err := OneOf(c, "progress", f.Progress, ProgressModes()); err != nil {
		return err
	}
	asked := f.Progress
	if word := os.Getenv("FLOWRUN_PROGRESS"); word != "" && !c.Flags().Changed("progress") {
		if !slices.Contains(ProgressModes(), word) {
			return Usagef(c, "FLOWRUN_PROGRESS=%q is not one of %s", word, strings.Join(ProgressModes(), ", "))
		}
		if f.Progress = word; word == "tty" && !drawable(env.Stderr) {
			f.Progress = "plain" // a habit, not an order
		}
	}
	if asked == "tty" && !drawable(env.Stderr) {
		return Usagef(c, "--progress tty needs a terminal on standard error; use --progress plain instead")
	}
	if f.Progress == "auto" {
		f.Progress = env.automatic()
	}
	env.inJSON = f.Progress == "json"
	return nil
}

// automatic is the mode for where stderr goes.
func (env *Env) automatic() string {
	switch {
	case os.Getenv("GITHUB_ACTIONS") == "true":
		return "github"
	case !drawable(env.Stderr), os.Getenv("CI") != "", accessible(), os.Getenv("TERM") == "", os.Getenv("TERM") == "dumb":
		return "plain"
	}
	if cols, _ := SizeOf(env.Stderr); cols < leastColumns {
		return "plain"
	}
	return "tty"
}

// accessible says whether the user wants nothing that moves.
func accessible() bool {
	v := os.Getenv("FLOWRUN_ACCESSIBLE")
	return v != "" && v != "0"
}

// drawable says whether a live view can be drawn on w. Windows' console is not driven
// yet.
func drawable(w io.Writer) bool { return IsTerminal(w) && runtime.GOOS != "windows" }

// Verbose says whether a progress mode has room for sentences on stderr.
func Verbose(mode string) bool { return mode == "tty" || mode == "plain" || mode == "github" }

package ui

import (
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// minColumns is the minimum width of a terminal for the live view.
const minColumns = 20

// ProgressModes returns the values of --progress.
func ProgressModes() []string {
	return []string{"auto", "tty", "plain", "json", "github", "quiet", "none"}
}

// ResolveProgress determines how progress is shown: from --progress, otherwise from
// FLOWRUN_PROGRESS, otherwise from the type of stderr.
func (t *Terminal) ResolveProgress(c *cobra.Command, f *InteractionFlags) error {
	if err := OneOf(c, "progress", f.Progress, ProgressModes()); err != nil {
		return err
	}
	asked := f.Progress
	if word := os.Getenv("FLOWRUN_PROGRESS"); word != "" && !c.Flags().Changed("progress") {
		if !slices.Contains(ProgressModes(), word) {
			return Usagef(c, "FLOWRUN_PROGRESS=%q is not one of %s", word, strings.Join(ProgressModes(), ", "))
		}
		if f.Progress = word; word == "tty" && !canDrawView(t.Stderr) {
			f.Progress = "plain" // the variable is only a preference, so it causes no error
		}
	}
	if asked == "tty" && !canDrawView(t.Stderr) {
		return Usagef(c, "--progress tty needs a terminal on standard error; use --progress plain instead")
	}
	if f.Progress == "auto" {
		f.Progress = t.autoProgress()
	}
	t.inJSON = f.Progress == "json"
	return nil
}

// autoProgress returns the progress mode that suits stderr.
func (t *Terminal) autoProgress() string {
	switch {
	case os.Getenv("GITHUB_ACTIONS") == "true":
		return "github"
	case !canDrawView(t.Stderr), os.Getenv("CI") != "", noAnimations(), os.Getenv("TERM") == "", os.Getenv("TERM") == "dumb":
		return "plain"
	}
	if cols, _ := TerminalSize(t.Stderr); cols < minColumns {
		return "plain"
	}
	return "tty"
}

// noAnimations reports whether the user has turned off animations.
func noAnimations() bool {
	v := os.Getenv("FLOWRUN_ACCESSIBLE")
	return v != "" && v != "0"
}

// canDrawView reports whether a live view can be drawn on w. The console of Windows is not supported
// yet.
func canDrawView(w io.Writer) bool { return IsTerminal(w) && runtime.GOOS != "windows" }

// Verbose reports whether a progress mode allows messages on stderr.
func Verbose(mode string) bool { return mode == "tty" || mode == "plain" || mode == "github" }

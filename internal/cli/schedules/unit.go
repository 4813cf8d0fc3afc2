package schedules

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// This file generates systemd units and crontab lines that run the tool of a schedule without
// flowrun serve. Quoting makes sure that each parameter stays one word there.

// installation describes this installation of flowrun to units and crontab lines.
type installation struct {
	program string // absolute path
	home    string // working directory of tools without a project
	state   string // FLOWRUN_STATE_DIR, or ""
	system  bool   // units of the machine instead of the user
}

// runCommand returns the command that runs the schedule's tool.
func (in installation) runCommand(e timetable.Entry) []string {
	words := []string{in.program, "run", "--no-input"}
	for _, name := range slices.Sorted(maps.Keys(e.Labels)) {
		words = append(words, "--label", name+"="+e.Labels[name])
	}
	words = append(words, e.Tool)
	names := make([]string, 0, len(e.Params))
	for name := range e.Params {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		words = append(words, parameterArgument(name, e.Params[name]))
	}
	return words
}

// parameterArgument returns the argument for a parameter. Anything but simple text is written as JSON
// in ASCII, which every kind of file can contain. % is escaped too, because it is special both in
// units and in crontabs.
func parameterArgument(name string, v any) string {
	if s, ok := v.(string); ok && !strings.HasPrefix(s, "@") &&
		strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '%' || r == '\\' }) < 0 {
		return name + "=" + s
	}
	b, _ := json.Marshal(v) // cannot fail: v came from JSON, YAML or the command line
	var ascii strings.Builder
	for _, r := range string(b) {
		switch {
		case r == '%' || r == 0x7f || r > '~' && r < 0x10000:
			fmt.Fprintf(&ascii, `\u%04x`, r)
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&ascii, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			ascii.WriteRune(r)
		}
	}
	return name + ":=" + ascii.String()
}

// marker returns the first line of every file and entry that flowrun writes here. It contains the
// id of the schedule.
func marker(id string) string { return "# flowrun schedule install: " + id + "\n" }

// unitName returns the name of a schedule's units without extension. Unit names must not contain #,
// so it becomes a colon, which occurs in no name of a schedule.
func unitName(e timetable.Entry) string { return "flowrun-" + strings.ReplaceAll(e.Title, "#", ":") }

// serviceUnit returns a service unit that runs a command of flowrun. wanted is the target that
// starts it, or "" for the service of a timer.
func (in installation) serviceUnit(id, about, dir, kind, wanted string, words []string) string {
	var b strings.Builder
	b.WriteString(marker(id))
	fmt.Fprintf(&b, "[Unit]\nDescription=%s\n", strings.ReplaceAll(about, "%", "%%"))
	if in.system {
		b.WriteString("After=network-online.target\nWants=network-online.target\n")
	}
	fmt.Fprintf(&b, "\n[Service]\nType=%s\nWorkingDirectory=%s\n", kind, shellword.UnitPath(dir))
	// The user's secrets and settings, which must not be part of the unit; %E is ~/.config or /etc.
	b.WriteString("EnvironmentFile=-%E/flowrun/environment\n")
	if in.state != "" {
		fmt.Fprintf(&b, "Environment=%s\n", shellword.Unit("FLOWRUN_STATE_DIR="+in.state))
	}
	fmt.Fprintf(&b, "ExecStart=%s %s\nKillMode=mixed\nTimeoutStopSec=120\n", shellword.Unit(words[0]), shellword.Join(shellword.UnitArgument, words[1:]))
	if wanted != "" {
		fmt.Fprintf(&b, "Restart=on-failure\n\n[Install]\nWantedBy=%s\n", wanted)
	}
	return b.String()
}

// timerUnit returns the timer that starts the service unit of the same name.
func timerUnit(e timetable.Entry, calendar string) string {
	var b strings.Builder
	b.WriteString(marker(e.Name))
	fmt.Fprintf(&b, "[Unit]\nDescription=flowrun schedule %s: %s\n\n[Timer]\nOnCalendar=%s\nAccuracySec=1s\n", e.Title, e.Spec.Describe(), calendar)
	if e.CatchUp != schedule.CatchUpNone {
		b.WriteString("Persistent=true\n")
	}
	if e.Jitter > 0 {
		fmt.Fprintf(&b, "RandomizedDelaySec=%ds\n", e.Jitter/time.Second)
	}
	b.WriteString("\n[Install]\nWantedBy=timers.target\n")
	return b.String()
}

// crontabLine returns the line that runs the tool from cron.
func (in installation) crontabLine(e timetable.Entry) (string, error) {
	when, err := crontabTime(e.Spec)
	if err != nil {
		return "", err
	}
	dir := in.dir(e)
	words := slices.Insert(in.runCommand(e), 2, "--quiet") // cron sends a mail about everything that is printed
	if in.state != "" {
		words = append([]string{"FLOWRUN_STATE_DIR=" + in.state}, words...)
		words = append([]string{"env"}, words...)
	}
	line := when + " cd " + shellword.Sh(dir) + " && " + shellword.Join(shellword.Sh, words)
	if strings.ContainsAny(line, "%\n\r") {
		return "", errors.New("a path contains % or a line break, which cannot be escaped safely in a crontab")
	}
	return line, nil
}

// dir returns the folder in which flowrun finds the schedule's tool.
func (in installation) dir(e timetable.Entry) string {
	if e.Project != "" {
		return e.Project
	}
	return in.home
}

// unsupportedFeatures returns the features of a schedule that systemd, or cron, does not support.
func unsupportedFeatures(e timetable.Entry, cron bool) []string {
	var list []string
	add := func(condition bool, text string) {
		if condition {
			list = append(list, text)
		}
	}
	other := "systemd"
	if cron {
		other = "cron"
	}
	add(cron && e.CatchUp != schedule.CatchUpNone, "times that pass while the machine is off are lost")
	add(!cron && e.CatchUp == schedule.CatchUpAll, "of the times that pass while the machine is off, only one runs")
	add(!cron && e.Window > 0 && e.CatchUp != schedule.CatchUpNone, "the catch-up window has no effect")
	add(cron && e.Overlap != schedule.OverlapAllow, "the tool also starts while the previous run is active")
	add(!cron && e.Overlap != "" && e.Overlap != schedule.OverlapSkip, "a scheduled time is skipped while the previous run is active")
	add(cron && e.Jitter > 0, "jitter has no effect")
	add(e.SkipIfSuccessful, "skip-if-successful has no effect")
	for _, v := range e.Params {
		if found := tool.SchedulePlaceholders(v); len(found) > 0 {
			add(true, found[0]+" in params is not replaced")
		}
	}
	add(e.MustEndBy.IsSet(), "must-end-by has no effect: nothing reports a late run")
	add(e.PauseAfter > 0, "pause-after has no effect")
	add(e.Except.String() != "", "except has no effect: the tool also starts on those days")
	add(!e.Start.IsZero() || !e.End.IsZero(), "start and end have no effect")
	add(true, other+" decides about times that daylight saving skips or repeats, and flowrun schedule pause has no effect")
	return list
}

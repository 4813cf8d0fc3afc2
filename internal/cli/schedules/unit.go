package schedules

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/cli/timetable"
	"github.com/flowrun/flowrun/internal/schedule"
)

// This file writes the units of systemd and the lines of crontab that run a schedule's
// tool without flowrun serve. Whatever stands in a parameter is one word there.

// installation is what both need to know.
type installation struct {
	program string // absolute
	home    string // where tools of no project run
	state   string // FLOWRUN_STATE_DIR where it is set
	system  bool   // units of the machine, not of a user
}

// runWords are the words that run the schedule's tool.
func (in installation) runWords(e timetable.Planned) []string {
	words := []string{in.program, "run", "--no-input", e.Tool}
	names := make([]string, 0, len(e.Params))
	for name := range e.Params {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		words = append(words, parameterWord(name, e.Params[name]))
	}
	return words
}

// parameterWord gives a parameter on a command line. What is no plain text is JSON in
// ASCII, which every kind of file takes, and % is special in both.
func parameterWord(name string, v any) string {
	if s, ok := v.(string); ok && !strings.HasPrefix(s, "@") &&
		strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '%' || r == '\\' }) < 0 {
		return name + "=" + s
	}
	b, _ := json.Marshal(v) // it came from JSON, YAML or the command line
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

// unitWord is a word of ExecStart and the like: nothing in it means anything to systemd.
func unitWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`, "\n", `\n`).Replace(s) + `"`
}

// unitPath is a path as WorkingDirectory takes it, which knows no quotes.
func unitPath(s string) string { return strings.NewReplacer(`\`, `\\`, `%`, `%%`).Replace(s) }

// marker is the first line of every file that flowrun writes here, with the id of the
// schedule it is for.
func marker(id string) string { return "# flowrun schedule install: " + id + "\n" }

// unitName is the name of a schedule's units without their extension. # is not allowed
// there, : is and stands in no schedule's name.
func unitName(e timetable.Planned) string { return "flowrun-" + strings.ReplaceAll(e.Title, "#", ":") }

// serviceUnit runs a command of flowrun.
func (in installation) serviceUnit(id, about, dir, kind, wanted string, words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = unitWord(w)
	}
	var b strings.Builder
	b.WriteString(marker(id))
	fmt.Fprintf(&b, "[Unit]\nDescription=%s\n", strings.ReplaceAll(about, "%", "%%"))
	if in.system {
		b.WriteString("After=network-online.target\nWants=network-online.target\n")
	}
	fmt.Fprintf(&b, "\n[Service]\nType=%s\nWorkingDirectory=%s\n", kind, unitPath(dir))
	// Secrets and settings of the person's, which no unit should hold; %E is ~/.config or /etc.
	b.WriteString("EnvironmentFile=-%E/flowrun/environment\n")
	if in.state != "" {
		fmt.Fprintf(&b, "Environment=%s\n", unitWord("FLOWRUN_STATE_DIR="+in.state))
	}
	fmt.Fprintf(&b, "ExecStart=%s\nKillMode=mixed\nTimeoutStopSec=90\n", strings.Join(quoted, " "))
	if wanted != "" {
		fmt.Fprintf(&b, "Restart=on-failure\n\n[Install]\nWantedBy=%s\n", wanted)
	}
	return b.String()
}

// timerUnit starts the service unit of its name.
func timerUnit(e timetable.Planned, calendar string) string {
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

// crontabLine runs the tool from cron.
func (in installation) crontabLine(e timetable.Planned) (string, error) {
	when, err := crontabTime(e.Spec)
	if err != nil {
		return "", err
	}
	dir := in.dir(e)
	words := in.runWords(e)
	if in.state != "" {
		words = append([]string{"FLOWRUN_STATE_DIR=" + in.state}, words...)
		words = append([]string{"env"}, words...)
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	line := when + " cd " + shellWord(dir) + " && " + strings.Join(words, " ")
	if strings.ContainsAny(line, "%\n\r") {
		return "", errors.New("a path contains % or a line break, which cannot be escaped safely in a crontab")
	}
	return line, nil
}

// dir is where the schedule's tool is to be found.
func (in installation) dir(e timetable.Planned) string {
	if e.Project != "" {
		return e.Project
	}
	return in.home
}

// shellWord is a word that no shell reads anything into.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@+,-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

// lost is what of a schedule's promises neither systemd nor cron keep.
func lost(e timetable.Planned, cron bool) []string {
	var list []string
	say := func(condition bool, text string) {
		if condition {
			list = append(list, text)
		}
	}
	other := "systemd"
	if cron {
		other = "cron"
	}
	say(cron && e.CatchUp != schedule.CatchUpNone, "times that pass while the machine is off are lost")
	say(!cron && e.CatchUp == schedule.CatchUpAll, "of the times that pass while the machine is off, only one runs")
	say(!cron && e.Window > 0 && e.CatchUp != schedule.CatchUpNone, "the catch-up window has no effect")
	say(cron && e.Overlap != schedule.OverlapAllow, "the tool also starts while the previous run is active")
	say(!cron && e.Overlap != "" && e.Overlap != schedule.OverlapSkip, "a scheduled time is skipped while the previous run is active")
	say(cron && e.Jitter > 0, "jitter has no effect")
	say(e.SkipIfSuccessful, "skip-if-successful has no effect")
	say(!e.Start.IsZero() || !e.End.IsZero(), "start and end have no effect")
	say(true, other+" decides about times that daylight saving skips or repeats, and flowrun schedule pause has no effect")
	return list
}

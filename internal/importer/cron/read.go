// Package cron reads crontabs for flowrun import. Each line with a command becomes a tool with a schedule.
package cron

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/cron"
	"github.com/flowrun/flowrun/internal/importer"
)

// reader keeps what earlier lines have set: variables apply to the lines below them.
type reader struct {
	result importer.Result
	taken  map[string]bool
	env    []importer.Variable
	shell  string
	zone   string
	badEnv string // why the lines below cannot be carried over
}

// Read reads a crontab. With system, the field after the time is a user, as in /etc/crontab.
func Read(src []byte, system bool) (*importer.Result, error) {
	r := &reader{taken: map[string]bool{}, shell: "sh"}
	about := ""
	for i, line := range strings.Split(string(src), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			about = ""
		case strings.HasPrefix(line, "#"):
			about = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case r.variable(line, i+1):
		default:
			r.command(line, i+1, system, about)
			about = ""
		}
	}
	return &r.result, nil
}

// variable reads NAME = value, and reports whether the line is one.
func (r *reader) variable(line string, n int) bool {
	name, value, ok := strings.Cut(line, "=")
	name = unquote(strings.TrimSpace(name))
	if !ok || !importer.ValidVariable(name) {
		return false
	}
	value = unquote(strings.TrimSpace(value))
	what := "variable " + name
	switch name {
	case "MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING":
		r.result.Add(what, n, "", importer.LeftOut, "flowrun keeps the output of every run instead of mailing it; notify of a tool sends e-mails")
	case "RANDOM_DELAY":
		r.result.Add(what, n, "", importer.LeftOut, "write jitter in the schedules")
	case "SHELL":
		r.badEnv = ""
		switch path.Base(value) {
		case "sh", "dash":
			r.shell = "sh"
		case "bash":
			r.shell = "bash"
		default:
			r.badEnv = fmt.Sprintf("SHELL is %s, and flowrun has no steps for it", value)
			r.result.Add(what, n, "", importer.LeftOut, "flowrun has no steps for %s; the commands below are left out", value)
			return true
		}
		r.result.Outcome(what, n, "", nil)
	case "CRON_TZ", "TZ":
		if _, err := time.LoadLocation(value); err != nil || value == "" {
			r.result.Add(what, n, "", importer.LeftOut, "unknown time zone %q", value)
			r.zone = "\x00"
			return true
		}
		if name == "CRON_TZ" {
			r.zone = value
		} else {
			r.set(name, value)
		}
		r.result.Outcome(what, n, "", nil)
	default:
		r.set(name, value)
		r.result.Outcome(what, n, "", nil)
	}
	return true
}

func (r *reader) set(name, value string) {
	env := append([]importer.Variable(nil), r.env...) // earlier tools keep their list
	for i := range env {
		if env[i].Name == name {
			env[i].Value = value
			r.env = env
			return
		}
	}
	r.env = append(env, importer.Variable{Name: name, Value: value})
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// command reads a line with a time and a command.
func (r *reader) command(line string, n int, system bool, about string) {
	leave := func(format string, args ...any) {
		r.result.Add("line", n, "", importer.LeftOut, format, args...)
	}
	line = strings.TrimPrefix(line, "-") // do not log
	count := 5
	if strings.HasPrefix(line, "@") {
		count = 1
	}
	when, rest := fields(line, count)
	user := ""
	if system {
		user, rest = fields(rest, 1)
	}
	if when == "" || rest == "" {
		leave("not a line of a crontab: expected a time%s and a command", map[bool]string{true: ", a user"}[system])
		return
	}
	if r.badEnv != "" {
		leave("%s", r.badEnv)
		return
	}
	if first, _ := fields(rest, 1); !system && first == "root" { // otherwise flowrun would run a program of that name
		leave("it names a user, as a system crontab does: add --system")
		return
	}
	schedule, why := times(when)
	if why == "" && r.zone == "\x00" {
		why = "its time zone is unknown"
	}
	script, input := percent(rest)
	t := &importer.Tool{Name: importer.Unique(r.taken, toolName(script)), Line: n, Description: about, Environment: r.env, Dir: importer.Ref("HOME")}
	for _, v := range r.env {
		if v.Name == "HOME" { // cron starts the command there
			t.Dir = v.Value
		}
	}
	if about == "" {
		t.Description = "Run " + firstLine(script)
	}
	changed := []string{"cron starts the command with few environment variables and mails its output; flowrun passes on its own variables and keeps the output"}
	if user != "" {
		changed = append(changed, fmt.Sprintf("cron runs it as %s, flowrun as the user of flowrun serve", user))
		t.Notes = append(t.Notes, "cron ran this as the user "+user+".")
	}
	if why != "" {
		t.Notes = append(t.Notes, fmt.Sprintf("Left out: the schedule %s: %s.", when, why))
		r.result.Add("schedule "+when, n, t.Name, importer.LeftOut, "%s", why)
	} else {
		t.Schedules = []importer.Schedule{{Cron: schedule, Timezone: r.zone}}
	}
	t.Steps = []*importer.Step{{Name: "command", Shell: r.shell, Script: script, Input: input}}
	r.result.Tools = append(r.result.Tools, t)
	r.result.Outcome("command", n, t.Name, changed)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	if len([]rune(line)) > 70 {
		line = string([]rune(line)[:67]) + "..."
	}
	return line
}

// fields splits n fields off a line.
func fields(line string, n int) (first, rest string) {
	rest = strings.TrimLeft(line, " \t")
	var words []string
	for range n {
		i := strings.IndexAny(rest, " \t")
		if i < 0 {
			return "", ""
		}
		words = append(words, rest[:i])
		rest = strings.TrimLeft(rest[i:], " \t")
	}
	return strings.Join(words, " "), rest
}

// times returns the expression of a schedule, or why there is none.
func times(when string) (expression, why string) {
	if when == "@reboot" {
		return "", "flowrun has no schedule for the start of the machine"
	}
	if strings.Contains(when, "~") {
		return "", "flowrun has no random times in an expression; use jitter"
	}
	f := strings.Fields(when)
	if len(f) == 5 && f[2] != "*" && f[4] != "*" && (strings.HasPrefix(f[2], "*") || strings.HasPrefix(f[4], "*")) {
		return "", "cron needs both day fields to match if one begins with *, flowrun one of them"
	}
	if _, err := cron.Parse(when, cron.Options{}); err != nil {
		problem, _, _ := strings.Cut(err.Error(), "\n")
		return "", "flowrun cannot use it: " + problem
	}
	return when, ""
}

// percent applies the rule of cron for percent signs: the first ends the command, the others are line breaks of its
// standard input, and \% is a percent sign.
func percent(s string) (script, input string) {
	var parts []string
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '%':
			b.WriteByte('%')
			i++
		case s[i] == '%':
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(s[i])
		}
	}
	parts = append(parts, b.String())
	if len(parts) > 1 {
		input = strings.Join(parts[1:], "\n") + "\n"
	}
	return strings.TrimSpace(parts[0]), input
}

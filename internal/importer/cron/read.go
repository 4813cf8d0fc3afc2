// Package cron reads crontabs for flowrun import. Each line with a command becomes a tool with a schedule.
package cron

import (
	"fmt"
	"net/mail"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/lang/cron"
)

// reader keeps what earlier lines have set: variables apply to the lines below them.
type reader struct {
	result importer.Result
	taken  map[string]bool
	env    []importer.Variable
	shell  string
	zone   string
	mailTo []string
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
			about = description(line)
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
	case "MAILTO":
		r.setMailTo(what, n, value)
	case "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING":
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

// setMailTo reads the addresses to which cron mails what the commands below print.
func (r *reader) setMailTo(what string, n int, value string) {
	r.mailTo = nil
	var left []string
	for word := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' }) {
		if a, err := mail.ParseAddress(word); err != nil || a.Address != word || strings.ContainsAny(word, `{}"`) {
			left = append(left, word)
			continue
		}
		r.mailTo = append(r.mailTo, word)
	}
	var changed []string
	switch {
	case len(r.mailTo) > 0:
		changed = append(changed, "cron mails all output, flowrun only that a run failed or works again; set smtp in the settings")
		if len(left) > 0 {
			changed = append(changed, "no address: "+strings.Join(left, ", "))
		}
	case len(left) > 0:
		r.result.Add(what, n, "", importer.LeftOut, "flowrun keeps the output of every run instead of mailing it to a user of this machine; notify of a tool sends e-mails")
		return
	}
	r.result.Outcome(what, n, "", changed)
}

// description is what a comment says of the line below. A command that is commented out and the names of the fields say
// nothing of it.
func description(comment string) string {
	text := strings.TrimSpace(strings.TrimLeft(comment, "#"))
	when, _ := fields(text, 5)
	if _, why := times(when); when != "" && why == "" || strings.HasPrefix(text, "@") || strings.Contains(text, "mon dow") {
		return ""
	}
	return text
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

// users are users of many machines that are no programs.
const users = "root www-data nobody daemon ubuntu debian centos vagrant ec2-user"

// split splits a line into the time, the user and the command, or says why that is impossible.
func split(line string, system bool) (when, user, rest, why string) {
	line = strings.TrimPrefix(line, "-") // do not log
	count := 5
	if strings.HasPrefix(line, "@") {
		count = 1
	}
	when, rest = fields(line, count)
	next, _ := fields(rest, 1)
	if system {
		user, rest = fields(rest, 1)
	}
	switch {
	case when == "" || rest == "" || line[0] >= 'A' && line[0] <= 'Z' || line[0] >= 'a' && line[0] <= 'z':
		why = "not a line of a crontab: expected a time" + map[bool]string{true: ", a user"}[system] + " and a command"
	case count == 5 && strings.HasPrefix(next, "*"):
		why = "it has more than five time fields"
	case !system && slices.Contains(strings.Fields(users), next): // otherwise flowrun would run a program of that name
		why = "it names a user, as a system crontab does: add --system"
	}
	return when, user, rest, why
}

// command reads a line with a time and a command.
func (r *reader) command(line string, n int, system bool, about string) {
	when, user, rest, bad := split(line, system)
	if bad == "" {
		bad = r.badEnv
	}
	if bad != "" {
		r.result.Add("line", n, "", importer.LeftOut, "%s", bad)
		return
	}
	schedule, why := times(when)
	if why == "" && r.zone == "\x00" {
		why = "its time zone is unknown"
	}
	script, input := percent(rest)
	t := &importer.Tool{Name: importer.Unique(r.taken, nameOf(script, about, n)), Description: about, Environment: r.env, MailTo: r.mailTo, Dir: importer.Ref("HOME")}
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
		for _, differs := range steps(when) {
			changed = append(changed, differs)
			t.Notes = append(t.Notes, "Changed: "+differs+".")
		}
	}
	t.Steps = []*importer.Step{{Name: "command", Shell: r.shell, Script: script, Input: input}}
	r.result.Tools = append(r.result.Tools, t)
	r.result.Outcome("command", n, t.Name, changed)
}

// steps returns how times differ that have a step without a range: the cron of Vixie ignores the step, others refuse the
// line or run it as flowrun does.
func steps(when string) (differs []string) {
	for _, field := range strings.Fields(when) {
		for part := range strings.SplitSeq(field, ",") {
			first, step, ok := strings.Cut(part, "/")
			if _, err := strconv.Atoi(first); ok && err == nil {
				differs = append(differs, fmt.Sprintf("some crons run %s only at %s; flowrun at %s and then every %s", part, first, first, step))
			}
		}
	}
	return differs
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

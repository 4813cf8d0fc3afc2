package github

import (
	"maps"
	"path"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// step adds a step of the job to its group.
func (j *job) step(s importer.Node, n int) {
	label := s.Get("name").Text()
	if label == "" {
		label = s.Get("id").Text()
	}
	if strings.Contains(label, "${{") || label == "" {
		label = "step " + strconv.Itoa(n)
	}
	what := j.what + ": " + label
	var out *importer.Step
	var reasons []string
	why := s.Unit(func() (why string) {
		out, reasons, why = j.command(s, what)
		return why
	})
	if why != "" {
		j.result.Add(what, s.Line(), "", importer.LeftOut, "%s", why)
		j.group.Notes = append(j.group.Notes, "Left out: "+label+": "+why+".")
		j.leave(s, label)
		return
	}
	for _, why := range j.differs() {
		out.Notes = append(out.Notes, "Changed: "+why+".")
		reasons = append(reasons, why)
	}
	out.Name = importer.Unique(j.names, importer.Name(label))
	if len(out.Declared) > 0 {
		j.outputs[s.Get("id").Text()] = written{out.Name, out.Declared}
	}
	j.group.Steps = append(j.group.Steps, out)
	j.result.Outcome(what, s.Line(), j.tool.Name+"/"+j.group.Name+"/"+out.Name, reasons)
}

// command returns the step for a command and how it differs, or why it is left out.
func (c *context) command(s importer.Node, what string) (out *importer.Step, reasons []string, why string) {
	if u := s.Get("uses"); u.Exists() {
		return nil, nil, "it uses " + short(u.Text()) + ", and flowrun does not run actions"
	}
	if !s.Get("run").Exists() {
		return nil, nil, "it has no command"
	}
	if why := c.lost.After(); why != "" {
		return nil, nil, why
	}
	command := s.Get("run").Text()
	out = &importer.Step{}
	if s.Get("id").Text() != "" {
		command, out.Declared = declared(command)
	}
	run, changed, why := c.expand(command)
	if why != "" {
		return nil, nil, "its command: " + why
	}
	if changed {
		reasons = append(reasons, "a value is always one word, and the shell never reads it as code")
	}
	inner := *c // what the step sets for itself
	inner.env, inner.lost = maps.Clone(c.env), c.lost.Clone()
	out.Script = run
	for _, p := range s.Pairs() {
		if why := inner.stepKey(out, command, p, what); why != "" {
			return nil, nil, why
		}
	}
	if out.Dir, _, why = c.expand(inner.dir); why != "" {
		return nil, nil, why
	}
	if why := runnerOnly(run); why != "" {
		return nil, nil, why
	}
	if why := inner.lost.Reads(command, inner.dir); why != "" {
		return nil, nil, why
	}
	return out, reasons, setShell(out, inner.shell)
}

// stepKey reads a key of a step. It returns why the step is left out.
func (c *context) stepKey(out *importer.Step, command string, p importer.Pair, what string) (why string) {
	switch p.Key {
	case "name", "id", "run":
	case "shell":
		c.shell = p.Text()
	case "working-directory":
		c.dir = p.Text()
	case "env":
		before := len(c.result.Rows)
		out.Environment, out.Secrets = c.environment(p.Node, what+": env", true)
		for _, r := range c.result.Rows[before:] {
			if r.Status == importer.LeftOut {
				return "its variable " + strings.TrimPrefix(r.What, what+": env ") + " could not be carried over"
			}
		}
		// A value of the step's own env is fixed too.
		if again, _, why := c.expand(command); why == "" {
			out.Script = again
		}
	case "timeout-minutes":
		out.Timeout, why = minutes(p.Node)
	case "continue-on-error":
		out.Tolerate = p.True()
	case "if":
		out.When, why = c.condition(p.Text())
	default:
		why = "flowrun has no counterpart for " + p.Key
	}
	return why
}

// runnerOnly returns why a command makes sense only in a runner of GitHub, or "".
func runnerOnly(run string) (why string) {
	for _, word := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY", "GITHUB_STATE", "::set-output"} {
		if strings.Contains(run, word) {
			return "it writes to " + word
		}
	}
	for _, word := range []string{"$GITHUB_", "${GITHUB_", "$RUNNER_", "${RUNNER_"} {
		if strings.Contains(run, word) {
			return "it reads variables that only GitHub sets"
		}
	}
	return ""
}

// setShell makes a script do what the runner does for a shell.
func setShell(s *importer.Step, shell string) (why string) {
	switch path.Base(strings.TrimSpace(shell)) {
	case ".", "":
		s.Shell, s.Script = "bash", "set -e\n"+s.Script
	case "bash":
		s.Shell, s.Script = "bash", "set -eo pipefail\n"+s.Script
	case "sh":
		s.Shell, s.Script = "sh", "set -e\n"+s.Script
	case "python":
		s.Shell = "python"
	default:
		return "flowrun has no steps for the shell " + short(shell)
	}
	return ""
}

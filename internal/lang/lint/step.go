package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/lostfailure"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// This file contains the practices for steps and their commands.

var (
	// networkPrograms matches programs that connect to other machines.
	networkPrograms = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(^|[\s|;&(` + "`" + `])(curl|wget|ssh|scp|rsync|git (clone|fetch|pull|push)|npm (install|ci)|pip3? install|docker (pull|push)|apt-get (update|install)|Invoke-WebRequest|Invoke-RestMethod)(\s|$)`)
	})
	memoryPrograms = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(^|[\s|;&(])(ffmpeg|magick|java|mvn|gradle|docker build)(\s|$)`)
	})
	verbosePrograms = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(^|[\s|;&(])(journalctl|pg_dump|mysqldump|docker logs|kubectl logs|generate-large-data)(\s|$)`)
	})
	// platformPrograms matches programs that exist on only one system, by system.
	platformPrograms = sync.OnceValue(func() map[string]*regexp.Regexp {
		return map[string]*regexp.Regexp{
			"linux":   regexp.MustCompile(`(?m)(^|[\s|;&(])(apt-get|apt|dnf|yum|systemctl|xdg-open)(\s|$)`),
			"macos":   regexp.MustCompile(`(?m)(^|[\s|;&(])(pbcopy|pbpaste|osascript|launchctl|sw_vers)(\s|$)`),
			"windows": regexp.MustCompile(`(?m)(^|[\s|;&(])(powershell|powershell\.exe|cmd\.exe|reg\.exe|wmic)(\s|$)`),
		}
	})
)

// programIn returns the first program in a step that kind matches, or "".
func programIn(s *tool.Step, kind *regexp.Regexp) string {
	for _, text := range commands(s) {
		if m := kind.FindStringSubmatch(uncommented(text)); m != nil {
			return m[2]
		}
	}
	return ""
}

// programSearch matches commands that search for a program without running it.
var programSearch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(command -v|which|type|hash)\s+\S+`) })

// uncommented removes comment lines, and commands that search for programs, from a script.
func uncommented(script string) string {
	lines := strings.Split(script, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "#") })
	return programSearch().ReplaceAllString(strings.Join(lines, "\n"), "")
}

func retryNetwork(r *checker) {
	if r.def.ErrorHandling.Retry != nil {
		return
	}
	for _, s := range r.steps {
		program := programIn(s, networkPrograms())
		if program == "" || s.ErrorHandling.Retry != nil || s.ContinueOnError || strings.Contains(strings.Join(commands(s), " "), "--retry") {
			continue
		}
		r.stepNote(s, fmt.Sprintf("%s runs %s without a retry, so a short network failure makes it fail", r.subject(s), program),
			"add error-handling: {retry: {attempts: 3, delay: 1000}}, which waits 1, 2 and 4 s")
	}
}

// mentions reports whether any text of the definition, except in the step's own, refers to a field of the named step.
func (r *checker) mentions(name string, own *tool.Step) bool {
	placeholder := "{" + name + "."
	for _, s := range r.steps {
		if s == own {
			continue
		}
		texts := commands(s)
		for _, t := range []*tool.Text{s.RunCondition, s.Input, s.WorkingDirectory} {
			if t != nil {
				texts = append(texts, t.S)
			}
		}
		given := slices.Clone(s.Environment.Variables)
		if use, ok := s.Body.(*tool.ToolUse); ok {
			given = append(given, use.With...)
		}
		for _, e := range given {
			if e.Value.Text != nil {
				texts = append(texts, e.Value.Text.S)
			}
		}
		if strings.Contains(strings.Join(texts, "\n"), placeholder) {
			return true
		}
		if s.RunCondition != nil && strings.Contains(s.RunCondition.S, "failure()") {
			return true
		}
	}
	return r.def.Output != nil && strings.Contains(r.def.Output.S, placeholder)
}

func unseenFailure(r *checker) {
	for _, s := range r.steps {
		if !s.ContinueOnError || s.ErrorHandling.Fallback != nil || s.Handlers.OnFailure != nil || r.mentions(s.Name, s) {
			continue
		}
		r.stepNote(s, fmt.Sprintf("%s may fail, and nothing checks whether it did", r.subject(s)),
			fmt.Sprintf("handle the failure: add a step with run-condition: \"{%s.exit-code} != 0\", or error-handling.fallback", s.Name))
	}
}

var (
	failsWithCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(^|[\s;&|{])exit\s+[1-9]`) })
	prints        = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(echo|printf|cat|print|Write-Error|Write-Host|logger)\b|>&2`)
	})
)

func silentExit(r *checker) {
	for _, s := range r.steps {
		for _, text := range commands(s) {
			if failsWithCode().MatchString(uncommented(text)) && !prints().MatchString(uncommented(text)) {
				r.stepNote(s, fmt.Sprintf("%s can exit with an error code and no message", r.subject(s)),
					`say what is wrong and what to do before it exits: echo "Error: {FILE} not found; check the path" >&2`)
				break
			}
		}
	}
}

// forUnixShell reports whether the step is a script for bash or sh.
func forUnixShell(s *tool.Step) bool {
	c, ok := s.Body.(*tool.Command)
	return ok && c.Unix()
}

// noStrict reports the first failure in each script that nobody notices.
func noStrict(r *checker) {
	for _, s := range r.steps {
		if !forUnixShell(s) {
			continue
		}
		strict := r.def.Strict
		if s.Strict != nil {
			strict = *s.Strict
		}
		c := s.Body.(*tool.Command)
		sh := expr.Bash
		if c.Posix() {
			sh = expr.Sh
		}
		lost := lostfailure.Find(c.Text.S, sh, strict)
		if len(lost) == 0 {
			continue
		}
		message, hint := describeLost(lost, c.Posix())
		first, _, _ := strings.Cut(c.Text.S[lost[0].Off:lost[0].Off+lost[0].Len], "\n")
		r.note(c.Text.At(lost[0].Off), max(1, len([]rune(first))), "", r.subject(s)+" "+message, hint)
	}
}

// describeLost returns what to say of the lost failures of a script for bash or sh.
func describeLost(lost []lostfailure.Failure, posix bool) (message, hint string) {
	at := lost[0]
	who, last := cmp.Or(at.Program, "this command"), cmp.Or(at.Last, "the last command")
	hint = "add strict: true, which sets -e and pipefail"
	i := slices.IndexFunc(lost, func(l lostfailure.Failure) bool { return l.Pipeline })
	switch {
	case i < 0:
		hint = "add strict: true, or set -e as the script's first line"
	case posix:
		hint = "sh sees only the end of a pipeline: use bash: with strict: true, or write to a file first and read that"
	case at.Errexit:
		hint = "add strict: true, which sets pipefail; set -e does not look at the beginning of a pipeline"
	}
	if at.Pipeline {
		return fmt.Sprintf("does not notice if %s fails: a pipeline has the exit code of its end, here of %s", who, last), hint
	}
	return fmt.Sprintf("continues after %s fails: only the exit code of the last command counts", who), hint
}

func platformCommand(r *checker) {
	if len(r.def.Platforms) > 0 {
		return
	}
	for _, s := range r.steps {
		if _, several := s.Body.(*tool.Commands); several || s.RunCondition != nil && strings.Contains(s.RunCondition.S, "OS") {
			continue
		}
		for _, os := range []string{"linux", "macos", "windows"} {
			if program := programIn(s, platformPrograms()[os]); program != "" {
				r.stepNote(s, fmt.Sprintf("%s runs %s, which exists only on %s, but the tool supports all platforms", r.subject(s), program, os),
					"add platforms: ["+os+"] to the tool, or write commands: with one for each platform")
			}
		}
	}
}

func portableStep(r *checker) {
	if !slices.Contains(r.def.Platforms, "windows") || len(r.def.Platforms) < 2 {
		return
	}
	for _, s := range r.steps {
		if forUnixShell(s) {
			r.stepNote(s, fmt.Sprintf("%s needs %s, which is usually missing on Windows, but the tool supports Windows", r.subject(s), s.Kind()),
				"use python:, or write commands: with one for each platform")
			return
		}
	}
}

func parallelSteps(r *checker) {
	steps := r.def.Steps
	for i := 1; i < len(steps); i++ {
		a, b := steps[i-1], steps[i]
		if programIn(a, networkPrograms()) == "" || programIn(b, networkPrograms()) == "" || b.Parallel || b.HasWaitFor || b.RunCondition != nil || a.RunCondition != nil || readsAny(b, steps) {
			continue
		}
		if !strings.Contains(a.Command().S, "curl") || !strings.Contains(b.Command().S, "curl") {
			continue // a clone and the step after it belong together
		}
		r.stepNote(b, fmt.Sprintf("%s waits for step %s, but does not use its output", r.subject(b), a.Name), "add parallel: true, so that both download at the same time; a later step waits for both")
	}
}

// readsAny reports whether a step refers to any of the given steps.
func readsAny(s *tool.Step, steps []*tool.Step) bool {
	text := strings.Join(commands(s), "\n")
	if s.Input != nil {
		text += s.Input.S
	}
	return slices.ContainsFunc(steps, func(o *tool.Step) bool { return strings.Contains(text, "{"+o.Name+".") })
}

func streamOutput(r *checker) {
	const large = 100_000_000
	for _, s := range r.steps {
		if s.Output.Mode == "stream" {
			continue
		}
		if program := programIn(s, verbosePrograms()); program != "" && !strings.Contains(strings.Join(commands(s), " "), ">") {
			r.stepNote(s, fmt.Sprintf("%s can print a lot (%s), but shows nothing until it ends", r.subject(s), program), "add output: {mode: stream}")
		} else if s.Output.BufferLimit >= large {
			r.stepNote(s, fmt.Sprintf("%s keeps up to %d MB of output in memory", r.subject(s), s.Output.BufferLimit/1_000_000), "add output: {mode: stream}, or write the output to a file and pass its path")
		}
	}
}

// timeLimit matches commands that have a time limit of their own.
var timeLimit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|\s)(--max-time|-m\s*[0-9]|--timeout|-T\s*[0-9]|-o ConnectTimeout|timeout\s+[0-9])`)
})

func noTimeout(r *checker) {
	if r.def.Timeout > 0 {
		return
	}
	for _, s := range r.steps {
		if program := programIn(s, networkPrograms()); program != "" && s.Timeout == 0 && !timeLimit().MatchString(strings.Join(commands(s), "\n")) {
			r.stepNote(s, fmt.Sprintf("%s runs %s without a time limit and may wait forever", r.subject(s), program), "add timeout: 30s to the step, or a timeout to the tool")
			return
		}
	}
}

package taskfile

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// commands returns the steps of commands. Commands that follow each other are one step.
func (b *builder) commands(task string, items []importer.Node, c common, depth int) (steps []*importer.Step, why string) {
	var lines []importer.Line
	flush := func() {
		if len(lines) > 0 {
			steps = append(steps, b.step(task, lines, c))
			lines = nil
		}
	}
	for i, item := range items {
		if *b.count++; *b.count > maxSteps {
			return nil, "it has too many commands"
		}
		kind, line, why := b.command(item, c)
		switch {
		case why != "":
			return nil, why
		case kind == "task":
			flush()
			s, why := b.call(item, depth)
			if why != "" {
				return nil, why
			}
			if s != nil {
				steps = append(steps, s)
			}
		case kind == "defer":
			flush()
			rest, why := b.commands(task, items[i+1:], c, depth)
			if why != "" {
				return nil, why
			}
			last, why := b.deferred(task, item.Get("defer"), c, depth)
			return append(steps, withDeferred(b.name, task, rest, last)...), why
		case strings.TrimSpace(line.Text) != "":
			lines = append(lines, line)
		}
	}
	flush()
	return steps, ""
}

// command reads one command. kind is cmd, task or defer; line is the command if it is cmd.
func (b *builder) command(item importer.Node, c common) (kind string, line importer.Line, why string) {
	line.Ignore = c.ignore
	text := item
	if item.IsMap() {
		text = item.Get("cmd")
		for _, p := range item.Pairs() {
			switch p.Key {
			case "vars":
			case "silent":
				p.True()
			case "ignore_error":
				line.Ignore = p.True()
			case "cmd", "task", "defer":
				if kind != "" {
					return "", line, "a command has " + kind + " and " + p.Key
				}
				kind = p.Key
			default:
				return "", line, "flowrun has no counterpart for " + p.Key + " of a command"
			}
		}
	}
	if kind == "task" || kind == "defer" {
		return kind, line, ""
	}
	if line.Text, why = b.expand(text.Text()); why != "" {
		why = "a command: " + why
	}
	return "cmd", line, why
}

// deferred returns a step for a command that runs after those below it. go-task ignores its failure.
func (b *builder) deferred(task string, d importer.Node, c common, depth int) (s *importer.Step, why string) {
	if d.IsMap() {
		s, why = b.call(d, depth)
	} else {
		text, bad := b.expand(d.Text())
		if bad != "" {
			return nil, "a defer: " + bad
		}
		s = b.step(task+" cleanup", []importer.Line{{Text: text}}, c)
	}
	if s != nil {
		s.Tolerate = true
	}
	return s, why
}

// withDeferred returns the steps below a defer together with its step. They are a group, so that the deferred step runs
// only if the defer is reached.
func withDeferred(name func(string) string, task string, below []*importer.Step, deferred *importer.Step) []*importer.Step {
	switch {
	case deferred == nil:
		return below
	case len(below) == 0:
		return []*importer.Step{deferred}
	}
	return []*importer.Step{{Name: name(task), Steps: below, Finally: []*importer.Step{deferred}}}
}

func (b *builder) step(name string, lines []importer.Line, c common) *importer.Step {
	script := importer.StrictScript(lines)
	for _, o := range slices.Concat(b.set, c.options) {
		switch letter := options()[o]; letter {
		case "e": // always
		case "pipefail":
			script = "set -o pipefail\n" + script
		default:
			script = "set -" + letter + "\n" + script
		}
	}
	return &importer.Step{Name: b.name(name), Shell: "bash", Script: script, Dir: c.dir, Environment: c.env, Interactive: c.interactive}
}

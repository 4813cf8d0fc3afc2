package taskfile

import (
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

func (b *builder) preconditions(task string, n importer.Node, c common) (steps []*importer.Step, why string) {
	for _, p := range n.Items() {
		command := p
		if p.IsMap() {
			command = p.Get("sh")
		}
		script, why := b.expand(command.Text())
		if why == "" && strings.TrimSpace(script) == "" {
			why = "it has no command"
		}
		if why != "" {
			return nil, "a precondition: " + why
		}
		steps = append(steps, b.step(task+" precondition", []importer.Line{{Text: script}}, c))
	}
	return steps, ""
}

// status returns a step that fails if the task is not up to date, or nil if the file does not say when it is.
func (b *builder) status(task string, n importer.Node, c common) (s *importer.Step, why string) {
	if !n.Get("status").Exists() {
		return nil, ""
	}
	if n.Get("sources").Exists() {
		return nil, "flowrun has no counterpart for status together with sources"
	}
	var lines []importer.Line
	for _, text := range n.Get("status").Texts() {
		text, why := b.expand(text)
		if why != "" {
			return nil, "its status: " + why
		}
		lines = append(lines, importer.Line{Text: text})
	}
	if len(lines) == 0 {
		return nil, ""
	}
	s = b.step(task+" status", lines, c)
	s.Tolerate = true
	return s, ""
}

package servertest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
)

// misorderedTrace returns a sentence about a step that began before one that it waits for had ended, by what the
// steps themselves wrote when they began and ended; "" if there is none.
func misorderedTrace(p *engine.Plan, dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		return "" // no step writes one
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines {
		path, begins := strings.CutPrefix(line, "+ ")
		if !begins {
			continue
		}
		for _, up := range upstreamOf(p, path) {
			for _, later := range lines[i+1:] {
				if within(later[2:], up) {
					return path + " began before " + up + " had ended:\n" + string(text)
				}
			}
		}
	}
	return ""
}

// upstreamOf returns the steps that a step, or a step around it, waits for.
func upstreamOf(p *engine.Plan, path string) []string {
	list := p.Upstream(path)
	for _, around := range dag.ID(path).Ancestors() {
		list = append(list, p.Upstream(string(around))...)
	}
	return list
}

// within reports whether a path is that of a step, of one of its attempts or items, or of a step inside it.
func within(path, step string) bool {
	rest, ok := strings.CutPrefix(path, step)
	return ok && (rest == "" || strings.ContainsRune("/#[", rune(rest[0])))
}

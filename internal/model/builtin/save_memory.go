package builtin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/editedfile"
	"github.com/flowrun/flowrun/library"
)

// remembered is the heading of the section with the facts.
const remembered = "## Remembered"

// maxMemory limits the size of the file, in bytes, because it becomes part of prompts.
const maxMemory = 1 << 20

// saveMemory returns a tool that adds a fact to a Markdown file, which other programs can give to a model.
func saveMemory(c Config) *tool.Definition {
	return gostep.GoTool{
		Name: "save_memory", DisplayName: "SaveMemory", Tags: []string{"write"},
		Description: "Remembers one fact for later conversations. Use it when the user asks you to remember something, or when it will clearly matter again. " +
			"Write one short sentence that can be understood on its own; no secrets, and nothing that is true only today.",
		Schema: parsed(`{
			"type": "object",
			"additionalProperties": false,
			"required": ["fact"],
			"properties": {
				"fact": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The fact, in one sentence.", "examples": ["The user prefers tabs to spaces."]},
				"scope": {"type": "string", "enum": ["global", "project"], "default": "global", "description": "global: about the user, for every project. project: about this project only."}
			}
		}`),
		Describe: func(params map[string]any) string {
			return fmt.Sprintf("Remembers (%s): %s", values(params).text("scope"), short(values(params).text("fact"), 200))
		},
		Confirm: func(_ context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
			path, err := memoryFile(c, in)
			if err != nil {
				return nil, err
			}
			return &gostep.Confirmation{Title: "Add a line to " + visible(path), Text: visible(itemOf(values(in.Params).text("fact")))}, nil
		},
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) { return remember(c, in) },
	}.Definition()
}

func remember(c Config, in *gostep.StepInput) (any, error) {
	item := itemOf(values(in.Params).text("fact"))
	if item == "" {
		return nil, errors.New("the fact is empty; write it as one sentence")
	}
	path, err := memoryFile(c, in)
	if err != nil {
		return nil, err
	}
	known := false
	err = atomicfile.Update(path, func(was []byte) ([]byte, error) {
		var now string
		if now, known = withFact(string(was), item); len(now) > maxMemory {
			return nil, fmt.Errorf("the memory file would exceed %d bytes; remove facts that are no longer needed", maxMemory)
		}
		return []byte(now), nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot save the fact in %s: %w", path, err)
	case known:
		return fmt.Sprintf("Already remembered in %s: %s\n", path, item), nil
	}
	return fmt.Sprintf("Remembered in %s: %s\n", path, item), nil
}

// memoryFile returns the file for a fact. In a project no link is followed, because a link could lead to any file of
// the user.
func memoryFile(c Config, in *gostep.StepInput) (string, error) {
	if values(in.Params).text("scope") != "project" {
		if c.ConfigDir == "" {
			return "", errors.New("no folder for the user's memory: set HOME, or use the scope project")
		}
		return filepath.Join(c.ConfigDir, "memory.md"), nil
	}
	dir := filepath.Join(library.ProjectRoot(in.Workspace), ".flowrun")
	if library.ProjectRoot(in.Workspace) == "" {
		dir = filepath.Join(in.Workspace, ".flowrun")
	}
	path := filepath.Join(dir, "memory.md")
	return path, errors.Join(editedfile.CheckLinks(filepath.Dir(dir), path), editedfile.CheckLinks(dir, path+".lock"))
}

// itemOf returns a fact as one item of a list: on a single line, and escaped so that Markdown does not take its
// beginning for markup.
func itemOf(fact string) string {
	fact = oneLine(fact)
	if fact == "" {
		return ""
	}
	if strings.ContainsRune("#>-+*~`=_<|[", rune(fact[0])) {
		return `\` + fact
	}
	if end := strings.IndexFunc(fact, func(r rune) bool { return r < '0' || r > '9' }); end > 0 && (fact[end] == '.' || fact[end] == ')') {
		return fact[:end] + `\` + fact[end:]
	}
	return fact
}

// withFact returns the memory with one more item, at the end of its section; known reports that the item was already
// there.
func withFact(was, item string) (now string, known bool) {
	lines := strings.Split(strings.TrimRight(was, "\n"), "\n")
	if was == "" {
		lines = nil
	}
	at := -1 // index after the last item of the section
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case at < 0 && trimmed == remembered:
			at = i + 1
		case at >= 0 && strings.HasPrefix(trimmed, "#"):
			return insert(lines, at, item), false
		case at >= 0 && trimmed == "- "+item:
			return was, true
		case at >= 0 && trimmed != "":
			at = i + 1
		}
	}
	if at < 0 {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, remembered, "")
		at = len(lines)
	}
	return insert(lines, at, item), false
}

func insert(lines []string, at int, item string) string {
	all := append([]string{}, lines[:at]...)
	if strings.TrimSpace(all[at-1]) == remembered {
		all = append(all, "")
		for at < len(lines) && strings.TrimSpace(lines[at]) == "" {
			at++
		}
	}
	all = append(all, "- "+item)
	rest := lines[at:]
	if len(rest) > 0 && strings.TrimSpace(rest[0]) != "" {
		all = append(all, "")
	}
	return strings.Join(append(all, rest...), "\n") + "\n"
}

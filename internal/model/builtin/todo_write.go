package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// todoWrite returns a tool that stores the to-do list of a model, one for each workspace. Every call passes the whole
// list, so that the two sides cannot get out of step.
func todoWrite(c Config) *tool.Definition {
	return gostep.GoTool{
		Name: "todo_write", DisplayName: "TodoWrite", Tags: []string{"write"},
		Description: "Saves the to-do list of the current work, for tasks with several steps. Give the complete list each time: it replaces " +
			"the previous one. Keep one task in_progress at a time, and mark each task completed as soon as it is done.",
		Schema: parsed(`{
			"type": "object",
			"additionalProperties": false,
			"required": ["todos"],
			"properties": {
				"todos": {
					"type": "array",
					"maxItems": 200,
					"description": "The complete list, in order; an empty list clears it.",
					"examples": [[{"id": "1", "content": "Write the test", "status": "in_progress"}]],
					"items": {
						"type": "object",
						"additionalProperties": false,
						"required": ["id", "content", "status"],
						"properties": {
							"id": {"type": "string", "minLength": 1, "maxLength": 100, "description": "A unique id of the task."},
							"content": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "What to do."},
							"status": {"type": "string", "enum": ["pending", "in_progress", "completed"], "description": "The state of the task."}
						}
					}
				}
			}
		}`),
		Describe: func(params map[string]any) string {
			list, _ := todos(params)
			return fmt.Sprintf("Replaces the to-do list with one of %d tasks", len(list))
		},
		Confirm: func(_ context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
			list, err := todos(in.Params)
			if err != nil {
				return nil, err
			}
			return &gostep.Confirmation{Text: visible(checklist(list))}, nil
		},
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) { return keepTodos(c, in) },
	}.Definition()
}

// todo is one task.
type todo struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

// todos reads the list, which the schema has already checked.
func todos(params map[string]any) ([]todo, error) {
	given, _ := params["todos"].([]any)
	list := make([]todo, 0, len(given))
	seen := map[string]int{}
	for i, e := range given {
		o, _ := e.(map[string]any)
		t := todo{oneLine(values(o).text("id")), oneLine(values(o).text("content")), values(o).text("status")}
		switch first, taken := seen[t.ID]; {
		case t.ID == "" || t.Content == "":
			return nil, fmt.Errorf("task %d needs a readable id and content", i+1)
		case taken:
			return nil, fmt.Errorf("tasks %d and %d have the same id %q; give each task its own id", first+1, i+1, t.ID)
		}
		seen[t.ID] = i
		list = append(list, t)
	}
	return list, nil
}

func keepTodos(c Config, in *gostep.StepInput) (any, error) {
	list, err := todos(in.Params)
	if err != nil {
		return nil, err
	}
	if c.StateDir == "" {
		return nil, errors.New("no folder for to-do lists: set FLOWRUN_STATE_DIR or HOME")
	}
	doc, err := json.MarshalIndent(struct {
		Workspace string `json:"workspace"`
		Todos     []todo `json:"todos"`
	}{in.Workspace, list}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Save(c.todoFile(in.Workspace), append(doc, '\n')); err != nil {
		return nil, fmt.Errorf("cannot save the to-do list: %w", err)
	}
	return gostep.TextContent(listed(list), checklist(list)), nil
}

// todoFile returns the file with the list of a workspace, the same for every link to the workspace.
func (s Settings) todoFile(workspace string) string {
	if real, err := filepath.EvalSymlinks(workspace); err == nil {
		workspace = real
	}
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(s.StateDir, "todos", hex.EncodeToString(sum[:16])+".json")
}

// listed returns the list as the model sees it, with advice if more than one task is in progress.
func listed(list []todo) string {
	if len(list) == 0 {
		return "The to-do list is now empty.\n"
	}
	count := map[string]int{}
	for _, t := range list {
		count[t.Status]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Saved the to-do list: %d completed, %d in progress, %d pending.\n", count["completed"], count["in_progress"], count["pending"])
	for i, t := range list {
		fmt.Fprintf(&b, "%d. [%s] %s (id %s)\n", i+1, t.Status, t.Content, t.ID)
	}
	if count["in_progress"] > 1 {
		b.WriteString("More than one task is in_progress: work on one at a time.\n")
	}
	return b.String()
}

// checklist returns the list as Markdown, for people.
func checklist(list []todo) string {
	if len(list) == 0 {
		return "The to-do list is empty."
	}
	var b strings.Builder
	for _, t := range list {
		switch t.Status {
		case "completed":
			fmt.Fprintf(&b, "- [x] %s\n", t.Content)
		case "in_progress":
			fmt.Fprintf(&b, "- [ ] %s (in progress)\n", t.Content)
		default:
			fmt.Fprintf(&b, "- [ ] %s\n", t.Content)
		}
	}
	return b.String()
}

package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestWithFact(t *testing.T) {
	for _, c := range []struct{ name, was, item, now string }{
		{"a new file", "", "a", "## Remembered\n\n- a\n"},
		{"a second one", "## Remembered\n\n- a\n", "b", "## Remembered\n\n- a\n- b\n"},
		{"behind other text", "# Me\n\ntext", "a", "# Me\n\ntext\n\n## Remembered\n\n- a\n"},
		{"before other text", "## Remembered\n\n- a\n\n# Else\n\n- b\n", "c", "## Remembered\n\n- a\n- c\n\n# Else\n\n- b\n"},
		{"before a heading without a blank line", "## Remembered\n- a\n# Else\n", "c", "## Remembered\n- a\n- c\n\n# Else\n"},
		{"an empty section", "## Remembered\n\n\n# Else\n", "c", "## Remembered\n\n- c\n\n# Else\n"},
		{"known elsewhere", "- a\n\n## Remembered\n\n- b\n", "a", "- a\n\n## Remembered\n\n- b\n- a\n"},
	} {
		if now, known := withFact(c.was, c.item); now != c.now || known {
			t.Errorf("%s: %q, %v", c.name, now, known)
		}
		if now, known := withFact(c.now, c.item); now != c.now || !known {
			t.Errorf("%s, again: %q, %v", c.name, now, known)
		}
	}
}

func TestItemOf(t *testing.T) {
	for fact, item := range map[string]string{
		" a\n\n## b\r\n- c ": "a ## b - c", "# a": `\# a`, "- a": `\- a`, "```": "\\```", "1. a": `1\. a`, "12) a": `12\) a`, "12 a": "12 a", "12": "12",
		"<!-- a": `\<!-- a`, "a\u2028b\u0085c\u202ed\x1be\x00": "a b cde", "\n": "", "é": "é", "\xff": "\uFFFD",
	} {
		if got := itemOf(fact); got != item {
			t.Errorf("itemOf(%q) = %q, want %q", fact, got, item)
		}
	}
}

func TestSaveMemory(t *testing.T) {
	workspace, config := t.TempDir(), filepath.Join(t.TempDir(), "flowrun")
	c := Config{Settings: Settings{ConfigDir: config}}
	remember := func(params map[string]any, fails bool, part string) {
		t.Helper()
		want(t, perform(t, t.Context(), c, workspace, "save_memory", params), fails, part)
	}
	user, project := filepath.Join(config, "memory.md"), filepath.Join(workspace, ".flowrun", "memory.md")
	remember(map[string]any{"fact": "Tabs.\n# Not a heading"}, false, "Remembered in "+user+": Tabs. # Not a heading\n")
	remember(map[string]any{"fact": "Tabs. # Not a heading"}, false, "Already remembered")
	remember(map[string]any{"fact": "Make it with make.", "scope": "project"}, false, project)
	remember(map[string]any{"fact": "x", "scope": "everywhere"}, true, "scope")
	remember(map[string]any{"fact": " \n"}, true, "the fact is empty")
	remember(map[string]any{"fact": strings.Repeat("x", 2001)}, true, "2000")
	for path, text := range map[string]string{user: "## Remembered\n\n- Tabs. # Not a heading\n", project: "## Remembered\n\n- Make it with make.\n"} {
		b, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || string(b) != text || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %q %v %v", path, b, info.Mode(), err)
		}
	}

	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			perform(t, t.Context(), c, workspace, "save_memory", map[string]any{"fact": fmt.Sprint("fact ", i)})
		})
	}
	all.Wait()
	if b, _ := os.ReadFile(user); strings.Count(string(b), "- fact ") != 8 {
		t.Errorf("facts that were given at once: %q", b)
	}

	canary := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(canary, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Remove(project)
	if err := os.Symlink(canary, project); err != nil {
		t.Skip(err)
	}
	remember(map[string]any{"fact": "x", "scope": "project"}, true, "is a link")
	if b, _ := os.ReadFile(canary); string(b) != "mine\n" {
		t.Errorf("the file outside holds %q", b)
	}
	want(t, perform(t, t.Context(), Config{}, workspace, "save_memory", map[string]any{"fact": "x"}), true, "set HOME")
}

func TestTodoWrite(t *testing.T) {
	workspace, state := t.TempDir(), t.TempDir()
	c := Config{Settings: Settings{StateDir: state}}
	item := func(id, content, status string) any {
		return map[string]any{"id": id, "content": content, "status": status}
	}
	for _, w := range []struct {
		todos any
		fails bool
		want  string
	}{
		{[]any{item("1", "Write\nit", "completed"), item("b", "Test it", "in_progress"), item("c", "Ship it", "pending")}, false,
			"1 completed, 1 in progress, 1 pending.\n1. [completed] Write it (id 1)\n2. [in_progress] Test it (id b)\n3. [pending] Ship it (id c)\n"},
		{[]any{item("1", "a", "in_progress"), item("2", "b", "in_progress")}, false, "More than one task is in_progress"},
		{[]any{}, false, "is now empty"},
		{[]any{item("1", "a", "pending"), item("2", "b", "pending"), item("1", "c", "pending")}, true, `tasks 1 and 3 have the same id "1"`},
		{[]any{item("1", "\x00", "pending")}, true, "task 1 needs a readable id and content"},
		{[]any{item("", "a", "pending")}, true, "id"},
		{[]any{item("1", "a", "done")}, true, "in_progress"},
		{[]any{map[string]any{"id": "1", "content": "a"}}, true, "status"},
		{[]any{map[string]any{"id": "1", "content": "a", "status": "pending", "priority": "high"}}, true, "priority"},
		{"none", true, "todos"},
		{nil, true, "todos"},
	} {
		params := map[string]any{}
		if w.todos != nil {
			params["todos"] = w.todos
		}
		want(t, perform(t, t.Context(), c, workspace, "todo_write", params), w.fails, w.want)
	}
	perform(t, t.Context(), c, workspace, "todo_write", map[string]any{"todos": []any{item("1", "a", "completed"), item("2", "b", "in_progress"), item("3", "c", "pending")}})
	b, err := os.ReadFile(c.todoFile(workspace))
	info, _ := os.Stat(c.todoFile(workspace))
	if err != nil || !strings.Contains(string(b), `"content": "b"`) || info.Mode().Perm() != 0o600 || c.todoFile(workspace) == c.todoFile(t.TempDir()) {
		t.Errorf("%s %v", b, err)
	}
	r := perform(t, t.Context(), c, workspace, "todo_write", map[string]any{"todos": []any{item("1", "a", "completed"), item("2", "b", "in_progress"), item("3", "c", "pending")}})
	if got := r.Content().Display; got != "- [x] a\n- [ ] b (in progress)\n- [ ] c\n" {
		t.Errorf("a person is shown %q", got)
	}
	want(t, perform(t, t.Context(), Config{}, workspace, "todo_write", map[string]any{"todos": []any{}}), true, "FLOWRUN_STATE_DIR")
}

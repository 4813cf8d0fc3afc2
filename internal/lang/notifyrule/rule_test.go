package notifyrule

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The table of docs/reference/notifications.md says which keys a command, a webhook and an e-mail have.
func TestNotifyTable(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| key | meaning | command | webhook | email |\n|---|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	set := map[string]func(*Rule){
		"on":          func(r *Rule) { r.On = []string{"failure"} },
		"message":     func(r *Rule) { r.Message = "{run.id}" },
		"digest":      func(r *Rule) { r.Digest = time.Hour },
		"format":      func(r *Rule) { r.Format = "slack" },
		"secret-env":  func(r *Rule) { r.SecretEnv = "X" },
		"secret-file": func(r *Rule) { r.SecretFile = "x" },
	}
	forms := []Rule{{Command: "x"}, {Webhook: "http://x"}, {Email: true, To: []string{"a@example.com"}}}
	rows := strings.Split(table, "\n")
	if len(rows) != len(set) {
		t.Errorf("%d rows, want %d", len(rows), len(set))
	}
	for _, row := range rows {
		cells := strings.Split(row, "|")
		key := strings.Trim(cells[1], " `")
		if set[key] == nil {
			t.Errorf("unknown key %q", key)
			continue
		}
		for i, form := range forms {
			set[key](&form)
			problems := form.Problems()
			if want := strings.TrimSpace(cells[3+i]); (want == "yes") != (len(problems) == 0) {
				t.Errorf("%s of form %d: %q, but the problems are %v", key, i, want, problems)
			}
		}
	}
}

func TestNotifyFieldsOnPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Fields() {
		if !strings.Contains(string(page), "`{run."+f+"}`") {
			t.Errorf("no {run.%s} in docs/reference/notifications.md", f)
		}
	}
}

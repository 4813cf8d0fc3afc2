package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/library"
)

// TestAbsent tries each row of the table of values that are not there, in docs/explanation/substitution.md, with each kind
// of absent value: the page says for each place what happens, and it is the same for all kinds.
func TestAbsent(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	page, err := os.ReadFile("docs/explanation/substitution.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## A value that is not there")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| ([^|]+) \\| `(.+)` \\| (.*) ?\\|$").FindAllStringSubmatch(table, -1)
	if len(rows) < 15 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		for _, absent := range []string{"{X}", "{env.NOT_SET_ANYWHERE}", "{s.output}", "{D}"} {
			t.Run(row[1]+" "+absent, func(t *testing.T) {
				t.Parallel()
				want := strings.Trim(strings.TrimSpace(row[3]), "`")
				got := absentIn(t, strings.ReplaceAll(row[2], "@", absent))
				if part, fails := strings.CutPrefix(want, "fails: "); fails && strings.Contains(got, part) {
					return
				}
				if got != want {
					t.Errorf("%s: %q, want %q", row[2], got, want)
				}
			})
		}
	}
}

// absentIn runs a step and returns what it prints, or why it fails.
func absentIn(t *testing.T, step string) string {
	dir := t.TempDir()
	used := "name: used\ndescription: d\nparameters: {P: {description: p, default: its default}}\nbash: printf '[%s]' {P}\n"
	text := fmt.Sprintf("name: t\ndescription: d\nparameters: {X: {description: x}, D: {description: d, default: '{X}'}}\nsteps:\n"+
		"- {name: s, run-condition: 'false', run: 'echo hi'}\n- {name: a, %s}\n", step)
	for name, text := range map[string]string{"used.yaml": used, "t.yaml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir}), filepath.Join(dir, "t.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(engine.Config{}).Run(t.Context(), p, nil, engine.WithRunEnv(engine.RunEnv{Workspace: dir}))
	if err != nil {
		t.Fatal(err)
	}
	if res.Err() != nil {
		return res.Step("a").Message
	}
	return strings.TrimSpace(res.Output)
}

package cli_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// tables are the command lines that print each table of a file. RUN is a run.
var tables = map[string][]string{
	"author/docs.go":        {"docs --search interrupted schedules"},
	"author/explain.go":     {"explain"},
	"launch/attention.go":   {"ps"},
	"past/artifacts.go":     {"artifacts RUN", "artifacts RUN report-of-the-month"},
	"past/audit.go":         {"history audit"},
	"past/diff.go":          {"diff RUN latest"},
	"past/ps.go":            {"ps"},
	"past/runs.go":          {"runs"},
	"past/show.go":          {"show RUN"},
	"past/stats.go":         {"stats nightly-reports"},
	"schedules/backfill.go": {"schedule backfill nightly-reports#2 --from 2020-01-01 --to 2020-01-15 --dry-run"},
	"schedules/list.go":     {"schedule list"},
	"schedules/next.go":     {"schedule next nightly-reports"},
	"serve/user.go":         {"user list"},
	"servers/list.go":       {"mcp list"}, // and mcp tools, which is alike and needs a server
	"settings/config.go":    {"config list", "config list --show-origin"},
	"settings/trust.go":     {"trust --list", "trust --show"},
	"state/state.go":        {"state get nightly-reports"},
	"tools/list.go":         {"tool list"},
	"author/import.go":      nil, // its table is as wide as it must be
}

const widelyShown = `name: nightly-reports
description: Collects what the departments have sent, and writes one report a month
tags: [reports, nightly, departments]
locks: [{name: the-database-of-all-reports}]
schedule: [{every: 1s}, {cron: 30 2 * * 1-5, timezone: America/Argentina/Buenos_Aires}]
state: {last-department: {type: string, default: accounting-and-controlling}}
steps:
  - name: collect-all-departments
    bash: echo collected > report.txt
    artifacts: [{name: report-of-the-month, path: report.txt}]
  - name: publish
    bash: |
      test -z "$HOLD" || until test -e go; do sleep 0.05; done
      echo 'the departments have sent nothing that could be published' >&2; exit 3
`

// TestTablesFitTerminals prints every table on terminals of four widths: lines fit where they can, and what commands take, such
// as ids of runs, is whole or left out.
func TestTablesFitTerminals(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := tables[filepath.ToSlash(file)]; !ok && regexp.MustCompile(`(console|ui)\.Table\(`).Match(source) && filepath.Dir(file) != "ui" {
			t.Errorf("%s prints a table: add its command line to this test", file)
		}
	}
	dir := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(".flowrun/tools/nightly-reports.yaml", widelyShown)
	write(".flowrun/config.yaml", "mcpServers: {archive-of-reports: {command: an-unknown-program-with-a-long-name, args: [--verbose]}}\n")
	command := func(line string, extra ...string) *exec.Cmd {
		c := exec.Command("flowrun", strings.Fields(line)...)
		c.Dir = dir
		c.Env = append(append(os.Environ(), "FLOWRUN_STATE_DIR="+dir+"/state", "HOME="+dir, "XDG_CONFIG_HOME="+dir+"/config", "FLOWRUN_GLOBAL_CONFIG="+dir+"/none",
			"NO_COLOR=1", "FLOWRUN_PROGRESS=none", "LC_ALL=C.UTF-8", "PAGER=cat", "FLOWRUN_HISTORY_MIN_FREE=1000000TB"), extra...)
		return c
	}
	printed := func(line string) string {
		var problems bytes.Buffer
		c := command(line)
		c.Stderr = &problems
		out, err := c.Output()
		if err != nil && len(out) == 0 {
			t.Fatalf("%s: %v: %s", line, err, problems.Bytes())
		}
		return string(out)
	}
	start := func(c *exec.Cmd) {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Signal(os.Interrupt); c.Wait() })
	}
	printed("trust")
	command("run nightly-reports").Run() // it fails
	printed("user add a-person-with-a-long-name --role viewer")
	service := command("serve --listen 127.0.0.1:0", "HOLD=")
	start(service)
	waittest.Until(t, "a run of the schedule", func() bool { return strings.Contains(printed("runs --status failed"), "schedule:nightly") })
	service.Process.Signal(os.Interrupt)
	service.Wait()
	write(".flowrun/tools/nightly-reports.yaml", strings.Replace(widelyShown, "every: 1s", "every: 8760h", 1)) // or each table has more missed times than the one before
	printed("trust")
	held := command("run nightly-reports", "HOLD=yes")
	start(held)
	waittest.Until(t, "a run at the step that it stays at", func() bool {
		return strings.Contains(printed("ps"), "nightly-reports") && regexp.MustCompile(`publish +running`).MatchString(printed("show latest"))
	})
	t.Cleanup(func() { os.WriteFile(dir+"/go", nil, 0o600) })
	run := regexp.MustCompile(`(?m)^\S{13}\b`).FindString(printed("runs --status failed"))

	for file, lines := range tables {
		for _, line := range lines {
			line = strings.ReplaceAll(line, "RUN", run)
			wide := printed(line)
			if strings.Count(wide, "\n") < 2 {
				t.Errorf("%s, of %s, prints no table:\n%s", line, file, wide)
			}
			for _, width := range []int{40, 60, 80, 100} {
				checkTable(t, wide, printedAt(t, command(line), width), width, line)
			}
		}
	}
}

// printedAt returns what a command prints on a terminal.
func printedAt(t *testing.T, c *exec.Cmd, width int) string {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: uint16(width)})
	c.Stdout = tty
	all := make(chan string)
	go func() {
		b, _ := io.ReadAll(master) // an error, when nobody has the other end
		all <- string(b)
	}()
	c.Run()
	tty.Close()
	return strings.ReplaceAll(<-all, "\r\n", "\n")
}

var runID = regexp.MustCompile(`\b[0-9][0-9a-z]{12}\b`)

func checkTable(t *testing.T, wide, narrow string, width int, line string) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s, %d columns: "+format+"\n%s", append(append([]any{line, width}, args...), narrow)...)
	}
	if strings.Count(wide, "\n") != strings.Count(narrow, "\n") {
		fail("lines are missing")
	}
	for _, id := range runID.FindAllString(wide, -1) {
		if strings.Contains(narrow, id[:4]) && !strings.Contains(narrow, id) {
			fail("the id %s is cut", id)
		}
		if width >= 80 && !strings.Contains(narrow, id) {
			fail("the id %s is missing", id)
		}
	}
}

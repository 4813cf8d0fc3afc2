package growthtest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// commands are those that read definitions or runs with many units. {file} is the definition; each one that names a run
// finds that of the command run.
var commands = []string{
	"validate {file}",
	"validate --fix --dry-run {file}",
	"graph {file}",
	"graph -o mermaid {file}",
	"graph -o dot {file}",
	"graph -o svg {file}",
	"run --dry-run {file}",
	"run --dry-run -o json {file}",
	"tool schema {file}",
	"tool get {file}",
	"tool deps {file}",
	"tool test {file}",
	"run --quiet {file}",
	"show latest",
	"show latest -o json",
	"timeline latest",
	"logs latest",
	"events latest",
	"graph {file} latest",
	"artifacts latest",
	"stats many",
	"runs",
	"run {file}",
	"diff latest",
}

// fewer are the commands for definitions with errors: the others say that there are some.
var fewer = []string{"validate {file}", "validate --fix --dry-run {file}", "run {file}"}

// constant says why other commands are not in the table.
var constant = map[string]string{
	"it starts a service or a program, whose requests do the same as commands": "serve mcp ui demo schedule",
	"it does the same as another: run, validate, resume":                       "call retry resume approve reject cancel tool-validate tool-test schedule-backfill",
	"it reads no definition with steps, and no run": "completion config config-get config-list config-path docs doctor explain help init man " +
		"mcp-add mcp-call mcp-install mcp-list mcp-login mcp-logout mcp-remove mcp-test mcp-tools repair schema trust user user-add user-list user-remove version",
	"it reads the names of tools or the states of runs, not their steps": "explain-cache ps schedule-add schedule-install schedule-list schedule-next schedule-pause schedule-remove schedule-resume " +
		"state state-adopt state-get state-history state-list state-set tool tool-list",
	"it copies files or the whole history": "history history-audit history-backup history-prune history-restore import tool-add tool-edit tool-export tool-import tool-remove",
	"it is a page of the help":             "environment exit-codes expressions formatting parameters substitution tools",
}

// TestCommands: each command is in the table, or there is a reason why it is not.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	flowrun(t, dir, false, "man", dir)
	pages, err := filepath.Glob(filepath.Join(dir, "flowrun-*.1"))
	if err != nil || len(pages) < 50 {
		t.Fatal(err, pages)
	}
	measured := func(name string) bool {
		return slices.ContainsFunc(commands, func(row string) bool {
			return strings.HasPrefix(strings.ReplaceAll(row, " ", "-")+"-", name+"-")
		})
	}
	var exempt []string
	for _, names := range constant {
		exempt = append(exempt, strings.Fields(names)...)
	}
	for _, page := range pages {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(page), "flowrun-"), ".1")
		is := slices.Contains(exempt, name)
		switch {
		case !is && !measured(name):
			t.Errorf("flowrun %s has no row in the table and no reason why", strings.ReplaceAll(name, "-", " "))
		case is:
			exempt = slices.DeleteFunc(exempt, func(e string) bool { return e == name })
		}
	}
	if len(exempt) > 0 {
		t.Errorf("there are no commands %q", exempt)
	}
}

package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/docs"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/library"
)

// machine makes an empty machine: a home, a project without definitions, which is the working directory, and no history.
func machine(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"home", "shop/.flowrun/tools", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"HOME": filepath.Join(dir, "home"), "FLOWRUN_STATE_DIR": filepath.Join(dir, "state"), "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "TMPDIR": filepath.Join(dir, "tmp")} {
		t.Setenv(name, value)
	}
	t.Chdir(filepath.Join(dir, "shop"))
	return dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// plain returns an invocation whose output nobody reads.
func plain() *ui.Env {
	return &ui.Env{Terminal: ui.Terminal{Stdin: strings.NewReader(""), Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer)}}
}

// want compares findings with lines "STATUS CHECK: MESSAGE", where DIR stands for a folder. A line may omit the end of a
// message.
func want(t *testing.T, name string, got []finding, dir string, lines ...string) {
	t.Helper()
	if len(got) != len(lines) {
		t.Errorf("%s: %d findings, want %d: %+v", name, len(got), len(lines), got)
		return
	}
	for i, f := range got {
		line := strings.ReplaceAll(f.Status+" "+f.Check+": "+f.Message, dir, "DIR")
		if !strings.HasPrefix(line, lines[i]) {
			t.Errorf("%s: %s, want %s", name, line, lines[i])
		}
		if f.Status == statusOK && f.Hint != "" {
			t.Errorf("%s: a hint about what is ok: %s", name, f.Hint)
		}
	}
}

// TestReport holds the text, the document and the exit code.
func TestReport(t *testing.T) {
	all := []finding{passed("a", "fine"), warning("bcd", "do it", "so so\nreally")}
	for _, c := range []struct {
		more finding
		text string
		err  error
	}{
		{passed("e", "%d", 1), "ok    e    1\n\n2 ok, 1 warn, 0 fail\n", nil},
		{finding{Check: "e", Status: statusOK, Message: "was off", Fixed: true}, "ok    e    was off (fixed)\n\n2 ok, 1 warn, 0 fail\n", nil},
		{failed("e", "", "off"), "fail  e    off\n\n1 ok, 1 warn, 1 fail\n", ui.CodeError(outcome.ExitFailed)},
	} {
		var out bytes.Buffer
		env := &ui.Env{Terminal: ui.Terminal{Stdout: &out}}
		err := report(env, append(all, c.more), "text")
		text := "ok    a    fine\nwarn  bcd  so so\n           really\n           -> do it\n" + c.text
		if out.String() != text || err != c.err {
			t.Errorf("%v\n%s\nwant\n%s", err, out.String(), text)
		}
		out.Reset()
		err = report(env, append(all, c.more), "json")
		var doc struct{ Findings []finding }
		if bad := json.Unmarshal(out.Bytes(), &doc); bad != nil || len(doc.Findings) != 3 || err != c.err {
			t.Errorf("%v, %v\n%s", err, bad, out.String())
		}
	}
}

// TestRunFix: what was fixed is ok, and what could not be fixed is a failure.
func TestRunFix(t *testing.T) {
	f := warning("a", "hint", "off")
	f.fix = func() error { return nil }
	if f.runFix(); f.Status != statusOK || !f.Fixed || f.Hint != "" {
		t.Errorf("%+v", f)
	}
	f = warning("a", "hint", "off")
	f.fix = func() error { return os.ErrPermission }
	if f.runFix(); f.Status != statusFail || f.Fixed || f.Hint != "could not be fixed: permission denied" {
		t.Errorf("%+v", f)
	}
}

// TestState holds what is concluded about the state directory, and what --fix makes of it.
func TestState(t *testing.T) {
	dir := machine(t)
	state := filepath.Join(dir, "state")
	missing := checkState()
	want(t, "missing", missing, dir, "ok state: DIR/state does not exist yet; the first run creates it")
	if err := missing[0].fix(); err != nil {
		t.Fatal(err)
	}
	want(t, "made", checkState(), dir, "ok state: DIR/state")
	write(t, filepath.Join(state, "history.db"), "")
	for _, path := range []string{state, filepath.Join(state, "history.db")} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	open := checkState()
	want(t, "open", open, dir, "ok state: DIR/state", "fail rights: other users can access DIR/state, DIR/state/history.db")
	if err := open[1].fix(); err != nil {
		t.Fatal(err)
	}
	want(t, "closed", checkState(), dir, "ok state: DIR/state")

	write(t, filepath.Join(dir, "file"), "")
	t.Setenv("FLOWRUN_STATE_DIR", filepath.Join(dir, "file"))
	want(t, "file", checkState(), dir, "fail state: DIR/file is not a folder")
	t.Setenv("FLOWRUN_STATE_DIR", filepath.Join(dir, "file", "in"))
	want(t, "in a file", checkState(), dir, "fail state: ")
}

// TestRemoveOtherAccess: the target of a link is not changed, because it may belong to somebody else.
func TestRemoveOtherAccess(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	write(t, file, "")
	if err := errors.Join(os.Chmod(file, 0o754), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	mode := func() os.FileMode {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if err := removeOtherAccess(link); err == nil || mode() != 0o754 {
		t.Errorf("through a link: %v, %o", err, mode())
	}
	if err := removeOtherAccess(file); err != nil || mode() != 0o700 {
		t.Errorf("%v, %o", err, mode())
	}
}

// TestMachine holds what is concluded about programs, the temporary folder, the terminal and traces.
func TestMachine(t *testing.T) {
	dir := machine(t)
	t.Setenv("PATH", filepath.Join(dir, "tmp"))
	want(t, "shells", checkShells(), dir, "warn bash: bash is not on PATH: steps with bash, script and commands cannot run", "warn sh: sh is not on PATH: steps with sh cannot run",
		"ok pwsh: not installed; only steps with pwsh need it", "ok python3: not installed; only steps with python need it")

	want(t, "temporary", checkTemp(), dir, "ok temporary: DIR/tmp")
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	want(t, "temporary", checkTemp(), dir, "fail temporary: cannot write to DIR/none: ")

	for _, name := range []string{"NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "FLOWRUN_COLOR", "LC_ALL", "LC_CTYPE"} {
		t.Setenv(name, "")
	}
	t.Setenv("TERM", "xterm")
	t.Setenv("LANG", "C.UTF-8")
	want(t, "plain", checkTerminal(plain()), dir, "ok terminal: stdout is not a terminal, without colour; stderr without colour", "ok locale: drawings use UTF-8")
	t.Setenv("LANG", "C")
	t.Setenv("FORCE_COLOR", "1")
	want(t, "forced", checkTerminal(plain()), dir, "ok terminal: stdout is not a terminal, in colour; stderr in colour", "ok locale: drawings use ASCII, because the locale is not UTF-8")
	t.Setenv("TERM", "dumb")
	t.Setenv("FORCE_COLOR", "")
	want(t, "dumb", checkTerminal(plain()), dir, "ok terminal: stdout is not a terminal, without colour; stderr without colour (TERM is dumb)", "ok locale: ")
	t.Setenv("NO_COLOR", "1")
	want(t, "no colour", checkTerminal(plain()), dir, "ok terminal: stdout is not a terminal, without colour; stderr without colour (NO_COLOR is set)", "ok locale: ")

	for _, c := range []struct{ endpoint, want string }{
		{"", "ok traces: not sent; set OTEL_EXPORTER_OTLP_ENDPOINT to enable them"},
		{"http://localhost:4318", "ok traces: sent to http://localhost:4318"},
		{"gopher://x", "warn traces: not sent: "},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.endpoint)
		want(t, c.endpoint, checkTelemetry(), dir, c.want)
	}
}

// TestSettings holds what is concluded about the settings files.
func TestSettings(t *testing.T) {
	dir := machine(t)
	want(t, "none", checkSettings(), dir, "ok settings: no settings files; the defaults apply")
	write(t, filepath.Join(dir, "home/.config/flowrun/config.yaml"), "history: {keep: 5}\n")
	want(t, "user", checkSettings(), dir, "ok settings: DIR/home/.config/flowrun/config.yaml")
	write(t, ".flowrun/config.yaml", "approvals: {allow: ['tool:x']}\n")
	want(t, "project", checkSettings(), dir, "ok settings: DIR/shop/.flowrun/config.yaml, DIR/home/.config/flowrun/config.yaml", "warn settings: approvals.allow of DIR/shop are ignored: the project is not trusted")
	write(t, ".flowrun/config.yaml", "history: {keep: many}\nodd: 1\n")
	want(t, "wrong", checkSettings(), dir, "fail settings: 2 problems: ")
}

// TestDefinitions holds what is concluded about the tools that are found.
func TestDefinitions(t *testing.T) {
	dir := machine(t)
	want(t, "none", checkDefinitions(plain()), dir)
	write(t, ".flowrun/tools/good.yaml", "name: good\ndescription: Good\nbash: echo\n")
	want(t, "good", checkDefinitions(plain()), dir, "ok definitions: all valid")
	want(t, "good", checkScopes(plain())[:1], dir, "ok tools: local: 1 definition in DIR/shop/.flowrun/tools")
	write(t, ".flowrun/tools/bad.yaml", "bsah: echo\n")
	write(t, ".flowrun/tools/copy.yaml", "name: good\ndescription: Good\nbash: echo\n")
	want(t, "all", checkDefinitions(plain()), dir, "fail definitions: invalid: DIR/shop/.flowrun/tools/bad.yaml", "warn definitions: have warnings: DIR/shop/.flowrun/tools/copy.yaml",
		"warn definitions: shadowed by another tool with the same name: DIR/shop/.flowrun/tools/")
}

// TestSchemas holds what is concluded about the schema files that definitions name.
func TestSchemas(t *testing.T) {
	dir := machine(t)
	write(t, ".flowrun/tools/a.yaml", modeline+"../tool.json\nname: a\n")
	write(t, ".flowrun/tools/b.yaml", modeline+"../tool.json\nname: b\n")
	want(t, "missing", checkSchemas(plain()), dir, "warn schema: these definitions refer to a schema file that does not exist: DIR/shop/.flowrun/tools/a.yaml, DIR/shop/.flowrun/tools/b.yaml")
	write(t, ".flowrun/tool.json", "{}")
	got := checkSchemas(plain())
	want(t, "old", got, dir, "warn schema: differs from the schema of this version: DIR/shop/.flowrun/tool.json")
	if strings.Count(got[0].Message, "tool.json") != 1 {
		t.Errorf("named twice: %s", got[0].Message)
	}
	fresh, err := docs.Schema("tool")
	if err != nil {
		t.Fatal(err)
	}
	write(t, ".flowrun/tool.json", string(fresh))
	want(t, "fresh", checkSchemas(plain()), dir)
}

// TestSchemaOf holds which file a definition names for editors.
func TestSchemaOf(t *testing.T) {
	dir := t.TempDir()
	for text, name := range map[string]string{
		modeline + "tool.json\n":               filepath.Join(dir, "tool.json"),
		modeline + "../s/tool.json\r\n":        filepath.Join(filepath.Dir(dir), "s", "tool.json"),
		"# a\n" + modeline + "/etc/tool.json":  "/etc/tool.json",
		modeline + "https://x/tool.json\n":     "",
		modeline + "\n":                        "",
		"name: a\n" + modeline + "tool.json\n": "",
		"":                                     "",
	} {
		file := filepath.Join(dir, "a.yaml")
		write(t, file, text)
		if got := schemaOf(library.Listed{Path: file}); got != name {
			t.Errorf("%q: %q, want %q", text, got, name)
		}
	}
}

// TestHistory holds what is concluded where there is no history, or one that cannot be read.
func TestHistory(t *testing.T) {
	dir := machine(t)
	want(t, "none", checkHistory(plain()), dir, "ok history: no run is recorded yet")
	want(t, "none", checkRuns(plain()), dir, "ok runs: no interrupted runs")
	want(t, "none", checkScheduler(plain()), dir, "ok scheduler: no schedules")

	old := filepath.Join(dir, "state/runs/1old")
	write(t, filepath.Join(dir, "state/runs/1new/log"), "")
	write(t, filepath.Join(old, "log"), "")
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	want(t, "logs", checkRuns(plain()), dir, "ok runs: no interrupted runs", "warn logs: 1 log folders do not belong to a run in the history")

	write(t, filepath.Join(dir, "state/history.db"), strings.Repeat("no history\n", 999))
	want(t, "damaged", checkHistory(plain()), dir, "fail history: cannot open the history: ")
	want(t, "damaged", checkScheduler(plain()), dir)
}

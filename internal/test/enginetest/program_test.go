package enginetest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// discovered is a tool that another program listed, which a script of sh calls.
func discovered(t *testing.T, script string) *tool.Definition {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is for sh")
	}
	schema, err := dataschema.Parse([]byte(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"},"m":{"type":"object"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return &tool.Definition{Name: "it", Schema: schema, Parameters: tool.ParametersOf(schema), Single: true,
		Steps: []*tool.Step{{Name: "it", Body: &tool.ProgramCall{Argv: []string{"sh", "-c", script, "sh", "{z}", "it"}, Dir: t.TempDir()}}}}
}

func runDiscovered(t *testing.T, ctx context.Context, def *tool.Definition, params map[string]any) *runresult.Result {
	t.Helper()
	lib := library.New(library.Config{WorkingDirectory: t.TempDir()})
	lib.Provide(tool.ScopeDiscovered, func() []*tool.Definition { return []*tool.Definition{def} })
	plan, err := engine.Compile(lib, "it")
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(engine.Config{StateDir: t.TempDir()}).Run(ctx, plan, params)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestProgramReadsItsParameters: in the order in which they are declared, then what is not
// declared; digits stay, and nothing in the words of the command is a reference.
func TestProgramReadsItsParameters(t *testing.T) {
	t.Parallel()
	def := discovered(t, `cat; echo " $1 $2"; pwd >here`)
	res := runDiscovered(t, t.Context(), def, map[string]any{"a": json.Number("9007199254740993"), "z": "<\x00\"'>", "m": map[string]any{"y": json.Number("1.10")}, "b": nil})
	if want := `{"z":"<\u0000\"'>","a":9007199254740993,"m":{"y":1.10},"b":null} {z} it` + "\n"; res.Output != want {
		t.Errorf("%q\nwant %q (%s)", res.Output, want, res.Message)
	}
	if _, err := os.Stat(filepath.Join(def.Steps[0].Body.(*tool.ProgramCall).Dir, "here")); err != nil {
		t.Error(err)
	}
	if res.Report("") != "" {
		t.Error("a report of a success")
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, why, want string
		stderrFails       bool
		argv              []string
	}{
		"exit code":     {script: `echo out; echo err >&2; exit 3`, why: "step it failed", want: "Stdout: out\nStderr: err\nError: (none)\nExit Code: 3\nSignal: (none)"},
		"nothing":       {script: `exit 1`, want: "Stdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: 1\nSignal: (none)"},
		"several lines": {script: `printf 'a\nb\n\n'; exit 1`, want: "Stdout: a\nb\nStderr: (empty)\nError: (none)\nExit Code: 1\nSignal: (none)"},
		"signal":        {script: `kill -15 $$`, want: "Stdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: (none)\nSignal: SIGTERM"},
		"like a signal": {script: `exit 143`, want: "Stdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: 143\nSignal: (none)"},
		"stderr":        {script: `echo out; echo err >&2`, stderrFails: true, want: "Stdout: out\nStderr: err\nError: it printed an error, and tools.callStderr is fail\nExit Code: 0\nSignal: (none)"},
		"no program":    {argv: []string{"./there-is-none"}, why: "step it failed", want: "Stdout: (empty)\nStderr: (empty)\nError: cannot start"},
	} {
		t.Run(name, func(t *testing.T) {
			def := discovered(t, c.script)
			if def.Steps[0].Body.(*tool.ProgramCall).StderrFails = c.stderrFails; c.argv != nil {
				def.Steps[0].Body.(*tool.ProgramCall).Argv = c.argv
			}
			res := runDiscovered(t, t.Context(), def, nil)
			if got := res.Report(c.why); res.Status != dag.Failed || got != c.want && !(c.argv != nil && strings.HasPrefix(got, c.want) && strings.HasSuffix(got, "\nExit Code: (none)\nSignal: (none)")) {
				t.Errorf("%s\n%s\nwant\n%s", res.Status, got, c.want)
			}
		})
	}
}

// TestReportIsBounded: of megabytes a model reads the beginning and the end.
func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	res := runDiscovered(t, t.Context(), discovered(t, `echo first; yes 1234567 | head -c 3000000; echo last; exit 1`), nil)
	got := res.Report("")
	if len(got) > 70<<10 || !strings.HasPrefix(got, "Stdout: first\n1234567") || !strings.Contains(got, "bytes omitted) ...") || !strings.Contains(got, "\nlast\nStderr: (empty)\n") {
		t.Errorf("%d bytes: %.80s", len(got), got)
	}
}

// TestReportOfAStoppedCall says why it was stopped.
func TestReportOfAStoppedCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	def := discovered(t, `echo begun; touch begun; sleep 100`)
	go func() {
		waitFor(t, filepath.Join(def.Steps[0].Body.(*tool.ProgramCall).Dir, "begun"))
		cancel()
	}()
	res := runDiscovered(t, ctx, def, nil)
	if got, want := res.Report("the caller is gone"), "Stdout: begun\nStderr: (empty)\nError: the caller is gone\nExit Code: (none)\nSignal: (none)"; got != want {
		t.Errorf("%s\n%s", res.Status, got)
	}
}

// TestProgramIsShown: a person who is asked sees what would run.
func TestProgramIsShown(t *testing.T) {
	t.Parallel()
	lib := library.New(library.Config{WorkingDirectory: t.TempDir()})
	lib.Provide(tool.ScopeDiscovered, func() []*tool.Definition { return []*tool.Definition{discovered(t, "x y")} })
	plan, err := engine.Compile(lib, "discovered_tool_it")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Preview(engine.RunEnv{}, map[string]any{"z": "v"})
	if err != nil || len(p.Steps) != 1 || p.Steps[0].Command != "sh -c 'x y' sh '{z}' it" || p.Tools[0].Scope != tool.ScopeDiscovered {
		t.Errorf("%+v %v", p, err)
	}
}

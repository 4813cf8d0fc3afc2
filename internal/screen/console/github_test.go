package console

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// runner parses a log like GitHub's runner, and returns the commands that were effective.
func runner(log string) (commands []string) {
	stopped := ""
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if stopped != "" {
			if line == "::"+stopped+"::" {
				stopped = ""
			}
			continue
		}
		if token, ok := strings.CutPrefix(line, "::stop-commands::"); ok {
			stopped = token
		} else if strings.HasPrefix(line, "::") {
			commands = append(commands, line)
		}
	}
	if stopped != "" {
		commands = append(commands, "still stopped")
	}
	return commands
}

func TestGitHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := filepath.Join(t.TempDir(), "log")
		var b locked
		g := NewGitHub(&b, nil, PlanInfo{
			Pos:  func(string) (string, int, int) { return "a,b.yaml", 7, 5 },
			Logs: func(run, path string, attempt int) []string { return []string{log} },
		})
		at := time.Now()
		done := func(path dag.ID, r dag.Result) {
			r.Started, r.Ended = at, at
			g.Emit(dag.Event{Kind: dag.StepFinished, Node: path, Time: at, Result: &r})
		}
		g.Emit(dag.Event{Kind: dag.RunStarted, Run: "r", Time: at})
		g.Emit(dag.Event{Kind: dag.StepStarted, Node: "build", Attempt: 1, Time: at})
		os.WriteFile(log, []byte("compiling\n::error::forged\n  ::add-mask::x\npart"), 0o600)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := b.String(); strings.Count(got, "build | compiling\n") != 1 || !strings.Contains(got, "build | ::error::forged\n") || strings.Contains(got, "part") {
			t.Errorf("while it runs:\n%s", got)
		}
		os.WriteFile(log, []byte(strings.Repeat("x", maxFollowed*2)+"\nend\n"), 0o600)
		time.Sleep(2 * time.Second)
		fmt.Fprintln(g.Writer(), "::warning::from elsewhere")
		done("build", dag.Result{Status: dag.Succeeded, Stdout: &dag.Output{Inline: "::set-output name=x::y\n\x1b[31mred\x1b[0m\x1b[2J\r\n", Size: 99}})
		done("silent", dag.Result{Status: dag.Succeeded})
		done("use/test", dag.Result{Status: dag.Failed, ExitCode: 3, Message: "it broke\n100%", Stderr: &dag.Output{Inline: "::endgroup::\n", Size: 13}})
		done("use", dag.Result{Status: dag.Failed, ExitCode: 3, Message: "step use/test failed"})
		done("skip", dag.Result{Status: dag.Skipped, Reason: dag.ReasonUpstreamFailed})
		g.Close()
		got := b.String()
		want := []string{"::group::build printed", "::endgroup::",
			"::error file=a%2Cb.yaml,line=7,col=5,title=step use/test failed::FAILED exit 3: it broke 100%25",
			"::group::use/test printed", "::endgroup::"}
		if c := runner(got); strings.Join(c, "\n") != strings.Join(want, "\n") {
			t.Errorf("the runner obeyed:\n%s\nwant:\n%s\nlog:\n%s", strings.Join(c, "\n"), strings.Join(want, "\n"), got)
		}
		for _, text := range []string{"\n::set-output name=x::y\n\x1b[31mred\x1b[0m\n(", "build ok       0ms\n", "bytes omitted)"} {
			if !strings.Contains(got, text) {
				t.Errorf("no %q in\n%.3000s", text, got)
			}
		}
		tokens := map[string]bool{}
		for _, m := range regexp.MustCompile(`stop-commands::(\w+)`).FindAllStringSubmatch(got, -1) {
			if tokens[m[1]] || len(m[1]) < 20 {
				t.Errorf("token %s is used again, or can be guessed", m[1])
			}
			tokens[m[1]] = true
		}
	})
}

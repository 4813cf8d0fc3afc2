package enginetest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dag"
	store "github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/netclient"
)

// meet is the end of a command that waits until all of the steps a, b and c have come as far.
const meet = `; touch met-$ME; for other in a b c; do until test -f met-$other; do sleep 0.01; done; done`

// TestArtifactsAtOnce checks that each step keeps its own files, or fails, if several write and keep one path.
func TestArtifactsAtOnce(t *testing.T) {
	t.Parallel()
	loop := func(path, more string) string {
		return "- {name: it, for-each: {items: [a, b, c], key: '{item}'}, environment: {ME: '{item}'}, bash: 'echo {item} > " + path + meet + "', artifacts: [{path: '" + path + "', name: report}]" + more + "}\n"
	}
	three := func(step func(name string) string) (all string) {
		for _, name := range []string{"a", "b", "c"} {
			all += "- {name: " + name + ", wait-for: [], environment: {ME: " + name + "}, " + step(name) + "}\n"
		}
		return all
	}
	for name, c := range map[string]struct {
		steps string
		kept  string // what the artifacts contain, sorted; "": all steps fail
	}{
		"items, one path":   {loop("report", ""), ""},
		"items, own paths":  {loop("report-{item}", ""), "a b c"},
		"items, own folder": {"- {name: mk, bash: mkdir a b c}\n" + strings.ReplaceAll(loop("report", ", working-directory: '{item}'"), "met-", "../met-"), "a b c"},
		"items, one after the other": {"- {name: it, for-each: {items: [a, b, c], max-parallel: 1}, bash: 'echo {item} > report', artifacts: [report]}\n",
			"a b c"},
		"items that keep a file from before": {"- {name: first, bash: 'echo x > report'}\n" + strings.Replace(loop("report", ""), "echo {item} > report; ", "", 1), "x x x"},
		"steps, one path":                    {three(func(name string) string { return "bash: 'echo " + name + " > report" + meet + "', artifacts: [report]" }), ""},
		"steps, one folder": {three(func(name string) string {
			return "bash: 'mkdir -p out; echo " + name + " > out/" + name + meet + "', artifacts: [out/]"
		}), ""},
		"steps, own files of a folder": {three(func(name string) string {
			return "bash: 'mkdir -p out; echo " + name + " > out/" + name + meet + "', artifacts: [{path: out/" + name + ", name: report}]"
		}), "a b c"},
		"steps, one of which keeps the folder": {three(func(name string) string {
			return "bash: 'mkdir -p out; echo " + name + " > out/" + name + meet + "', artifacts: [{path: " + map[string]string{"a": "out/", "b": "out/b", "c": "out/c"}[name] + ", name: report}]"
		}), "a b c"},
		"failed steps": {three(func(name string) string {
			return "bash: 'echo " + name + " > report" + meet + "; exit 1', artifacts: [{path: report, when: always}]"
		}), ""},
		"outputs of a cache": {three(func(name string) string {
			keeps := map[string]string{"a": "artifacts: [report]", "b": "cache: {outputs: [report]}", "c": "cache: {}"}[name]
			return "bash: 'test $ME = c || echo " + name + " > report" + meet + "', " + keeps
		}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := cacheBed(t)
			b.config.Parallel = 4
			res := b.run(context.Background(), "steps:\n"+c.steps, nil)
			var kept, failed []string
			for _, s := range res.Steps {
				for _, a := range s.Artifacts {
					if a.Path == "" || len(a.Paths) > 0 {
						continue
					}
					filepath.WalkDir(a.Path, func(path string, d os.DirEntry, _ error) error {
						if text, err := os.ReadFile(path); err == nil {
							kept = append(kept, strings.TrimSpace(string(text)))
						}
						return nil
					})
				}
				if strings.Contains(s.Message, "may be the file of step") {
					failed = append(failed, s.ID)
				}
			}
			slices.Sort(kept)
			if got := strings.Join(kept, " "); got != c.kept {
				t.Errorf("kept %q, want %q: %+v", got, c.kept, res.Steps)
			}
			if (len(failed) > 0) != (c.kept == "") || (res.Status == dag.Failed) != (c.kept == "") {
				t.Errorf("%s; these failed: %v: %+v", res.Status, failed, res.Steps)
			}
		})
	}
}

// TestSaveAtOnce checks that of two requests at the same time whose answers are saved in one file, one is not sent.
func TestSaveAtOnce(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"steps": "steps:\n- {name: a, wait-for: [], http: {url: 'URL/x', save-as: out}}\n- {name: b, wait-for: [], http: {url: 'URL/x', save-as: ./out}}\n",
		"items": "steps:\n- {name: it, for-each: {items: [x, x]}, http: {url: 'URL/{item}', save-as: out}}\n",
		"one after the other": "steps:\n- {name: a, http: {url: 'URL/alone', save-as: out}}\n- {name: b, http: {url: 'URL/alone', save-as: out}}\n" +
			"- {name: it, for-each: {items: [alone, alone], max-parallel: 1}, http: {url: 'URL/{item}', save-as: out}}\n",
	} {
		refused := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/alone" {
				<-refused
			}
			fmt.Fprint(w, r.URL.Path)
		}))
		defer s.Close()
		b := newBed(t)
		b.config.Fetch, b.config.Parallel = netclient.Fetch, 4
		answer := sync.OnceFunc(func() { close(refused) })
		release := dag.SinkFunc(func(e dag.Event) {
			if e.Kind == dag.StepFinished && e.Result != nil && e.Result.Status == dag.Failed {
				answer()
			}
		})
		res := b.run(context.Background(), strings.ReplaceAll(text, "URL", s.URL), nil, engine.WithSink(release))
		var failed []string
		for _, step := range res.Steps {
			if strings.Contains(step.Message, "out may be the file of step") {
				failed = append(failed, step.ID)
			}
		}
		got, err := os.ReadFile(filepath.Join(b.dir, "out"))
		switch {
		case err != nil:
			t.Error(name, err)
		case name == "one after the other" && (res.Status != dag.Succeeded || string(got) != "/alone"):
			t.Errorf("%s: %s %q %+v", name, res.Status, got, res.Steps)
		case name != "one after the other" && (len(failed) != 1 || string(got) != "/x"):
			t.Errorf("%s: these failed: %v; %q", name, failed, got)
		}
		if left, _ := filepath.Glob(filepath.Join(b.dir, "out.part-*")); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

// TestOutputFileAtOnce checks that no line is lost of steps and items whose output is streamed to one file.
func TestOutputFileAtOnce(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.config.Parallel = 4
	output := ", output: {mode: stream, stream-callback: file, file: lines}"
	res := b.run(context.Background(), "steps:\n- {name: it, wait-for: [], for-each: {items: [a, b]}, environment: {ME: '{item}'}, bash: 'echo {item}"+meet+"; echo {item}'"+output+"}\n"+
		"- {name: c, wait-for: [], environment: {ME: c}, bash: 'echo c"+meet+"; echo c'"+output+"}\n", nil)
	text, err := os.ReadFile(filepath.Join(b.dir, "lines"))
	lines := strings.Fields(string(text))
	slices.Sort(lines)
	if got := strings.Join(lines, ""); err != nil || got != "aabbcc" {
		t.Errorf("%q %v: %+v", got, err, res.Steps)
	}
}

// TestStateAtOnce checks which of two steps decides that set a value: the one which comes later in the plan, although it
// ends before the other; or, if values are kept when their steps end, the one that ends last.
func TestStateAtOnce(t *testing.T) {
	t.Parallel()
	for commit, want := range map[string]string{"run": `"quick"`, "step": `"slow"`} {
		h := newKeptRuns(t)
		h.config.Parallel = 4
		text := "state: {V: {commit: " + commit + "}}\nsteps:\n" +
			"- {name: slow, wait-for: [], bash: 'until test -f quick; do sleep 0.01; done; echo V=slow >> $FLOWRUN_STATE'}\n" +
			"- {name: quick, wait-for: [], bash: 'echo V=quick >> $FLOWRUN_STATE', on-success: [{name: told, bash: touch quick}]}\n"
		p := h.compile(text)
		if res, err := engine.New(h.config).Run(context.Background(), p, nil, engine.WithRunEnv(h.world)); err != nil || res.Status != dag.Succeeded {
			t.Fatal(err, res)
		}
		values, err := h.memory.State(context.Background(), store.StateID{Tool: "under-test", File: filepath.Join(h.dir, "under-test.yaml")})
		if err != nil || len(values) != 1 || string(values[0].Value) != want {
			t.Errorf("commit %s: %+v %v", commit, values, err)
		}
	}
}

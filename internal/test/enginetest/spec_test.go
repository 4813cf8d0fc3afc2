package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	_ "github.com/flowrun/flowrun/internal/test/helpertest"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/library"
)

func TestMain(m *testing.M) {
	engine.HelperMain()
	if err := os.Chdir("../../.."); err != nil { // the tests name examples, docs and definitions from the top
		panic(err)
	}
	sizetest.SideBySide()
	goleak.VerifyTestMain(m)
}

// folder is a directory with these files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compile compiles a definition given as text.
func compile(t testing.TB, dir, text string) *engine.Plan {
	t.Helper()
	file := filepath.Join(dir, "under-test.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir, Home: dir}), file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// world is a run's surroundings with stand-ins for programs first on the PATH.
func world(dir string, env ...string) engine.RunEnv {
	return engine.RunEnv{Workspace: dir, Home: dir, Temp: dir,
		Env: append([]string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}, env...)}
}

func specFixture(t testing.TB, line string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("internal", "lang", "tool", "testdata", "spec001", line+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCloneExample runs the specification's github-repo-clone with stand-ins for
// git and npm in all combinations of success and failure.
func TestCloneExample(t *testing.T) {
	t.Parallel()
	text := specFixture(t, "1965")
	for bits := range 8 {
		https, ssh, npm := bits&1 != 0, bits&2 != 0, bits&4 != 0
		t.Run(fmt.Sprintf("https=%v,ssh=%v,npm=%v", https, ssh, npm), func(t *testing.T) {
			t.Parallel()
			dir := folder(t, map[string]string{
				"bin/git": `#!/bin/sh
case $2 in
https://*) ok=$HTTPS_OK;;
*) ok=$SSH_OK;;
esac
[ "$ok" = true ] && mkdir -p "$3/.git"
`})
			env := []string{fmt.Sprintf("HTTPS_OK=%v", https), fmt.Sprintf("SSH_OK=%v", ssh)}
			if npm {
				os.WriteFile(filepath.Join(dir, "bin", "npm"), []byte("#!/bin/sh\n[ \"$1\" = install ] && touch installed\n"), 0o755)
			} else {
				env = append(env, "PATH="+isolated(t, dir)) // no npm anywhere
			}
			p := compile(t, dir, text)
			res, err := engine.New(engine.Config{}).Run(context.Background(), p,
				map[string]any{"OWNER": "me", "REPO": "project"}, engine.WithRunEnv(world(dir, env...)))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"try-https": "failed", "try-ssh": "failed", "check-deps": "failed", "install-deps": "skipped", "report-status": "skipped"}
			if https {
				want["try-https"], want["try-ssh"] = "succeeded", "skipped"
			} else if ssh {
				want["try-ssh"] = "succeeded"
			}
			run := "failed"
			if npm {
				want["check-deps"] = "succeeded"
				switch {
				case https || ssh:
					want["install-deps"], want["report-status"], run = "succeeded", "succeeded", "succeeded"
				default: // both tolerated, so nothing is tainted; the report itself fails
					want["report-status"] = "failed"
				}
			}
			got := map[string]string{}
			for _, s := range res.Steps {
				got[s.ID] = s.Status.String()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if res.Status.String() != run {
				t.Errorf("run %s, want %s: %s", res.Status, run, res.Message)
			}
			if _, err := os.Stat(filepath.Join(dir, "project", "installed")); (err == nil) != (run == "succeeded") {
				t.Errorf("npm install ran: %v", err == nil)
			}
		})
	}
}

// isolated is a PATH with the few programs the example needs, and no others.
func isolated(t *testing.T, dir string) string {
	only := filepath.Join(dir, "only")
	if err := os.Mkdir(only, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"bash", "sh", "mkdir", "touch"} {
		if err := os.Symlink(needtest.Program(t, p), filepath.Join(only, p)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "bin") + ":" + only
}

// TestCommitStats runs the specification's github-commit-stats, broken YAML and
// all, against a local stand-in for the API whose commits are full of
// text that a careless shell would run.
func TestCommitStats(t *testing.T) {
	t.Parallel()
	needtest.Programs(t, "curl", "jq")
	authors := []string{`Ada "the countess"`, `$(touch pwned)`, `"; rm -rf .`, "O'Hara", "`touch pwned`", `$(touch pwned)`}
	type commit struct {
		Commit struct {
			Author struct {
				Name string `json:"name"`
			} `json:"author"`
			Message string `json:"message"`
		} `json:"commit"`
	}
	var commits []commit
	for i, a := range authors {
		var c commit
		c.Commit.Author.Name = a
		c.Commit.Message = fmt.Sprintf("it's commit %d \"; touch pwned; echo ' $(touch pwned)\n`touch pwned`", i)
		commits = append(commits, c)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/repos/me/project/commits" {
			http.NotFound(w, r)
			return
		}
		json.NewEncoder(w).Encode(commits)
	})}
	go srv.Serve(l)
	defer srv.Close()

	text := strings.Replace(specFixture(t, "1905"), "https://api.github.com", "http://"+l.Addr().String(), 1)
	dir := folder(t, map[string]string{"keep": "me"})
	p := compile(t, dir, text)
	if !slices.ContainsFunc(p.Warnings, func(d tool.Diagnostic) bool { return d.Code == "repaired-scalar" }) {
		t.Errorf("no warning of the repair: %v", p.Warnings)
	}
	res, err := engine.New(engine.Config{}).Run(context.Background(), p,
		map[string]any{"OWNER": "me", "REPO": "project"}, engine.WithRunEnv(world(dir)))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != dag.Succeeded {
		t.Fatalf("%s %+v", res.Status, res.Steps)
	}
	lines := strings.Split(strings.TrimSpace(res.Output), "\n")
	slices.Sort(lines)
	want := []string{`$(touch pwned): 2 commits`, `Ada "the countess": 1 commits`, `"; rm -rf .: 1 commits`, "O'Hara: 1 commits", "`touch pwned`: 1 commits"}
	slices.Sort(want)
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a commit was executed")
	}
	if _, err := os.Stat(filepath.Join(dir, "keep")); err != nil {
		t.Error("a commit removed the folder")
	}
}

package enginetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/netclient"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/steps/sqlclient"
)

// pathKeys are steps whose key, given the path @, uses the file or folder of that name. The step prints "used" when it was
// the one that the kind of path means. file is false for a folder.
var pathKeys = map[string]struct {
	step string
	file bool
}{
	"working-directory": {`working-directory: "@", bash: 'cat mark'`, false},
	"env-files":         {`env-files: ["@"], bash: 'echo $V'`, true},
	"secrets.file":      {`environment: {secrets: [{name: S, file: "@"}]}, bash: 'test "$S" = V=used && echo "us""ed"'`, true},
	"wait.file":         {`wait: {file: "@"}, timeout: 300ms`, true},
	"http.file":         {`http: {url: "URL", method: POST, file: "@"}`, true},
	"http.save-as":      {`http: {url: "URL", save-as: "@"}`, true},
	"sql.save-as":       {`sql: {url: "sqlite:x.db", query: "select 1 as [V=used] where 0", format: csv, save-as: "@"}`, true},
	"output.file":       {`output: {mode: stream, stream-callback: file, file: "@"}, bash: echo V=used`, true},
	"cache.inputs":      {`cache: {inputs: ["@"]}, bash: echo used`, true},
}

// TestPathKeys: every key of a step that takes a path means the same file by the same text.
func TestPathKeys(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the steps are for bash")
	}
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, _ := io.ReadAll(r.Body); len(text) > 0 {
			io.WriteString(w, strings.TrimPrefix(string(text), "V="))
			return
		}
		io.WriteString(w, "V=used")
	}))
	t.Cleanup(echo.Close)
	for key, c := range pathKeys {
		for _, kind := range []string{"f", "./f", "d/../f", "~/f", "ABS/f", "a b", "é", "link", "sub/f"} {
			t.Run(key+" "+kind, func(t *testing.T) {
				t.Parallel()
				b := newPathBed(t, kind, c.file)
				step := strings.ReplaceAll(strings.ReplaceAll(c.step, "URL", echo.URL), "@", strings.ReplaceAll(kind, "ABS", b.work))
				if key == "wait.file" || strings.HasSuffix(key, ".save-as") || key == "output.file" || key == "cache.inputs" {
					b.effects(t, key, step)
				} else if got := b.run(t, step); got != "used" {
					t.Errorf("%s: %q", step, got)
				}
			})
		}
		for _, kind := range []string{"missing", "wrong"} { // there is no such file; a folder in place of a file
			t.Run(key+" "+kind, func(t *testing.T) {
				t.Parallel()
				b := newPathBed(t, "f", c.file)
				step := strings.ReplaceAll(strings.ReplaceAll(c.step, "URL", echo.URL), "@", kind)
				got := b.run(t, step)
				want := map[string]string{
					"missing": "does not exist|no such file|not cached|used$|^$", // what is written is made
					"wrong":   "is not a|is a directory|is a folder|used$|^$",
				}[kind]
				if !regexp.MustCompile(want).MatchString(got) {
					t.Errorf("%s: %q", step, got)
				}
			})
		}
	}
}

// otherPaths are keys that take a path and are not in pathKeys, with the reason.
var otherPaths = map[string]string{
	"cache.outputs":           "must be below the working directory: TestCheckOutputs",
	"artifacts.path":          "must be below the working directory: TestArtifactTable",
	"use-tool":                "names a tool, relative to the definition",
	"script":                  "is the text of a script",
	"ssh.key-file":            "is used by another program: package remote",
	"ssh.known-hosts":         "is used by another program: package remote",
	"container.mounts.source": "is used by another program: package container",
}

// TestEveryPathKey: a key of a step whose description says that it takes a file or a folder is one of them.
func TestEveryPathKey(t *testing.T) {
	about := regexp.MustCompile(`(?i)^(paths?|files?|folders?|working directory|waits until this file|body: the content of this file)\b`)
	seen := map[*keytable.Object]bool{}
	var walk func(o *keytable.Object, prefix string)
	walk = func(o *keytable.Object, prefix string) {
		if seen[o] {
			return
		}
		seen[o] = true
		for _, f := range o.Fields() {
			key := prefix + f.Key
			if text := f.Kind == keytable.KindText || f.Kind == keytable.KindTexts || f.Key == "env-files"; text && about.MatchString(f.Doc) {
				name := strings.TrimPrefix(key, "environment.")
				if _, tried := pathKeys[name]; !tried && otherPaths[name] == "" {
					t.Errorf("%s takes a path (%s): add a row to pathKeys", key, f.Doc)
				}
			} else if f.Of != nil && f.Key != "steps" {
				walk(f.Of, key+".")
			}
		}
	}
	walk(tool.Keys().Field("steps").Of, "")
}

// pathBed has a file or folder where a kind of path leads: in the workspace, or in the home directory.
type pathBed struct{ work, home, target, state string }

func newPathBed(t *testing.T, kind string, file bool) *pathBed {
	dir := t.TempDir()
	b := &pathBed{work: filepath.Join(dir, "work"), home: filepath.Join(dir, "home"), state: filepath.Join(dir, "state")}
	switch rest, home := strings.CutPrefix(kind, "~/"); {
	case home:
		b.target = filepath.Join(b.home, rest)
	case strings.HasPrefix(kind, "ABS/"):
		b.target = filepath.Join(b.work, kind[4:])
	case kind == "link":
		b.target = filepath.Join(b.home, "elsewhere")
	default:
		b.target = filepath.Join(b.work, kind)
	}
	make := func(path string) {
		var err error
		if file {
			err = os.WriteFile(path, []byte("V=used"), 0o600)
		} else if err = os.MkdirAll(path, 0o700); err == nil {
			err = os.WriteFile(filepath.Join(path, "mark"), []byte("used"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{filepath.Join(b.work, "d"), b.home, filepath.Dir(b.target)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	make(b.target)
	if kind == "link" {
		if err := os.Symlink(b.target, filepath.Join(b.work, "link")); err != nil {
			t.Fatal(err)
		}
	}
	wrong := filepath.Join(b.work, "wrong")
	if file {
		if err := os.Mkdir(wrong, 0o700); err != nil {
			t.Fatal(err)
		}
	} else if err := os.WriteFile(wrong, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// run runs a step and returns what it prints, or why it fails.
func (b *pathBed) run(t *testing.T, step string) string {
	t.Helper()
	file := filepath.Join(b.work, "t.yaml")
	text := fmt.Sprintf("name: t\ndescription: d\nsteps:\n- {name: a, %s}\n", step)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: b.work}), file)
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(engine.Config{StateDir: b.state, Fetch: netclient.Fetch, Database: sqlclient.Open}).Run(t.Context(), p, nil, engine.WithRunEnv(engine.RunEnv{Workspace: b.work, Home: b.home}))
	if err != nil {
		return err.Error()
	}
	if res.Err() != nil {
		return res.Step("a").Message
	}
	return strings.TrimSpace(res.Output) + map[bool]string{true: "reused"}[res.Step("a").Status.String() == "reused"]
}

// effects checks a step whose use of the file shows elsewhere.
func (b *pathBed) effects(t *testing.T, key, step string) {
	t.Helper()
	switch key {
	case "wait.file":
		if got := b.run(t, step); got != "" {
			t.Errorf("%s: %q", step, got)
		}
	case "cache.inputs": // a change of the file makes the step run again
		first, second := b.run(t, step), b.run(t, step)
		if err := os.WriteFile(b.target, []byte("changed"), 0o600); err != nil {
			t.Fatal(err)
		}
		if third := b.run(t, step); first != "used" || second != "usedreused" || third != "used" {
			t.Errorf("%s: %q, %q and after a change %q", step, first, second, third)
		}
	default: // the file is written
		if err := os.WriteFile(b.target, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		got := b.run(t, step)
		if text, err := os.ReadFile(b.target); err != nil || strings.TrimSpace(string(text)) != "V=used" {
			t.Errorf("%s: %q, the file has %q (%v)", step, got, text, err)
		}
	}
}

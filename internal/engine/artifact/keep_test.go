//go:build unix

package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
)

// TestMain is also the process that kills itself while it keeps artifacts.
func TestMain(m *testing.M) {
	at := os.Getenv("FLOWRUN_TEST_KILLED_AT")
	if at == "" {
		os.Exit(m.Run())
	}
	failpoint = func(name string) {
		if name == at {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
	}
	_, _, err := newRun(os.Args[1], Limits{}).Keep(context.Background(), Source{Step: "build", Dir: os.Args[2]}, []Spec{{Name: "out", Pattern: "out"}})
	fmt.Println("not killed", err)
}

func newRun(state string, l Limits) *Run {
	return NewRun(func() (string, error) { return state, nil }, "r1", l)
}

// write makes files: a name that ends in / is a folder, a text that begins with -> a link.
func write(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		target, link := strings.CutPrefix(text, "->")
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func keep(t testing.TB, r *Run, dir string, patterns ...string) ([]dag.Artifact, error) {
	t.Helper()
	var specs []Spec
	for i, p := range patterns {
		specs = append(specs, Spec{Name: fmt.Sprintf("a%d", i), Pattern: p})
	}
	kept, missing, err := r.Keep(context.Background(), Source{Step: "build[a/b]", Dir: dir}, specs)
	for _, m := range missing {
		err = errors.Join(err, fmt.Errorf("missing %s", m.Pattern))
	}
	return kept, err
}

// files returns what an artifact contains.
func files(t testing.TB, a dag.Artifact) string {
	t.Helper()
	c, err := Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var list []string
	for _, f := range c.Files {
		text := f.Path
		switch {
		case f.Folder:
			text += "/"
		case f.Digest == "":
			text += "->" + f.Target
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// TestKeep: what patterns keep, and under which paths.
func TestKeep(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{
		"dist/app.js": "app", "dist/sub/x.js": "x", "dist/latest.js": "->app.js", "dist/empty/": "", "report.html": "r", "one.html": "1",
		"out/reports/a.xml": "a", "out/reports/b.xml": "b", "star*": "s", "name\nwith\x1b[31m": "n", "link": "->report.html", "none/": "", "big/loop": "->.", "big/f": "f",
	})
	if err := os.Chmod(filepath.Join(dir, "dist/app.js"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pattern, path, want string }{
		{"dist/**", "a0", "app.js empty/ latest.js->app.js sub/ sub/x.js"},
		{"dist", "a0", "app.js empty/ latest.js->app.js sub/ sub/x.js"},
		{"./dist/", "a0", "app.js empty/ latest.js->app.js sub/ sub/x.js"},
		{"dist/*.js", "a0", "app.js latest.js->app.js"},
		{"dist/**/*.js", "a0", "app.js latest.js->app.js sub/x.js"},
		{"report.html", "a0/report.html", "report.html"},
		{"out/reports/a.xml", "a0/a.xml", "a.xml"},
		{"out/../report.html", "a0/report.html", "report.html"},
		{dir + "/report.html", "a0/report.html", "report.html"},
		{dir + "/out/**", "a0", "reports/ reports/a.xml reports/b.xml"},
		{"out/reports/*.xml", "a0", "a.xml b.xml"},
		{"*.html", "a0", "one.html report.html"},
		{"{one,report}.html", "a0", "one.html report.html"},
		{`star\*`, "a0/star*", "star*"},
		{"name*", "a0", "name\nwith\x1b[31m"},
		{"link", "a0/link", "link"},
		{"big", "a0", "f loop->."},
	} {
		state := t.TempDir()
		got, err := keep(t, newRun(state, Limits{}), dir, c.pattern)
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if want := filepath.Join(rundir.ArtifactFolder(state, "r1"), "build%5Ba%2Fb%5D", filepath.FromSlash(c.path)); got[0].Path != want {
			t.Errorf("%s: path %s, not %s", c.pattern, got[0].Path, want)
		}
		if diff := cmp.Diff(c.want, files(t, got[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.pattern, diff)
		}
		if err := Check(got[0]); err != nil {
			t.Errorf("%s: %v", c.pattern, err)
		}
	}
}

// TestKeepRefused: what is never kept, and the message.
func TestKeepRefused(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"in/f": "f", "secret": "../outside", "escape": "->../outside", "abs": "->/etc/passwd", "folder/out": "->../in/f",
		"loop1": "->loop2", "loop2": "->loop1", "broken": "->nothing", "linked": "->in", "large": strings.Repeat("x", 200), "many/1": "", "many/2": "", "many/3": "", "many/4": "", "many/5": ""})
	write(t, filepath.Dir(dir), map[string]string{"outside": "o"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket(t, filepath.Join(dir, "socket"))
	for _, c := range []struct{ pattern, want string }{
		{"../outside", `cannot keep the artifact a0: invalid pattern "../outside" in artifacts: it is outside the step's working directory`},
		{"/etc/passwd", "outside the step's working directory"},
		{"**/../../outside", "outside the step's working directory"},
		{".", "it is the whole working directory"},
		{"", "it is empty"},
		{"a[", "a bracket or brace is not closed"},
		{"escape", "a link to ../outside, outside the step's working directory"},
		{"abs", "a link to /etc/passwd, outside"},
		{"folder", `"folder/out" is a link to "../in/f", outside the artifact; keep the file itself`},
		{"loop1", "too many levels of symbolic links"},
		{"broken", "no such file or directory"},
		{"linked", "it is not a regular file"},
		{"pipe", "is not a file, folder or link"},
		{"socket", "is not a file, folder or link"},
		{"*", "abs is a link to /etc/passwd, outside the step's working directory"},
		{"large", `"large": it is larger than 100 bytes; keep a smaller file, or raise the setting artifacts.max-file-size`},
		{"many", "many matches more than 4 files; name fewer files, or raise the setting artifacts.max-files"},
		{"nothing", "missing nothing"},
		{"no*", "missing no*"},
	} {
		state := t.TempDir()
		_, err := keep(t, newRun(state, Limits{MaxFileSize: 100, MaxFiles: 4}), dir, c.pattern)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.pattern, err)
		}
		if left, _ := filepath.Glob(filepath.Join(state, "*", "*", "*", ".*")); len(left) > 0 {
			t.Errorf("%q left %s", c.pattern, left)
		}
	}
}

// TestRunSize: the limit of a run counts all steps, and no earlier attempt, also in another process.
func TestRunSize(t *testing.T) {
	state, dir := t.TempDir(), write(t, t.TempDir(), map[string]string{"f": strings.Repeat("x", 60)})
	for range 3 { // attempts, and resumes
		r := newRun(state, Limits{MaxSize: 100})
		for range 3 {
			if _, err := keep(t, r, dir, "f"); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := r.Keep(context.Background(), Source{Step: "other", Dir: dir}, []Spec{{Name: "f", Pattern: "f"}})
		if err == nil || !strings.Contains(err.Error(), "the artifacts of the run are larger than 100 bytes") {
			t.Fatal(err)
		}
	}
}

// TestChanged: a step that changes its file later does not change the artifact, and one that changes the artifact is
// noticed.
func TestChanged(t *testing.T) {
	state, dir := t.TempDir(), write(t, t.TempDir(), map[string]string{"f": "before", "g": "before"})
	got, err := keep(t, newRun(state, Limits{}), dir, "f", "g")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"f": "after!"})
	if err := Check(got[0]); err != nil {
		t.Error(err)
	}
	if contents, _ := filepath.Glob(filepath.Join(state, "artifacts", "??", "*")); len(contents) != 1 {
		t.Errorf("equal files are stored as %d contents", len(contents))
	}
	os.Chmod(got[0].Path, 0o600)
	write(t, "", map[string]string{got[0].Path: "BEFORE"})
	if err := Check(got[0]); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	write(t, dir, map[string]string{"f": "before"})
	if got, err = keep(t, newRun(state, Limits{}), dir, "f"); err != nil || Check(got[0]) != nil { // a damaged content is replaced
		t.Error(err, Check(got[0]))
	}
	os.RemoveAll(filepath.Dir(got[0].Path))
	if err := Check(got[0]); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

// TestGrows: a file that grows while it is read is kept as large as it was when it was opened, however fast it grows.
func TestGrows(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"log": strings.Repeat("x", 1<<20)})
	done := make(chan struct{})
	var growing sync.WaitGroup
	growing.Go(func() {
		f, _ := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_WRONLY, 0)
		defer f.Close()
		for {
			select {
			case <-done:
				return
			default:
				f.WriteString(strings.Repeat("y", 4096))
			}
		}
	})
	got, err := keep(t, newRun(t.TempDir(), Limits{MaxFileSize: 1 << 30}), dir, "log")
	close(done)
	growing.Wait()
	if err != nil || Check(got[0]) != nil {
		t.Fatal(err, got)
	}
	if now, err := os.Stat(filepath.Join(dir, "log")); err != nil || got[0].Size > now.Size() {
		t.Error(err, got[0].Size)
	}
}

// TestSecret: nothing that contains a secret is kept.
func TestSecret(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"a/text": "with hunter22", "b/hunter22": "", "c/f": "fine"})
	for pattern, want := range map[string]string{"a": `"a/text": contains a secret`, "b": "a file name contains a secret", "c": ""} {
		state := t.TempDir()
		_, _, err := newRun(state, Limits{}).Keep(context.Background(), Source{Step: "s", Dir: dir, Secret: func(r io.Reader) (bool, error) {
			text, err := io.ReadAll(r)
			return strings.Contains(string(text), "hunter22"), err
		}}, []Spec{{Name: "n", Pattern: pattern}})
		if fmt.Sprint(err) != "<nil>" && want == "" || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter22")) {
			t.Errorf("%s: %v", pattern, err)
		}
		if out, _ := exec.Command("grep", "-r", "hunter22", state).Output(); len(out) > 0 {
			t.Errorf("%s: kept %s", pattern, out)
		}
	}
}

// TestUnreadable: a file that cannot be read, or that a step with reduced rights does not own.
func TestUnreadable(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"f": "f"})
	denied := errors.New("permission denied")
	_, _, err := newRun(t.TempDir(), Limits{}).Keep(context.Background(), Source{Step: "s", Dir: dir, Rights: func(func() error) error { return denied }}, []Spec{{Name: "n", Pattern: "f"}})
	if !errors.Is(err, denied) {
		t.Error(err)
	}
	if err := os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")); err != nil {
		t.Fatal(err)
	}
	_, _, err = newRun(t.TempDir(), Limits{}).Keep(context.Background(), Source{Step: "s", Dir: dir, Reduced: true}, []Spec{{Name: "n", Pattern: "g"}})
	if err == nil || !strings.Contains(err.Error(), "a second name of a file that the step does not own") {
		t.Error(err)
	}
	if os.Geteuid() == 0 {
		os.Chown(filepath.Join(dir, "f"), 12345, 12345)
		if _, err := keep(t, newRun(t.TempDir(), Limits{}), dir, "f"); err == nil || !strings.Contains(err.Error(), "it belongs to another user") {
			t.Error(err)
		}
		return
	}
	os.Chmod(filepath.Join(dir, "f"), 0)
	if _, err := keep(t, newRun(t.TempDir(), Limits{}), dir, "f"); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
}

// TestManyFiles: too many files are refused, and a search that is stopped ends.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "d"), 0o755)
	first := filepath.Join(dir, "d", "f")
	os.WriteFile(first, nil, 0o644)
	for i := range 10_000 {
		if err := os.Link(first, fmt.Sprint(first, i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := keep(t, newRun(t.TempDir(), Limits{}), dir, "d"); err == nil || !strings.Contains(err.Error(), "matches more than 10000 files") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := newRun(t.TempDir(), Limits{}).Keep(ctx, Source{Step: "s", Dir: dir}, []Spec{{Name: "n", Pattern: "d/**"}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestKilled: a process that is killed while it keeps artifacts leaves those of the attempt before, or the new ones, or
// none, and nothing that a later attempt does not remove.
func TestKilled(t *testing.T) {
	for _, at := range []string{"begun", "copied", "stored", "written", "aside", "placed"} {
		state, dir := t.TempDir(), write(t, t.TempDir(), map[string]string{"out/a": "first", "out/b": "same"})
		r := newRun(state, Limits{})
		spec := []Spec{{Name: "out", Pattern: "out"}}
		if _, _, err := r.Keep(context.Background(), Source{Step: "build", Dir: dir}, spec); err != nil {
			t.Fatal(err)
		}
		write(t, dir, map[string]string{"out/a": "second"})
		cmd := exec.Command(os.Args[0], state, dir)
		cmd.Env = append(os.Environ(), "FLOWRUN_TEST_KILLED_AT="+at)
		if out, err := cmd.Output(); err == nil || len(out) > 0 {
			t.Fatalf("%s: %s", at, out)
		}
		if now := filepath.Join(rundir.ArtifactFolder(state, "r1"), "build", "out", "a"); at != "aside" {
			text, err := os.ReadFile(now)
			if want := map[bool]string{true: "second", false: "first"}[at == "placed"]; string(text) != want {
				t.Errorf("%s: %q %v", at, text, err)
			}
		}
		kept, _, err := newRun(state, Limits{MaxSize: 10}).Keep(context.Background(), Source{Step: "build", Dir: dir}, spec)
		if err != nil || Check(kept[0]) != nil {
			t.Errorf("%s: %v", at, err)
		}
		if left, _ := filepath.Glob(filepath.Join(rundir.ArtifactFolder(state, "r1"), ".*")); len(left) > 0 {
			t.Errorf("%s: left %s", at, left)
		}
		old := time.Now().Add(2 * time.Hour)
		if _, err := Prune(state, old); err != nil {
			t.Error(err)
		}
		if contents, _ := filepath.Glob(filepath.Join(state, "artifacts", "??", "*")); len(contents) != 2 {
			t.Errorf("%s: %s", at, contents)
		}
		if left, _ := filepath.Glob(filepath.Join(state, "artifacts", tempNew+"*")); len(left) > 0 {
			t.Errorf("%s: left %s", at, left)
		}
	}
}

// TestAtOnce: many steps keep the same contents while others remove them.
func TestAtOnce(t *testing.T) {
	state, dir := t.TempDir(), write(t, t.TempDir(), map[string]string{"f": "same", "g": "other"})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := NewRun(func() (string, error) { return state, nil }, fmt.Sprint("run", i), Limits{})
			for n := range 10 {
				kept, _, err := r.Keep(context.Background(), Source{Step: dag.ID(fmt.Sprint("s", n)), Dir: dir}, []Spec{{Name: "f", Pattern: "f"}, {Name: "g", Pattern: "g"}})
				if err != nil || Check(kept[0]) != nil || Check(kept[1]) != nil {
					t.Error(err)
				}
				os.RemoveAll(filepath.Join(rundir.ArtifactFolder(state, fmt.Sprint("run", i)), "s0"))
				folders, _ := filepath.Glob(filepath.Join(state, "artifacts", "??"))
				for _, dir := range folders {
					if _, err := removeUnused(dir, time.Now().Add(2*time.Hour)); err != nil && !errors.Is(err, os.ErrNotExist) {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
}

// TestPrune: what has expired goes, and contents that no run has.
func TestPrune(t *testing.T) {
	state, dir := t.TempDir(), write(t, t.TempDir(), map[string]string{"f": "f", "g": "g"})
	kept, _, err := newRun(state, Limits{}).Keep(context.Background(), Source{Step: "s", Dir: dir}, []Spec{{Name: "f", Pattern: "f", Retention: time.Hour}, {Name: "g", Pattern: "g"}})
	if err != nil {
		t.Fatal(err)
	}
	count := func() int {
		contents, _ := filepath.Glob(filepath.Join(state, "artifacts", "??", "*"))
		return len(contents)
	}
	for _, c := range []struct {
		later time.Duration
		want  int
	}{{30 * time.Minute, 2}, {3 * time.Hour, 1}} {
		if _, err := Prune(state, time.Now().Add(c.later)); err != nil || count() != c.want {
			t.Errorf("%v later: %d %v", c.later, count(), err)
		}
	}
	if Check(kept[0]) == nil || Check(kept[1]) != nil {
		t.Error(Check(kept[0]), Check(kept[1]))
	}
	os.RemoveAll(filepath.Join(state, "runs"))
	if freed, err := Prune(state, time.Now().Add(3*time.Hour)); err != nil || freed != 1 || count() != 0 {
		t.Error(freed, err, count())
	}
	// A note cannot make flowrun remove anything else.
	other := t.TempDir()
	noteExpiry(filepath.Join(state, storeFolder), time.Now(), other)
	noteExpiry(filepath.Join(state, storeFolder), time.Now(), filepath.Join(state, "runs", "a", "..", "..", "..", "x"))
	if _, err := Prune(state, time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// TestAdopt: an artifact of another run stays when that is removed.
func TestAdopt(t *testing.T) {
	state, dir := t.TempDir(), write(t, t.TempDir(), map[string]string{"out/f": "f", "out/l": "->f", "r.html": "r"})
	kept, err := keep(t, newRun(state, Limits{}), dir, "out", "r.html")
	if err != nil {
		t.Fatal(err)
	}
	to := rundir.ArtifactFolder(state, "r2")
	var mine []dag.Artifact
	for _, a := range kept {
		b, err := Adopt(to, "again", a)
		if err != nil {
			t.Fatal(err)
		}
		mine = append(mine, b)
	}
	os.RemoveAll(filepath.Join(state, "runs", "r1"))
	for i, a := range mine {
		if err := Check(a); err != nil || a.Digest != kept[i].Digest || !strings.HasPrefix(a.Path, to) {
			t.Error(err, a)
		}
	}
	if _, err := Adopt(to, "again", kept[0]); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

// TestCopyTo verifies, replaces nothing, and follows no link out of the folder.
func TestCopyTo(t *testing.T) {
	state, dir := t.TempDir(), write(t, t.TempDir(), map[string]string{"out/sub/f": "f", "out/l": "->sub/f"})
	kept, err := keep(t, newRun(state, Limits{}), dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	to := filepath.Join(t.TempDir(), "new")
	if err := c.CopyTo(to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "l")); string(text) != "f" {
		t.Error(err)
	}
	if err := c.CopyTo(to); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
	outside := t.TempDir()
	trap := write(t, t.TempDir(), map[string]string{"sub": "->" + outside})
	if err := c.CopyTo(trap); err == nil {
		t.Error("it followed a link")
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Error(left)
	}
}

// A copy that fails leaves the folder as it was: a new one does not exist, and of an old one nothing is added.
func TestCopyToWhole(t *testing.T) {
	state, dir := t.TempDir(), write(t, t.TempDir(), map[string]string{"out/a/f": "f", "out/b": "b", "out/c": "c", "out/empty/": ""})
	kept, err := keep(t, newRun(state, Limits{}), dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	taken := write(t, t.TempDir(), map[string]string{"c": "mine"})
	if err := c.CopyTo(taken); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(taken); len(left) != 1 {
		t.Errorf("half of the artifact was copied: %v", left)
	}
	os.Remove(filepath.Join(kept[0].Path, "c"))
	parent := t.TempDir()
	if err := c.CopyTo(filepath.Join(parent, "new")); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("half of the artifact was copied: %v", left)
	}
}

// TestLarge: a large file goes through in pieces.
func TestLarge(t *testing.T) {
	dir := t.TempDir()
	f, _ := os.Create(filepath.Join(dir, "f"))
	f.Truncate(64 << 20)
	f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := keep(t, newRun(t.TempDir(), Limits{}), dir, "f"); err != nil {
		t.Fatal(err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 4<<20 {
		t.Errorf("%d bytes of memory", after.TotalAlloc-before.TotalAlloc)
	}
}

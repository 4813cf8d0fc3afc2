package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain is also the writer that kills itself at a failpoint.
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
	s, err := Open(os.Args[2])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	d := draft(s, os.Args[3])
	switch os.Args[1] {
	case "keep":
		err = s.Step("step").Keep(context.Background(), d)
	case "restore":
		var e *Entry
		if e, err = s.Step("step").Find(s.Key(d.Components)); err == nil {
			err = e.Restore(context.Background(), d.Dir)
		}
	}
	fmt.Println(err)
}

// killed has another process keep or restore the draft, and killed at a point.
func killed(t *testing.T, s *Store, what, dir, at string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], what, s.dir, dir)
	cmd.Env = append(os.Environ(), "FLOWRUN_TEST_KILLED_AT="+at)
	if out, err := cmd.Output(); err == nil || len(out) > 0 {
		t.Fatalf("%s: it was not killed: %s", at, out)
	}
}

// draft is a result with the outputs out/ and one line printed.
func draft(s *Store, dir string) Draft {
	return Draft{Components: []Component{s.Component(Command, "", "make")}, Dir: dir, Outputs: []string{"out"}, Stdout: Printed{Text: "made\n"}}
}

func open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write makes files: a name that ends in / is a folder, a text that begins with ->
// a link.
func write(t testing.TB, dir string, files map[string]string) {
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
}

// tree is everything below a folder, with modes.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(b)
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			found[name(dir, path)] = "->" + target
			return nil
		}
		found[name(dir, path)] = info.Mode().String() + " " + text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func name(dir, path string) string {
	rel, _ := filepath.Rel(dir, path)
	return filepath.ToSlash(rel)
}

func keep(t testing.TB, s *Store, d Draft) *Entry {
	t.Helper()
	if err := s.Step("step").Keep(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	return find(t, s, d)
}

func find(t testing.TB, s *Store, d Draft) *Entry {
	t.Helper()
	e, err := s.Step("step").Find(s.Key(d.Components))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestInputs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"in/a.go": "a", "in/sub/b.go": "b", "in/sub/deep/c.txt": "c", "in/.hidden": "h", "in/[odd] {name}": "o",
		"in/empty/": "", "other/d.go": "d", "in/out/made.go": "m", "in/" + tempPrefix + "x": "t",
		"in/link.go": "->a.go", "in/loop": "->.", "in/nowhere": "->gone", "in/folder": "->../other",
	})
	all := []string{".hidden", "[odd] {name}", "a.go", "folder", "link.go", "loop", "nowhere", "out/made.go", "sub/b.go", "sub/deep/c.txt"}
	for _, c := range []struct {
		patterns, outputs, want string
	}{
		{"a.go", "", "a.go"},
		{"./a.go sub/../a.go", "", "a.go"},
		{"*.go", "", "a.go link.go"},
		{"**/*.go", "", "a.go link.go out/made.go sub/b.go"},
		{"**/*.{go,txt}", "out", "a.go link.go sub/b.go sub/deep/c.txt"},
		{"sub", "", "sub/b.go sub/deep/c.txt"},
		{"sub/", "", "sub/b.go sub/deep/c.txt"},
		{"sub/**", "", "sub/b.go sub/deep/c.txt"},
		{".", "out", strings.Join(slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == "out/made.go" || strings.Contains(n, " ") }), " ")},
		{"**", "**/*.go folder loop nowhere .hidden \\[*", "sub/deep/c.txt"},
		{"../other/*", "", "../other/d.go"},
		{filepath.ToSlash(dir) + "/other/d.go", "", filepath.ToSlash(dir) + "/other/d.go"},
		{"folder", "", "folder/d.go"}, // a link that is named is followed
		{"nothing none/*.go nor/**/it", "", "!nor/**/it !none/*.go !nothing"},
		{"empty", "", "!empty"},
		{"out", "out/**", "!out"},
		{"a.go l*.go", "*.go", "a.go !l*.go"},
	} {
		s := open(t)
		list, err := s.Inputs(context.Background(), filepath.Join(dir, "in"), strings.Fields(c.patterns), strings.Fields(c.outputs))
		if err != nil {
			t.Errorf("%s: %v", c.patterns, err)
		}
		var got []string
		for _, c := range list {
			switch {
			case c.Kind == NoMatch:
				got = append(got, "!"+c.Name)
			case !strings.Contains(c.Name, " "):
				got = append(got, c.Name)
			}
		}
		slices.Sort(got)
		want := strings.Fields(c.want)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s without %s (-want +got):\n%s", c.patterns, c.outputs, diff)
		}
	}
}

// TestInputHash: what changes the hash of an input, and what does not.
func TestInputHash(t *testing.T) {
	s, dir := open(t), t.TempDir()
	file := filepath.Join(dir, "a")
	hash := func() string {
		list, err := s.Inputs(context.Background(), dir, []string{"a"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Hash
	}
	write(t, dir, map[string]string{"a": "text", "same": "text"})
	was := hash()
	if os.Chtimes(file, time.Now(), time.Unix(1, 0)); hash() != was {
		t.Error("the time of a file counts")
	}
	write(t, dir, map[string]string{"a": "other"})
	if hash() == was {
		t.Error("the content does not count")
	}
	write(t, dir, map[string]string{"a": "text"})
	if hash() != was {
		t.Error("the same content has another hash")
	}
	if runtime.GOOS == "windows" {
		return
	}
	os.Chmod(file, 0o755)
	if hash() == was {
		t.Error("whether it can be executed does not count")
	}
	os.Remove(file)
	write(t, dir, map[string]string{"a": "->same"})
	if hash() == was {
		t.Error("a link is the same as a file")
	}
	linked := hash()
	write(t, dir, map[string]string{"same": "changed"})
	if hash() == linked {
		t.Error("what a link leads to does not count")
	}
	if s2 := open(t); s2.Sum("x") == s.Sum("x") {
		t.Error("two stores have the same key")
	}
}

func TestInputRefused(t *testing.T) {
	s, dir := open(t), t.TempDir()
	for _, pattern := range []string{"", "a[", "{a"} {
		_, err := s.Inputs(context.Background(), dir, []string{pattern}, nil)
		var bad *PatternError
		if !errors.As(err, &bad) || bad.Pattern != pattern {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	write(t, dir, map[string]string{"a": "a"})
	if _, err := s.Inputs(ctx, dir, []string{"*"}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("everything can be read here")
	}
	write(t, dir, map[string]string{"closed/a": "a"})
	os.Chmod(filepath.Join(dir, "a"), 0)
	os.Chmod(filepath.Join(dir, "closed"), 0)
	defer os.Chmod(filepath.Join(dir, "closed"), 0o700)
	for _, pattern := range []string{"a", "closed", "**/b", "closed/*"} {
		_, err := s.Inputs(context.Background(), dir, []string{pattern}, nil)
		var unread *InputError
		if !errors.As(err, &unread) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestRestore: whatever happened to outputs, they are put back as they were, modes,
// links and empty folders included; what else is there stays.
func TestRestore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are different here")
	}
	made := map[string]string{"out/a": "a", "out/run": "#!", "out/empty/": "", "out/sub/b": strings.Repeat("b", 300_000),
		"out/link": "->sub/b", "out/up": "->../src", "out/dangling": "->nothing", "lib.o": "o", "src": "source"}
	for what, spoil := range map[string]func(dir string){
		"nothing":         func(dir string) {},
		"all gone":        func(dir string) { os.RemoveAll(dir + "/out"); os.Remove(dir + "/lib.o") },
		"a file gone":     func(dir string) { os.Remove(dir + "/out/sub/b") },
		"a file changed":  func(dir string) { os.WriteFile(dir+"/out/a", []byte("A"), 0o644) },
		"a file longer":   func(dir string) { os.WriteFile(dir+"/out/a", []byte("aa"), 0o644) },
		"a mode":          func(dir string) { os.Chmod(dir+"/out/run", 0o600) },
		"a folder's mode": func(dir string) { os.Chmod(dir+"/out/sub", 0o700) },
		"a link changed":  func(dir string) { os.Remove(dir + "/out/link"); os.Symlink("a", dir+"/out/link") },
		"link for file":   func(dir string) { os.Remove(dir + "/out/a"); os.Symlink("run", dir+"/out/a") },
		"file for link":   func(dir string) { os.Remove(dir + "/out/link"); os.WriteFile(dir+"/out/link", nil, 0o644) },
		"file for folder": func(dir string) { os.Remove(dir + "/out/empty"); os.WriteFile(dir+"/out/empty", nil, 0o644) },
		"link for folder": func(dir string) {
			os.RemoveAll(dir + "/out/sub")
			os.Mkdir(dir+"/aside", 0o700)
			os.Symlink("../aside", dir+"/out/sub")
		},
	} {
		t.Run(what, func(t *testing.T) {
			s, dir := open(t), t.TempDir()
			write(t, dir, made)
			os.Chmod(dir+"/out/run", 0o755)
			os.Chmod(dir+"/out/sub", 0o750)
			d := draft(s, dir)
			d.Outputs = []string{"out/", "*.o"}
			e := keep(t, s, d)
			want := tree(t, dir)
			write(t, dir, map[string]string{"out/more": "mine", "beside": "mine"})
			spoil(dir)
			for range 2 {
				if err := e.Restore(context.Background(), dir); err != nil {
					t.Fatal(err)
				}
			}
			got := tree(t, dir)
			for _, mine := range []string{"out/more", "beside"} {
				if _, there := got[mine]; !there && what != "all gone" {
					t.Errorf("%s is gone", mine)
				}
				delete(got, mine)
			}
			delete(got, "aside")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRestoreRefused: a folder that took a file's place is not removed, no manifest
// leads out of the folder, and a copy that has changed is not put back.
func TestRestoreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links are different here")
	}
	around := t.TempDir()
	dir := filepath.Join(around, "work")
	write(t, dir, map[string]string{"out/a": "a"})
	s := open(t)
	e := keep(t, s, draft(s, dir))

	os.Remove(dir + "/out/a")
	write(t, dir, map[string]string{"out/a/mine": "mine"})
	if err := e.Restore(context.Background(), dir); err == nil || tree(t, dir)["out/a/mine"] == "" {
		t.Errorf("a folder was taken away: %v", err)
	}
	os.RemoveAll(dir + "/out")

	os.Symlink(around, dir+"/out") // leads out
	if err := e.Restore(context.Background(), dir); err == nil {
		t.Error("it followed a link out")
	}
	for name := range tree(t, around) {
		if strings.HasPrefix(name, "a") {
			t.Errorf("it wrote %s", name)
		}
	}
	os.Remove(dir + "/out")

	for _, bad := range []Item{{Path: "../evil", Type: File}, {Path: "/tmp/evil", Type: File}, {Path: "l", Type: Link, Target: "../.."}, {Path: "x", Type: "fifo"}} {
		bad.Size, bad.Digest = e.Outputs[1].Size, e.Outputs[1].Digest
		forged := *e
		forged.Outputs = []Item{bad, bad}
		if err := forged.Restore(context.Background(), dir); err == nil {
			t.Errorf("it restored %+v", bad)
		}
	}
	if len(tree(t, around)) != 1 {
		t.Errorf("something was written: %v", tree(t, around))
	}

	os.WriteFile(e.copyOf(1), []byte("b"), 0o600)
	if err := e.Restore(context.Background(), dir); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	os.WriteFile(filepath.Join(e.dir, stdoutFile), []byte("x"), 0o600)
	if _, _, err := e.Printed(context.Background()); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	os.WriteFile(filepath.Join(e.dir, manifestFile), []byte("{"), 0o600)
	if _, err := s.Step("step").Find(filepath.Base(e.dir)); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if _, there := tree(t, dir)["out/a"]; there {
		t.Error("a damaged copy was put back")
	}
}

// TestOutputsRefused: what cannot be kept says why, and leaves nothing behind.
func TestOutputsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links are different here")
	}
	around := t.TempDir()
	dir := filepath.Join(around, "work")
	write(t, around, map[string]string{"other/file": "x", "work/a": "a", "work/abs/l": "->/etc", "work/out/l": "->../../other", "work/top": "->../other", "work/dir/x": "x"})
	secret := errors.New("secret")
	for _, c := range []struct {
		pattern string
		refuse  func(io.Reader) error
		want    string
	}{
		{"../other", nil, "outside"}, {"..", nil, "outside"}, {"a/../../other", nil, "outside"}, {"/etc/passwd", nil, "outside"},
		{".", nil, "whole working directory"}, {dir, nil, "outside"}, {"", nil, "empty"}, {"[", nil, "not closed"},
		{"abs", nil, "outside the step"}, {"out", nil, "outside the step"}, {"top", nil, "outside the step"}, {"top/*", nil, "top"}, {"nope/*.o", nil, "did not create"},
		{"{../other,x}", nil, ""}, {"**/../../other/*", nil, ""},
		{"a", func(io.Reader) error { return secret }, "secret"},
	} {
		s := open(t)
		d := draft(s, dir)
		d.Outputs, d.Refuse = []string{c.pattern}, c.refuse
		err := s.Step("step").Keep(context.Background(), d)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.pattern, err)
		}
		if left, _ := os.ReadDir(s.Step("step").dir); len(left) > 0 {
			t.Errorf("%q: %v is left", c.pattern, left)
		}
	}
	s := open(t)
	d := draft(s, dir)
	d.Outputs = []string{filepath.ToSlash(dir) + "/a", "dir/**"} // a full path inside is one
	write(t, dir, map[string]string{"dir/" + tempPrefix + "x": "of another run"})
	var got []string
	for _, i := range keep(t, s, d).Outputs {
		got = append(got, i.Path)
	}
	if diff := cmp.Diff([]string{"a", "dir", "dir/x"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestKilled: a writer that is killed anywhere leaves a whole result or none, and
// what else it leaves is swept.
func TestKilled(t *testing.T) {
	for _, c := range []struct {
		at     string
		before bool // there was a result before
		whole  bool // there is one after
	}{
		{"begun", false, false}, {"copied", false, false}, {"written", false, false}, {"placed", false, true},
		{"begun", true, true}, {"written", true, true}, {"aside", true, false}, {"placed", true, true},
	} {
		s, dir := open(t), t.TempDir()
		write(t, dir, map[string]string{"out/a": "a", "out/b": "b"})
		if c.before {
			keep(t, s, draft(s, dir))
		}
		killed(t, s, "keep", dir, c.at)
		e, err := s.Step("step").Find(s.Key(draft(s, dir).Components))
		if whole := err == nil; whole != c.whole || err != nil && !errors.Is(err, ErrNone) {
			t.Errorf("killed at %s: %v", c.at, err)
		}
		if err == nil {
			os.RemoveAll(dir + "/out")
			if err := e.Restore(context.Background(), dir); err != nil {
				t.Errorf("killed at %s: %v", c.at, err)
			}
		}
		write(t, dir, map[string]string{"out/a": "a", "out/b": "b"})
		old := time.Now().Add(-2 * abandonedAfter)
		for _, f := range temps(t, s) {
			os.Chtimes(f, old, old)
		}
		s.Step("step").Sweep(dir)
		keep(t, s, draft(s, dir))
		if left := temps(t, s); len(left) > 0 {
			t.Errorf("killed at %s: %v is left", c.at, left)
		}
	}
}

// TestRestoreKilled: what a process that was killed while it put outputs back has left
// in the user's folder goes when the step is about to run there again; what a living
// one needs stays.
func TestRestoreKilled(t *testing.T) {
	for _, at := range []string{"noted", "halfway", "restored"} {
		s, dir := open(t), t.TempDir()
		made := map[string]string{"out/sub/a": "a", "out/b": "b"}
		write(t, dir, made)
		e := keep(t, s, draft(s, dir))
		want := tree(t, dir)
		os.RemoveAll(dir + "/out")
		killed(t, s, "restore", dir, at)

		left := func() (n int) {
			for name := range tree(t, dir) {
				if strings.Contains(name, tempPrefix) {
					n++
				}
			}
			return n
		}
		for name := range tree(t, dir) {
			if _, known := want[name]; !known && !strings.Contains(name, tempPrefix) {
				t.Errorf("killed at %s, it leaves %s, which nothing takes away", at, name)
			}
		}
		step := s.Step("step")
		if step.Sweep(t.TempDir()); at == "halfway" && left() != 1 || len(temps(t, s)) != 1 {
			t.Errorf("killed at %s, elsewhere swept: %d files and the notes %v", at, left(), temps(t, s))
		}
		if runtime.GOOS != "linux" { // it may be alive, but not for so long
			old := time.Now().Add(-2 * abandonedAfter)
			os.Chtimes(temps(t, s)[0], old, old)
		}
		if step.Sweep(dir); left() != 0 || len(temps(t, s)) > 0 {
			t.Errorf("killed at %s, it leaves %v and the notes %v", at, tree(t, dir), temps(t, s))
		}

		temp, done := e.note(dir, []bool{false, false, false, false})
		write(t, dir, map[string]string{"out/" + temp: "mine"})
		if step.Sweep(dir); left() != 1 || len(temps(t, s)) != 1 {
			t.Errorf("what a living process needs is gone")
		}
		os.Remove(dir + "/out/" + temp)
		done()
		if err := e.Restore(context.Background(), dir); err != nil || len(temps(t, s)) > 0 {
			t.Error(err, temps(t, s))
		}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("killed at %s (-want +got):\n%s", at, diff)
		}
	}
}

func temps(t *testing.T, s *Store) []string {
	found, err := filepath.Glob(filepath.Join(s.Step("step").dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestTwoAtOnce: writers and readers of one key, and of many, do not disturb each
// other.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(t.TempDir(), "cache")
	write(t, dir, map[string]string{"out/a": strings.Repeat("a", 100_000)})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := Open(store) // each of them may be the first
			if err != nil {
				t.Error(err)
				return
			}
			d := draft(s, dir)
			for range 10 {
				if err := s.Step("step").Keep(context.Background(), d); err != nil {
					t.Error(err)
				}
				e, err := s.Step("step").Find(s.Key(d.Components))
				if errors.Is(err, ErrNone) { // between two names
					continue
				}
				if err == nil {
					err = e.Restore(context.Background(), dir)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	s, _ := Open(store)
	if e := find(t, s, draft(s, dir)); len(e.Outputs) != 2 || len(temps(t, s)) > 0 {
		t.Error(e.Outputs, temps(t, s))
	}
}

// TestPrune: the ten results used last stay.
func TestPrune(t *testing.T) {
	s, dir := open(t), t.TempDir()
	write(t, dir, map[string]string{"out/a": "a"})
	made := func(i int) Draft {
		d := draft(s, dir)
		d.Components = []Component{s.Component(Key, "", fmt.Sprint(i))}
		return d
	}
	begin := time.Now().Add(-time.Hour)
	for i := range 13 {
		e := keep(t, s, made(i))
		at := begin.Add(time.Duration(i) * time.Minute)
		os.Chtimes(filepath.Join(e.dir, manifestFile), at, at)
		if i > 0 {
			find(t, s, made(0)).Touch() // used all the time
		}
	}
	for i := range 13 {
		_, err := s.Step("step").Find(s.Key(made(i).Components))
		if want := i == 0 || i > 3; (err == nil) != want {
			t.Errorf("result %d: %v", i, err)
		}
	}
	if e, err := s.Step("step").Latest(); err != nil || filepath.Base(e.dir) != s.Key(made(0).Components) {
		t.Error(err)
	}
	if _, err := s.Step("other").Latest(); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// TestUnused: what nobody used for a month goes, when another step's result is kept and
// a day has passed since the last look.
func TestUnused(t *testing.T) {
	s, dir := open(t), t.TempDir()
	write(t, dir, map[string]string{"out/a": "a"})
	clock := time.Now()
	s.now = func() time.Time { return clock }
	keepAs := func(step string) {
		t.Helper()
		if err := s.Step(step).Keep(context.Background(), draft(s, dir)); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Step(step).Latest(); err == nil {
			e.Touch()
		}
	}
	const day = 24 * time.Hour
	keepAs("renamed")
	keepAs("in use")
	for _, c := range []struct {
		later time.Duration
		stays bool
	}{{29 * day, true}, {day / 2, true}, {day, false}} { // it is looked for on days 0, 29 and 30
		clock = clock.Add(c.later)
		if e, err := s.Step("in use").Latest(); err == nil {
			e.Touch()
		}
		keepAs("another")
		if _, err := s.Step("in use").Latest(); err != nil {
			t.Error("what is in use is gone:", err)
		}
		if _, err := os.Stat(s.Step("renamed").dir); (err == nil) != c.stays {
			t.Errorf("%v later: %v", c.later, err)
		}
	}
	keepAs("renamed")
	clock = clock.Add(31 * day)
	write(t, s.dir, map[string]string{".key-1": ""}) // of a killed writer
	os.Chtimes(s.dir+"/.key-1", clock, clock.Add(-2*abandonedAfter))
	notes := s.Step("renamed").dir + "/" + tempRestoring + "x"
	os.WriteFile(notes, nil, 0o600)
	os.Chtimes(notes, clock, clock.Add(-2*maxUnused))
	keepAs("another")
	var left []string
	for name := range tree(t, s.dir) {
		if !strings.Contains(name, "/") {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	want := []string{"key", placesFolder, "pruned", filepath.Base(s.Step("another").dir)}
	slices.Sort(want)
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPruneEmpty: a folder that another process has just made, to keep a first result in
// it, stays; one that has been empty for long goes.
func TestPruneEmpty(t *testing.T) {
	s := open(t)
	st := s.Step("step")
	for _, c := range []struct {
		age   time.Duration
		stays bool
	}{{0, true}, {2 * abandonedAfter, false}} {
		if err := os.MkdirAll(st.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-c.age)
		os.Chtimes(st.dir, then, then)
		st.pruneUnused()
		if _, err := os.Stat(st.dir); (err == nil) != c.stays {
			t.Errorf("empty for %v: %v", c.age, err)
		}
	}
}

// TestNotePlace: the note of a step stays possible while others take away the notes of steps that have no results.
func TestNotePlace(t *testing.T) {
	s := open(t)
	m := &Manifest{Dir: "dir", Outputs: []Item{{}}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 500 {
			s.prunePlaces()
		}
	}()
	for i := range 500 {
		if err := s.Step(fmt.Sprint(i)).notePlace(m); err != nil {
			t.Error(err)
		}
	}
	<-ended
}

// TestPrivate: only this user can read a store, and a short value cannot be guessed
// from it.
func TestPrivate(t *testing.T) {
	s, dir := open(t), t.TempDir()
	write(t, dir, map[string]string{"out/a": "a"})
	d := draft(s, dir)
	d.Components = append(d.Components, s.Component(Variable, "PIN", "p!n9"))
	keep(t, s, d)
	plain := &Store{key: nil}
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte("p!n9")) || bytes.Contains(b, []byte(plain.Component(Variable, "PIN", "p!n9").Hash)) {
			t.Errorf("%s gives the value away", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPeek looks at a store and makes nothing.
func TestPeek(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	s, err := OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Step("step").Latest(); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it made the store")
	}
	made, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := OpenReadOnly(dir); err != nil || s.Sum("x") != made.Sum("x") {
		t.Error("another key", err)
	}
	os.RemoveAll(dir) // under the feet of an open store
	work := t.TempDir()
	write(t, work, map[string]string{"out/a": "a"})
	keep(t, made, draft(made, work))
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	find(t, s, draft(s, work))
	os.WriteFile(filepath.Join(dir, "key"), []byte("short"), 0o600)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "remove the folder") {
		t.Error(err)
	}
}

// TestLarge: a file larger than anybody wants in memory goes through in pieces.
func TestLarge(t *testing.T) {
	s, dir := open(t), t.TempDir()
	write(t, dir, map[string]string{"out/": ""})
	const size = 32 << 20
	f, err := os.Create(dir + "/out/large")
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := s.Inputs(context.Background(), dir, []string{"out"}, nil); err != nil {
		t.Fatal(err)
	}
	e := keep(t, s, draft(s, dir))
	os.Remove(dir + "/out/large")
	if err := e.Restore(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > size/8 {
		t.Errorf("%d bytes of memory for a file of %d", used, size)
	}
	if info, err := os.Stat(dir + "/out/large"); err != nil || info.Size() != size {
		t.Error(err)
	}
}

func TestDiff(t *testing.T) {
	s := open(t)
	was := []Component{s.Component(Format, "", "1"), s.Component(Definition, "shell", "bash"), s.Component(Command, "", "a"), s.Component(Variable, "CC", "gcc"),
		s.Component(Input, "a", "1"), s.Component(Input, "b", "1"), s.Component(NoMatch, "*.x")}
	now := []Component{s.Component(Format, "", "2"), s.Component(Definition, "shell", "sh"), {Kind: Command}, s.Component(Variable, "CC", "gcc"), s.Component(Stdin, "", "x"),
		s.Component(Input, "a", "2"), s.Component(Input, "c", "1"), s.Component(Output, "bin", ""), s.Component(NoMatch, "*.y")}
	var got []string
	for _, d := range Diff(was, now) {
		got = append(got, d.String())
	}
	want := []string{"the cached result comes from another version of flowrun or another platform", "shell changed", "the standard input changed",
		"input a changed", "input c is new", "output pattern bin is new", "no file matches the input pattern *.y any more",
		"input b was removed", "a file now matches the input pattern *.x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list := Diff(was, was); len(list) > 0 {
		t.Error(list)
	}
	if list := Diff(was, append(slices.Clone(was[:5]), Component{Kind: Input})); len(list) > 0 {
		t.Error("what may be unknown is reported as gone:", list)
	}
}

//go:build unix

package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// escapes are paths that a model may write to get out of the workspace, or to make a call
// wait for ever, and what is said of each. WS is the workspace, OUT the folder beside it.
var escapes = []struct {
	path string
	want string // of what every tool says
}{
	// Words that lead upwards.
	{"WS/..", "contains ..; write the path as"},
	{"WS/../outside/canary", "contains ..; write the path as \"OUT/canary\""},
	{"WS/dir/../file", "contains ..; write the path as \"WS/file\""},
	{"WS/dir/../../outside/canary", "contains .."},
	{"WS/./../outside/canary", "contains .."},
	{"WS//..//outside/canary", "contains .."},
	{"WS/none/../../outside/canary", "contains .."},
	{"WS/file/..", "contains .."},
	{"WS/in-dir/../file", "contains .."},
	{"/../../../../etc/passwd", "contains .."},
	{"../outside/canary", "contains .."},
	{"../../../../../../etc/passwd", "contains .."},
	{"..", "contains .."},
	{"./file", "is not an absolute path; relative to the workspace, it would be \"WS/file\""},
	{"file", "is not an absolute path; relative to the workspace, it would be \"WS/file\""},
	{"dir/inner", "relative to the workspace, it would be \"WS/dir/inner\""},
	{".", "is not an absolute path"},
	{"-rf", "is not an absolute path"},
	// Words that lead upwards elsewhere, and are plain names here.
	{"WS/%2e%2e/outside/canary", "no such file"},
	{"WS/..%2foutside%2fcanary", "no such file"},
	{"WS/%252e%252e/outside/canary", "no such file"},
	{"WS/..%c0%af../outside/canary", "no such file"},
	{"WS/．．/outside/canary", "no such file"},
	{"WS/‥/outside/canary", "no such file"},
	{"WS/..\\outside\\canary", "no such file"},
	{"WS/.../canary", "no such file"},
	{"WS/.. /outside/canary", "no such file"},
	{"WS/..\n/outside/canary", "no such file"},
	{"WS/\u202e../canary", "no such file"},
	{"WS/$HOME/canary", "no such file"},
	{"WS/`id`", "no such file"},
	{"WS/$(cat OUT/canary)", "no such file"},
	{"WS/*", "no such file"},
	// Paths outside.
	{"OUT/canary", "is outside the folders that file tools may use: WS; a person can add folders with the setting roots"},
	{"OUT", "is outside the folders"},
	{"OUT/new/file", "is outside the folders"},
	{"WSx/file", "is outside the folders"},
	{"/", "is outside the folders"},
	{"//", "is outside the folders"},
	{"/etc/passwd", "is outside the folders"},
	{"//etc/passwd", "is outside the folders"},
	{"/etc//shadow", "is outside the folders"},
	{"/nowhere/at/all", "is outside the folders"},
	{"/var", "is outside the folders"},
	// What is not a path.
	{"WS/file\x00.txt", "contains a NUL byte"},
	{"\x00", "contains a NUL byte"},
	{"WS/\x00/../outside/canary", "contains a NUL byte"},
	{"~", "~ is not expanded"},
	{"~/file", "~ is not expanded"},
	{"~root/.ssh/id_rsa", "~ is not expanded"},
	{"file:///etc/passwd", "is a URL; give only the path"},
	{"file:OUT/canary", "is a URL; give only the path"},
	{"http://localhost/canary", "is not an absolute path"},
	{"C:\\Windows\\win.ini", "is not an absolute path"},
	{"C:/Windows/win.ini", "is not an absolute path"},
	{"\\\\server\\share\\file", "is not an absolute path"},
	{"\\\\?\\C:\\file", "is not an absolute path"},
	{"NUL", "is not an absolute path"},
	{"WS/CON", "no such file"},
	{"WS/file:stream", "no such file"},
	{"WS/" + strings.Repeat("a", 300), "too long for this file system"},
	{"WS/" + strings.Repeat("a/", 3000), "bytes long; the limit is 4096"},
	{" ", "is not an absolute path"},
	{" /etc/passwd", "is not an absolute path"},
	// Links.
	{"WS/out-file", "(a link to \"OUT/canary\") is outside the folders that file tools may use: WS"},
	{"WS/out-dir", "(a link to \"OUT\")"},
	{"WS/out-dir/canary", "(a link to \"OUT/canary\")"},
	{"WS/out-dir/new", "is outside the folders"},
	{"WS/out-relative", "(a link to \"OUT/canary\")"},
	{"WS/out-chain", "(a link to \"OUT/canary\")"},
	{"WS/dir/out-deep", "(a link to \"OUT/canary\")"},
	{"WS/out-root", "is outside the folders"},
	{"WS/out-root/etc/passwd", "is outside the folders"},
	{"WS/out-self/ws/out-file", "(a link to \"OUT/canary\")"},
	{"WS/loop", "symbolic links form a loop"},
	{"WS/loop/file", "symbolic links form a loop"},
	{"WS/loop-a", "symbolic links form a loop"},
	{"WS/dangling-out", "DANGLING"}, // a link to a file outside that is not there
	{"WS/out-proc", "is outside the folders"},
	// The kernel's files, and what makes one wait.
	{"/proc/self/root/etc/passwd", "is outside the folders"},
	{"/proc/self/cwd/file", "OUTSIDE-OR-NONE"},
	{"/proc/self/fd/0", "OUTSIDE-OR-NONE"},
	{"/proc/self/environ", "is outside the folders"},
	{"/dev/zero", "is outside the folders"},
	{"/dev/stdin", "OUTSIDE-OR-NONE"},
	{"/sys/kernel", "is outside the folders"},
	{"WS/pipe", "a named pipe"},
	{"WS/in-pipe", "a named pipe"},
	{"WS/socket", "a socket"},
	{"WS/file/", "SLASH"},
	{"WS/file/inner", "a parent in the path is a file, not a folder"},
	{"WS/file/.", "SLASH"},
}

func newTrap(t *testing.T, granted ...string) *desk {
	d := newDesk(t, map[string]string{
		"file": "inside\n", "dir/inner": "inside\n",
		"in-dir": "-> dir", "in-file": "-> WS/file", "in-chain": "-> in-file", "in-up": "-> ../ws/file",
		"out-file": "-> OUT/canary", "out-dir": "-> OUT", "out-relative": "-> ../outside/canary", "out-chain": "-> out-relative",
		"dir/out-deep": "-> ../../outside/canary", "out-root": "-> /", "out-self": "-> ..", "out-proc": "-> /proc/self/root",
		"loop": "-> loop", "loop-a": "-> loop-b", "loop-b": "-> loop-a", "dir/up": "-> ..", "dangling-out": "-> OUT/nothing",
		"in-pipe": "-> pipe",
	}, granted...)
	if err := syscall.Mkfifo(filepath.Join(d.ws, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	wd, _ := os.Getwd()
	t.Chdir(d.ws) // the path of a socket must be short
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: "socket"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(wd); err != nil {
		t.Fatal(err)
	}
	return d
}

// calls are those of every file tool with a path, by the tool's name.
func calls(path string) map[string][]any {
	return map[string][]any{
		"list_directory":  {"path", path},
		"read_file":       {"absolute_path", path},
		"write_file":      {"file_path", path, "content", "written\n"},
		"edit":            {"file_path", path, "old_string", "sings", "new_string", "is silent"},
		"read_many_files": {"paths", []any{path}},
		"glob":            {"pattern", "**/canary", "path", path},
		"grep_search":     {"pattern", "canary sings", "path", path},
	}
}

// TestEscapes: no path makes any tool read or write outside of the workspace, or wait, and
// what is said helps. Tools that search take paths from the workspace on, and write_file
// makes what is not there; all else is refused by all alike.
func TestEscapes(t *testing.T) {
	if len(escapes) < 60 {
		t.Fatalf("only %d shapes", len(escapes))
	}
	d := newTrap(t)
	for _, c := range escapes {
		path := strings.ReplaceAll(d.fill(c.path), "TOP", filepath.Dir(d.ws))
		for _, name := range []string{"list_directory", "read_file", "edit", "read_many_files", "glob", "grep_search", "write_file"} {
			got := d.answered(name, calls(path)[name])
			if strings.Contains(got, "sings\n") {
				t.Errorf("%s %q read outside: %s", name, c.path, got)
			}
			if want := expected(name, c.path, c.want); !strings.Contains(got, want) {
				t.Errorf("%s %q:\n got %s\nwant %s", name, c.path, got, want)
			}
			if strings.HasPrefix(got, "Created ") {
				made, _, _ := strings.Cut(strings.TrimPrefix(filepath.Clean(path), d.ws+"/"), "/")
				if err := os.RemoveAll(filepath.Join(d.ws, made)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	d.unharmed()
}

// expected is what a tool says of a path for which want is the common answer.
func expected(name, path, want string) string {
	searches := name == "read_many_files" || name == "glob" || name == "grep_search"
	switch {
	case searches && (strings.Contains(want, "absolute path") || strings.Contains(want, "relative to the workspace")), name == "read_many_files" && strings.ContainsAny(path, "*?[{"):
		return "" // some file or none of the workspace
	case want == "no such file" && name == "write_file":
		return "Created WS/"
	case want == "no such file" && name == "edit":
		return "the file does not exist; to create it, leave old_string empty"
	case want == "DANGLING" || want == "SLASH" || want == "OUTSIDE-OR-NONE":
		return ""
	}
	return want
}

// answered is what a call answers, which must come soon.
func (d *desk) answered(name string, params []any) string {
	d.t.Helper()
	in := make(chan string, 1)
	go func() {
		v, err := d.tools[name].Run(d.t.Context(), d.input(name, params...))
		if err != nil {
			v = fmt.Sprintf("error: %v", err)
		} else {
			v = v.(interface{ Text() string }).Text()
		}
		in <- v.(string)
	}()
	select {
	case s := <-in:
		return strings.NewReplacer(d.ws, "WS", d.outside, "OUT", filepath.Dir(d.ws), "TOP").Replace(s)
	case <-time.After(time.Minute):
		d.t.Fatalf("%s %q hangs", name, params)
		return ""
	}
}

// unharmed holds that what is outside is as it was.
func (d *desk) unharmed() {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.outside, "canary"))
	same(d.t, "the canary", fmt.Sprint(string(b), err), canary+"<nil>")
	only(d.t, d.outside, "canary")
}

// TestInside: links that stay inside work.
func TestInside(t *testing.T) {
	d := newTrap(t)
	for _, path := range []string{"WS/file", "WS/in-file", "WS/in-chain", "WS/in-up", "WS/in-dir/inner", "WS/dir/up/file", "WS/dir/up/dir/up/file", "WS//file", "WS/./file"} {
		same(t, path, d.call("read_file", "absolute_path", path), "inside\n")
	}
	has(t, "in-dir", d.call("list_directory", "path", "WS/in-dir"), "inner", "[LINK] up")
	has(t, "WS/", d.call("list_directory", "path", "WS/"), "[DIR] dir", "file")
	has(t, "searched once", d.call("grep_search", "pattern", "inside"), "Found 2 matches")
}

// TestGrantedRoots: settings grant more, also all there is; the kernel's files stay out.
func TestGrantedRoots(t *testing.T) {
	d := newDesk(t, nil, "OUT", "OUT/none", "WS/sub")
	same(t, "granted", d.call("read_file", "absolute_path", "OUT/canary"), canary)
	has(t, "a path to neither", d.call("read_file", "absolute_path", "/etc/passwd"), ": WS, OUT;")
	d = newTrap(t, "/")
	same(t, "through a link", d.call("read_file", "absolute_path", "WS/out-file"), canary)
	same(t, "from /", d.call("read_file", "absolute_path", "OUT/canary"), canary)
	for _, path := range []string{"/proc/self/environ", "/proc/kmsg", "/dev/zero", "/dev/null", "/proc/self/root/proc/self/environ", "/sys/kernel/notes"} {
		if _, err := os.Lstat(path); err == nil {
			has(t, path, d.answered("read_file", []any{"absolute_path", path}), "error: ", "file tools do not use it")
		}
	}
	has(t, "/", d.call("list_directory", "path", "/"), "[DIR] etc")
}

// TestNestedRoots: a root in another one grants nothing of its own, for what is written in
// the outer one could make a link of it.
func TestNestedRoots(t *testing.T) {
	d := newDesk(t, map[string]string{"sub/x": "x"}, "WS/sub")
	if err := os.RemoveAll(filepath.Join(d.ws, "sub")); err != nil {
		t.Fatal(err)
	}
	d.file(filepath.Join(d.ws, "sub"), "-> OUT")
	has(t, "swapped", d.call("read_file", "absolute_path", "WS/sub/canary"), "is outside the folders")
}

// TestSwapped: a link that is put on the way while calls go on leads nowhere else. One
// goroutine turns a file and a folder into links to the outside and back, thousands of
// times, while every tool works on them.
func TestSwapped(t *testing.T) {
	rounds := sizetest.Of(40, 600, 6000)
	d := newDesk(t, map[string]string{"file": "inside sings\n", "dir/canary": "inside sings\n"})
	stop := make(chan struct{})
	var flip sync.WaitGroup
	var flips atomic.Int64
	swap := func(name, target, aside string) {
		link := filepath.Join(d.ws, "."+aside)
		_ = os.Symlink(target, link)
		for {
			select {
			case <-stop:
				return
			default:
			}
			at, away := filepath.Join(d.ws, name), filepath.Join(d.ws, "."+aside+"-real")
			_ = os.Rename(at, away)
			_ = os.Rename(link, at)
			_ = os.Rename(at, link)
			_ = os.Rename(away, at)
			flips.Add(2)
		}
	}
	flip.Go(func() { swap("file", filepath.Join(d.outside, "canary"), "file") })
	flip.Go(func() { swap("dir", d.outside, "dir") })
	errs := map[string]int{}
	for i := range rounds {
		path := []string{"WS/file", "WS/dir/canary", "WS/dir/new"}[i%3]
		for name, params := range calls(d.fill(path)) {
			if (name == "grep_search" || name == "read_many_files") && i%10 != 0 {
				continue // they start ripgrep, or walk
			}
			switch name {
			case "edit":
				params = []any{"file_path", path, "old_string", "written\n", "new_string", "inside sings\n"}
			case "list_directory", "glob":
				params[len(params)-1] = "WS/dir"
			}
			in := d.input(name, params...)
			v, err := d.tools[name].Run(t.Context(), in)
			if err != nil {
				errs[name]++
				continue
			}
			if text := v.(interface{ Text() string }).Text(); strings.Contains(text, "the canary") && name != "grep_search" || strings.Contains(text, "L1: the canary") {
				t.Fatalf("%s %s read outside: %s", name, path, text)
			}
		}
	}
	close(stop)
	flip.Wait()
	d.unharmed()
	t.Logf("%d rounds, %d swaps; refused: %v", rounds, flips.Load(), errs)
}

// FuzzFind: no path is found outside of the roots.
func FuzzFind(f *testing.F) {
	for _, c := range escapes {
		f.Add(c.path)
	}
	top, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	ws := filepath.Join(top, "ws")
	if err := os.MkdirAll(filepath.Join(ws, "dir"), 0o755); err != nil {
		f.Fatal(err)
	}
	for name, target := range map[string]string{"out": "/etc", "up": "..", "in": "dir", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(ws, name)); err != nil {
			f.Fatal(err)
		}
	}
	rs := &roots{workspace: ws, list: []root{{ws, ws}}}
	f.Fuzz(func(t *testing.T, path string) {
		path = strings.ReplaceAll(path, "WS", ws)
		for _, find := range []func(string) (place, error){rs.find, rs.searched} {
			p, err := find(path)
			if err != nil {
				if strings.ContainsAny(err.Error(), "\n\x00") {
					t.Errorf("%q: %q", path, err)
				}
				continue
			}
			real, _ := resolved(p.path)
			if !inside(ws, real) || p.path != filepath.Join(p.root, p.rest) || !filepath.IsLocal(p.rest) {
				t.Errorf("%q leads to %+v", path, p)
			}
		}
	})
}

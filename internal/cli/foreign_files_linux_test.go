package cli_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestForeignFiles: of the files that a full use of flowrun leaves in the state directory, none is believed that belongs to
// another user: the commands refuse it by its name, or do not read it.
func TestForeignFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away; run the tests as root")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		".flowrun/config.yaml":     "history: {keep: 100}\n",
		".flowrun/tools/all.yaml":  "name: all\ndescription: All\ntags: [read]\nsteps:\n  - {name: long, bash: seq 20000}\n  - {name: kept, bash: 'cat in.txt >out.txt', cache: {inputs: [in.txt], outputs: [out.txt]}}\n  - {name: file, bash: 'echo x >artifact.txt', artifacts: [artifact.txt]}\n",
		".flowrun/tools/helper.js": "module.exports = { text: 'first' };\n",
		".flowrun/tools/script.tool.js": "module.exports = { getMetadata: () => ({ description: 'Script', tags: ['read'] }),\n" +
			"  execute() { const { storage, env } = this.api; storage.setItem('n', 1); return require('./helper.js').text + storage.getItem('n'); } };\n",
		"in.txt": "input\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(dir, "state")
	use := func() string {
		var said strings.Builder
		for _, args := range [][]string{{"artifacts", "latest", "artifact", "--to", filepath.Join(t.TempDir(), "to")}, {"logs", "latest"}, {"run", "script"}, {"call", "script", "{}", "--auto-approve", "tool:script"},
			{"trust", "--list"}, {"trust", "--diff"}, {"user", "list"}, {"show", "latest"}, {"tool", "list"}, {"tool", "test"}, {"call", "todo_write", `{"todos":[]}`, "--auto-approve", "*"}, {"run", "all"}} {
			c := exec.Command("flowrun", args...)
			c.Dir, c.Stdout, c.Stderr = dir, &said, &said
			c.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+state, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "TMPDIR="+t.TempDir())
			_ = c.Run() // a refusal is an error
		}
		return said.String()
	}
	for _, args := range [][]string{{"trust"}, {"user", "add", "anna", "--role", "admin"}} {
		c := exec.Command("flowrun", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "FLOWRUN_STATE_DIR="+state, "HOME="+dir)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if said := use(); strings.Contains(said, "belongs to user") {
		t.Fatal(said)
	}
	full := filepath.Join(dir, "full")
	copyState(t, state, full)
	var files []string
	err := filepath.WalkDir(full, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, strings.TrimPrefix(path, full))
		}
		return err
	})
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files: %q, %v", len(files), files, err)
	}
	for _, file := range files {
		copyState(t, full, state)
		if err := os.Chown(state+file, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		read := watchReads(t, state+file)
		if said := use(); read() && !strings.Contains(said, file) {
			t.Errorf("%s is read although it belongs to another user, and nothing says so: %s", file, said)
		}
	}
}

// copyState replaces a state directory by a copy of another.
func copyState(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// watchReads returns a function that reports whether the content of a file was read since.
func watchReads(t *testing.T, file string) func() bool {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err == nil {
		_, err = unix.InotifyAddWatch(fd, file, unix.IN_ACCESS)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() bool {
		defer unix.Close(fd)
		var events [4096]byte
		n, _ := unix.Read(fd, events[:])
		for at := 0; at+unix.SizeofInotifyEvent <= n; at += unix.SizeofInotifyEvent {
			if events[at+4]&unix.IN_ACCESS != 0 {
				return true
			}
		}
		return false
	}
}

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestServeScripts: fifty concurrent runs of a Markdown chain with a script, and of a .tool.js
// whose first attempt fails, leave no more processes than are kept for the next runs. A service
// that is killed while scripts run leaves none.
func TestServeScripts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"many.md": "---\ntool: true\nname: many\ndescription: Many\ntype: chain\ntags: [read]\nparameters: [{name: who, type: string}]\n---\n" +
			"~~~js\n// @preprocess\nreturn { text: input.who };\n~~~\n" +
			"~~~yaml\nsteps:\n  - {id: one, tool: once, parameters: {text: input.text}, post_processing: return output.text}\n~~~\n",
		"once.tool.js": `module.exports = {
  getMetadata: () => ({ id: 'once', description: 'Fails once.', tags: ['read'], retry: { attempts: 2, delay: 1 } }),
  getSchema: () => ({ parameters: { type: 'object', properties: { text: { type: 'string' } } } }),
  getBusinessErrors: () => [{ code: 'FIRST', match: 'first', retryable: true }],
  execute({ text }) {
    const { storage } = this.api;
    if (!storage.getItem(text)) { storage.setItem(text, 1); throw new Error('the first try'); }
    return { text };
  }
};`,
		"spins.yaml": "name: spins\ndescription: Spins\ntags: [read]\nsteps:\n  - {name: spins, js: 'while (true);'}\n",
	} {
		path := filepath.Join(dir, ".flowrun", "tools", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("FLOWRUN_LIMITS_JS_TIMEOUT", "1h")
	s := serveIn(t, dir, "--auto-approve", "*", "--max-parallel", "16")
	for i := range 50 {
		if code := s.start(fmt.Sprintf(`{"tool":"many","params":{"who":"n%d"}}`, i)); code != 202 {
			t.Fatalf("status %d", code)
		}
	}
	for i := range 50 {
		s.says(fmt.Sprintf(`(?s)(run ended.*?){%d}`, i+1))
	}
	s.mu.Lock()
	if n := strings.Count(s.text.String(), "tool=many origin=api status=succeeded"); n != 50 {
		t.Errorf("%d runs of 50 succeeded:\n%s", n, s.text.String())
	}
	s.mu.Unlock()
	stay := max(2, runtime.GOMAXPROCS(0))
	waittest.Until(t, fmt.Sprintf("%d processes at most", stay), func() bool { return len(scriptsOf(s.cmd.Process.Pid)) <= stay })

	before := map[int]int{}
	for _, pid := range scriptsOf(s.cmd.Process.Pid) {
		before[pid] = computed(pid)
	}
	for range 2 {
		s.start(`{"tool":"spins"}`)
	}
	var left []int
	waittest.Until(t, "two scripts", func() bool {
		left = slices.DeleteFunc(scriptsOf(s.cmd.Process.Pid), func(pid int) bool { return computed(pid)-before[pid] < 20 })
		return len(left) == 2
	})
	s.cmd.Process.Kill()
	s.cmd.Wait()
	for _, pid := range left {
		waittest.Until(t, fmt.Sprintf("end of process %d with the service", pid), func() bool { return syscall.Kill(pid, 0) != nil || stateOf(pid) == "Z" })
	}
}

// scriptsOf are the processes that run scripts for another one.
func scriptsOf(parent int) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		words, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		if strings.HasPrefix(string(words), "flowrun-js\x00") && field(pid, 1) == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// computed is for how many hundredths of a second a process has computed.
func computed(pid int) int {
	ticks, _ := strconv.Atoi(field(pid, 11))
	return ticks
}

func stateOf(pid int) string { return field(pid, 0) }

// field is one of those behind the name in /proc/PID/stat.
func field(pid, i int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	if list := strings.Fields(rest); i < len(list) {
		return list[i]
	}
	return ""
}

// TestServeImported: a service runs a tool with the files that it imports as they are now.
func TestServeImported(t *testing.T) {
	dir := t.TempDir()
	lib := filepath.Join(dir, ".flowrun", "tools", "lib")
	if err := os.MkdirAll(lib, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(lib, "../it.tool.js"), "const { fail } = require('./lib/part.js');\n"+
		"module.exports = { getMetadata: () => ({ id: 'it', description: 'It.', tags: ['read'] }), execute() { if (fail) throw new Error('old'); return 'new'; } };\n")
	write(filepath.Join(lib, "part.js"), "exports.fail = true;\n")
	s := serveIn(t, dir, "--auto-approve", "*")
	s.start(`{"tool":"it"}`)
	s.says(`run ended.* tool=it .*status=failed`)
	write(filepath.Join(lib, "part.js"), "exports.fail = false;\n")
	s.start(`{"tool":"it"}`)
	s.says(`run ended.* tool=it .*status=succeeded`)
}

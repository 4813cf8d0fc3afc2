package attack

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// stdioCall makes the test program a client of the Model Context Protocol, and is the call that it makes.
const stdioCall = "FLOWRUN_ATTACK_STDIO_CALL"

// stdioServer has the command of the server that the client starts.
const stdioServer = "FLOWRUN_ATTACK_STDIO_SERVER"

// beStdioClient starts a server as its child, as clients do, and makes a call. It reads everything, answers nothing and
// ends when it is killed.
func beStdioClient() {
	c := exec.Command("sh", "-c", "exec "+os.Getenv(stdioServer))
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	log, err3 := c.StderrPipe() // read, as a client that shows it
	if err1 != nil || err2 != nil || err3 != nil || c.Start() != nil {
		os.Exit(1)
	}
	go io.Copy(io.Discard, log)
	lines := bufio.NewScanner(out)
	fmt.Fprintln(in, mcpHello)
	lines.Scan()
	fmt.Fprintf(in, "%s\n%s\n", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, os.Getenv(stdioCall))
	fmt.Println(c.Process.Pid)
	for lines.Scan() {
		fmt.Println(lines.Text())
	}
}

// stdioClient is such a client, from outside.
type stdioClient struct {
	*exec.Cmd
	server int    // process of its server
	said   string // file with that, and all that the server sends after the handshake
}

// callOverStdio starts a client with a call.
func (s *site) callOverStdio(tool, n, flags string) *stdioClient {
	s.Helper()
	c := &stdioClient{Cmd: exec.Command(self)}
	c.Dir, c.Env = s.project, append(s.env, stdioServer+"="+program+" mcp --trust-project "+flags,
		stdioCall+fmt.Sprintf(`={"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":{"N":%q}}}`, tool, n))
	out, err := os.Create(s.path("~/said-" + n))
	if err != nil {
		s.Fatal(err)
	}
	defer out.Close()
	c.said, c.Stdout = out.Name(), out
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	waittest.Until(s, "the server of the client", func() bool { _, err := fmt.Sscanln(s.read(c.said), &c.server); return err == nil })
	return c
}

// isAsked waits until the server asks.
func (c *stdioClient) isAsked(s *site) {
	s.Helper()
	waittest.Until(s, "a question", func() bool { return strings.Contains(s.read(c.said), "elicitation/create") }, func() any { return s.read(c.said) })
}

// TestKilledStdioClients: what a client had called ends after kill -9 of the client, whose child the server is: nothing of
// it stays, and the next call gets its lock.
func TestKilledStdioClients(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	sleep, tag := sleeper()
	t.Cleanup(func() { endAll(tag) })
	const head = "description: x\nlocks: [db]\nparameters: {N: {description: x}}\nsecurity: {required-permissions: ['filesystem:write:.']}\n"
	const last = "finally: [{name: after, bash: 'echo {N} >>ended'}]\n"
	s.write(".flowrun/tools/hold.yaml", "name: hold\n"+head+"steps: [{name: hold, bash: '(setsid "+sleep+" &); touch begun-{N}; "+sleep+"'}]\n"+last)
	s.write(".flowrun/tools/gate.yaml", "name: gate\n"+head+"steps: [{name: first, bash: 'touch begun-{N}'}, {name: gate, approve: Sure}, {name: then, bash: 'touch went-on'}]\n"+last)
	moments := []struct {
		name, tool, flags string
		until             func(c *stdioClient, n string)
		begins            bool // the run has begun
	}{
		{"a step runs", "hold", "--auto-approve '*'", func(c *stdioClient, n string) {
			waittest.Until(t, "a step", func() bool { return s.exists("begun-" + n) }, func() any { return s.read(c.said) })
		}, true},
		{"a step asks", "gate", "--auto-approve '*'", func(c *stdioClient, n string) { c.isAsked(s) }, true},
		{"the call asks", "hold", "", func(c *stdioClient, _ string) { c.isAsked(s) }, false},
		{"the call was sent", "hold", "--auto-approve '*'", func(*stdioClient, string) {}, false},
	}
	for n := range sizetest.Of(2, 5, 30) {
		m, name := moments[n%len(moments)], fmt.Sprint(n)
		c := s.callOverStdio(m.tool, name, m.flags)
		m.until(c, name)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.Wait()
		what := fmt.Sprintf("the end of everything of client %d, killed while %s", n, m.name)
		waittest.Until(t, what, func() bool { return !exists(c.server) && len(living(tag)) == 0 }, func() any { return living(tag) }, func() any { return s.run("runs") })
		if out := s.run("runs", "-o", "json").stdout; strings.Contains(out, `"running"`) || strings.Contains(out, `"waiting"`) || strings.Contains(out, `"interrupted"`) {
			t.Errorf("killed while %s: %s", m.name, out)
		}
		if begun := s.exists("begun-" + name); (begun || m.begins) && !strings.Contains("\n"+s.read("ended")+"\n", "\n"+name+"\n") {
			t.Errorf("client %d, killed while %s: finally did not run; ended has %q", n, m.name, s.read("ended"))
		}
	}
	if s.exists("went-on") {
		t.Error("the question of a dead client was answered")
	}
	for _, pattern := range []string{"tmp/*", "state/.*.tmp", "state/*/.*.tmp"} {
		if left, _ := filepath.Glob(filepath.Join(s.dir, pattern)); len(left) > 0 {
			t.Errorf("files are left: %q", left)
		}
	}
}

// exists reports whether a process exists that has not ended.
func exists(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && syscall.Kill(pid, 0) == nil && !strings.HasPrefix(after, "Z")
}

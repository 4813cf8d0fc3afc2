package attack

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// doubling is a definition of 40 parameters, each twice as long as the one before;
// first says what P0 is.
func doubling(name, first string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\ndescription: x\nparameters:\n  P0: {type: string, description: x, %s}\n", name, first)
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&b, "  P%d: {type: string, description: x, default: \"{P%d}{P%d}\"}\n", i, i-1, i-1)
	}
	return b.String() + "bash: echo {P39}\n"
}

// writeChain writes tools a0, a1, ... each of which uses the next twice.
func (s *site) writeChain(folder string, n int) {
	for i := range n {
		text := fmt.Sprintf("name: a%d\ndescription: x\nsteps:\n  - {name: a, use-tool: a%d}\n  - {name: b, use-tool: a%d}\n", i, i+1, i+1)
		if i == n-1 {
			text = fmt.Sprintf("name: a%d\ndescription: x\nbash: echo x\n", i)
		}
		s.write(fmt.Sprintf("%s/a%d.yaml", folder, i), text)
	}
}

// measured is an outcome, with what it took.
type measured struct {
	outcome
	user   time.Duration // of the processor
	memory int64         // the most at once, in MiB
}

func (s *site) measure(args ...string) measured {
	s.Helper()
	c := s.command(args...)
	o := s.finish(c)
	return measured{o, c.ProcessState.UserTime(), c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10}
}

// TestBombs: a few lines that stand for gigabytes are refused with little memory, and validate names the place.
func TestBombs(t *testing.T) {
	const most = 200 // MiB
	s := newSite(t)
	s.writeChain(".flowrun/tools", 31)
	s.write("dbl.yaml", doubling("dbl", "default: x"))
	s.write("given.yaml", doubling("given", "required: true"))
	lists := strings.NewReplacer("type: string", "type: array", "}{", `}", "{`, `default: "`, `default: ["`, "\"}\n", "\"]}\n")
	s.write("lists.yaml", lists.Replace(doubling("lists", `default: "x"`)))
	s.write("lists-given.yaml", lists.Replace(doubling("lists-given", "required: true")))
	s.write("quotes.yaml", "name: quotes\ndescription: x\nparameters: {X: {type: string, description: x, transform: \"trim"+
		strings.Repeat(":shellescaped", 30)+"\"}}\nbash: echo {X}\n")
	s.write("format.yaml", "name: format\ndescription: x\nparameters:\n  X: {type: string, description: x, format: \""+strings.Repeat("{value}", 200)+"\"}\n  Y: {type: string, description: x, default: \"{X} \"}\nbash: echo {Y}\n")
	s.write("loops.yaml", "name: loops\ndescription: x\nsteps:\n  - name: a\n    for-each: {items: 1..2000}\n    steps:\n      - name: b\n        for-each: {items: 1..2000}\n        steps:\n          - {name: c, for-each: {items: 1..2000}, bash: 'true'}\n")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"doubling, validate": {[]string{"validate", "dbl.yaml"}, 3, "P24"},
		"doubling, run":      {[]string{"run", "./dbl.yaml"}, 3, "10 MiB"},
		"doubling, given":    {[]string{"run", "./given.yaml", "P0=xxxxxxxxxxxxxxxx"}, 6, "10 MiB"},
		"doubling, dry run":  {[]string{"run", "./given.yaml", "P0=xxxxxxxxxxxxxxxx", "--dry-run"}, 6, "10 MiB"},
		"doubling, call":     {[]string{"call", "./given.yaml", `{"P0":"xxxxxxxxxxxxxxxx"}`}, 6, "10 MiB"},
		"lists in lists":     {[]string{"run", "./lists.yaml", "P0=x"}, 3, "10 MiB"},
		"lists, given":       {[]string{"run", "./lists-given.yaml", "P0=xxxxxxxxxxxxxxxx"}, 6, "10 MiB"},
		"transforms":         {[]string{"run", "./quotes.yaml", "X=''''"}, 6, "10 MiB"},
		"format":             {[]string{"run", "./format.yaml", "X=" + strings.Repeat("x", 100_000)}, 6, "10 MiB"},
		"plan, validate":     {[]string{"validate", ".flowrun/tools/a0.yaml"}, 3, "a11.yaml:5:"},
		"plan, graph":        {[]string{"graph", "a0"}, 3, "1000000"},
		"plan, dry run":      {[]string{"run", "a0", "--dry-run"}, 3, "1000000"},
		"plan, run":          {[]string{"run", "a0"}, 3, "1000000"},
		"plan, call":         {[]string{"call", "a0", "{}"}, 3, "1000000"},
		"loops":              {[]string{"validate", "loops.yaml"}, 3, "more than two billion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s.in(t)
			m := s.measure(c.args...)
			if m.code != c.code || !strings.Contains(m.stdout+m.stderr, c.want) {
				t.Errorf("expected exit code %d and %q\n%s", c.code, c.want, m)
			}
			if m.memory > most {
				t.Errorf("it took %d MiB", m.memory)
			}
		})
	}
}

// TestPreviewEnds: TERM ends what works out a large plan.
func TestPreviewEnds(t *testing.T) {
	for name, args := range map[string][]string{
		"call":    {"call", "a0", "{}"},
		"dry run": {"run", "a0", "--dry-run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.writeChain(".flowrun/tools", 19) // half a million steps, which take many seconds
			s.terminate(s.command(args...), func(pid int) bool { return usedProcessor(pid) >= 50*time.Millisecond })
		})
	}
}

// terminate starts the program and sends it TERM when something has come about, of which it must end.
func (s *site) terminate(c *exec.Cmd, when func(pid int) bool) {
	s.Helper()
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	waittest.Until(s, "the moment to end it", func() bool { return when(c.Process.Pid) })
	c.Process.Signal(syscall.SIGTERM)
	c.Wait()
	if end := c.ProcessState.Sys().(syscall.WaitStatus); end.Signal() != syscall.SIGTERM && end.ExitStatus() != 128+int(syscall.SIGTERM) {
		s.Errorf("it ended with %v", c.ProcessState)
	}
}

// usedProcessor returns the time of the processor that a process has used so far, in its own code.
func usedProcessor(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	f := bytes.Fields(rest)
	if len(f) < 12 {
		return 0
	}
	ticks, _ := strconv.Atoi(string(f[11]))
	return time.Duration(ticks) * 10 * time.Millisecond
}

// TestServiceBears: a caller of the service cannot take it down with a definition.
func TestServiceBears(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write(".flowrun/tools/given.yaml", doubling("given", "required: true"))
	s.write(".flowrun/tools/dbl.yaml", doubling("dbl", "default: x"))
	s.write(".flowrun/tools/slow.yaml", "name: slow\ndescription: x\nbash: until test -e ../go; do sleep 0.05; done; touch ../done\n")
	s.writeChain(".flowrun/tools", 31)
	serve := s.command("serve", "--listen", "unix:"+s.dir+"/sock")
	serve.Env = append(serve.Env, "FLOWRUN_TOKEN=0123456789abcdef")
	var log bytes.Buffer
	serve.Stderr = &log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { serve.Process.Signal(syscall.SIGTERM); serve.Wait() }()
	waittest.Until(s, "the service", func() bool { return s.exists(s.dir + "/sock") })
	post := func(body string) string {
		out, err := exec.Command("curl", "-sS", "-m", "120", "--unix-socket", s.dir+"/sock", "-H", "Authorization: Bearer 0123456789abcdef",
			"-H", "Content-Type: application/json", "-w", " %{http_code}", "-d", body, "http://localhost/api/v1/runs").CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", body, err, out)
		}
		return string(out)
	}
	needtest.Programs(t, "curl")
	if out := post(`{"tool":"slow"}`); !strings.HasSuffix(out, " 202") {
		t.Fatalf("%s", out)
	}
	for _, body := range []string{`{"tool":"given","params":{"P0":"` + strings.Repeat("x", 1000) + `"}}`, `{"tool":"dbl"}`, `{"tool":"a0"}`} {
		if out := post(body); !strings.Contains(out, "MiB") && !strings.Contains(out, "-size") || strings.HasSuffix(out, " 202") {
			t.Errorf("%.40s: %s", body, out)
		}
	}
	s.write("../go", "")
	waittest.Until(s, "the other run", func() bool { return s.exists("../done") })
}

// TestManyEdges: a definition of megabytes whose steps mention each other 200,000 times is read with the memory that
// its size takes, and with the processor time: a mention costs about what one of a tenth of them costs.
func TestManyEdges(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	read := func(steps int) measured {
		var b strings.Builder
		b.WriteString("name: big\ndescription: x\nsteps:\n")
		for i := range steps {
			fmt.Fprintf(&b, "  - {name: s%d, bash: 'echo", i)
			for j := max(0, i-200); j < i; j++ {
				fmt.Fprintf(&b, " {s%d.output}", j)
			}
			b.WriteString("'}\n")
		}
		s.write("big.yaml", b.String())
		m := s.measure("validate", "big.yaml")
		if m.code != 0 || m.memory > 400 {
			t.Fatalf("it took %d MiB\n%s", m.memory, m)
		}
		return m
	}
	few, many := 200, sizetest.Of(600, 1000, 1000)
	mentions := func(steps int) time.Duration { return time.Duration(steps*200 - 200*201/2) }
	var small, large time.Duration
	for range 3 { // other processes take no time of these, but may take their caches
		small, large = read(few).user/mentions(few), read(many).user/mentions(many)
		if large <= 3*small {
			return
		}
	}
	t.Errorf("a mention of many costs %v, one of few %v", large, small)
}

// TestEndlessTools: each file of a tool that never says what it is costs its time limit once, whatever commands
// read the folder, and TERM ends the wait for it. hooks has a test of how many files a command waits for.
func TestEndlessTools(t *testing.T) {
	folder := func(t *testing.T, files int) *site {
		s := newSite(t)
		for i := range files {
			s.write(fmt.Sprintf(".flowrun/tools/e%d.tool.js", i), fmt.Sprintf("while (true) {} // %d\n", i))
		}
		return s
	}
	commands := [][]string{{"run", "typo"}, {"call", "nosuch", "{}"}, {"validate"}, {"tool", "list"}}
	t.Run("once", func(t *testing.T) {
		sizetest.Need(t, sizetest.Gate, "takes two seconds of the processor for each file")
		t.Parallel()
		const files = 12
		s := folder(t, files)
		for known := 0; known < files; { // three files more each time
			if out := s.run("run", "typo"); out.code != 4 {
				t.Fatal(out)
			}
			before := known
			if known = len(s.described()); known > before+3 || known == before {
				t.Fatalf("one command has waited for %d files", known-before)
			}
		}
		known := s.described()
		for _, args := range commands {
			s.run(args...)
		}
		if again := s.described(); !maps.Equal(known, again) {
			t.Errorf("they were asked again: %v, %v", known, again)
		}
	})
	for _, args := range commands[:sizetest.Of(1, 3, 3)] {
		t.Run("TERM "+args[0], func(t *testing.T) {
			t.Parallel()
			s := folder(t, 12)
			s.terminate(s.command(args...), func(pid int) bool { return terminalOfChild(pid, "flowrun-js") != "" })
			if n := len(s.described()); n > 2 {
				t.Errorf("it ended after %d files", n)
			}
		})
	}
}

// described returns what flowrun keeps of the scripts that it has asked what they are, with the time of each.
func (s *site) described() map[string]string {
	kept := map[string]string{}
	entries, _ := os.ReadDir(filepath.Join(s.dir, "state", "descriptions"))
	for _, e := range entries {
		kept[e.Name()] = s.read(filepath.Join(s.dir, "state", "descriptions", e.Name()))
	}
	return kept
}

package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"golang.org/x/sys/unix"
)

// probe is a program that writes to drop/NAME what it finds of a terminal: what opening
// /dev/tty says, and the terminal that ps shows.
const probe = `#!/bin/sh
{ { : </dev/tty; } 2>&1 | grep -o 'No such device or address' || echo opened; ps -o tty= -p $$; } >%s/"$1" 2>&1
exit 0
`

// site of a probe: drop is a folder that everybody may write to.
func newProbeSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.public()
	for _, dir := range []string{"drop", "bin"} {
		path := filepath.Join(s.dir, dir)
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, 0o777|os.ModeSticky)
	}
	s.program("probe", fmt.Sprintf(probe, filepath.Join(s.dir, "drop")))
	s.env = append(s.env, "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"), "TERM=xterm", "FLOWRUN_PROGRESS=plain")
	return s
}

// public lets other users look into the site.
func (s *site) public() {
	for at := s.dir; strings.HasPrefix(at, os.TempDir()+"/"); at = filepath.Dir(at) {
		os.Chmod(at, 0o755)
	}
	os.Chmod(s.project, 0o755)
}

// program makes a program that is found along PATH.
func (s *site) program(name, text string) {
	s.Helper()
	path := s.write(filepath.Join(s.dir, "bin", name), text)
	if err := os.Chmod(path, 0o755); err != nil {
		s.Fatal(err)
	}
}

// TestNoTerminal: whatever flowrun starts on a terminal has none, unless it is a person's
// editor or an interactive step, which has one of flowrun's own.
func TestNoTerminal(t *testing.T) {
	const none = "No such device or address\n?"
	for name, c := range map[string]struct {
		text     string // of t.yaml, or of the file that command names
		files    map[string]string
		programs map[string]string
		command  []string // run ./t.yaml where it is empty
		root     bool     // as root only
	}{
		"plain":    {text: "bash: probe plain\n"},
		"program":  {text: "run: probe program\n"},
		"reduced":  {text: "security: {execution-privilege: reduced}\nbash: probe reduced\n"},
		"memory":   {text: "resources: {max-memory: 2GB}\nbash: probe memory\n"},
		"detached": {text: "steps: [{name: s, bash: probe detached, detach: true}]\n"},
		"loop":     {text: "steps: [{name: s, for-each: {as: x, items: [a, b]}, bash: probe loop}]\n"},
		"fallback": {text: "steps: [{name: s, bash: exit 3, error-handling: {fallback: probe fallback}}]\n"},
		"cleanup":  {text: "bash: 'true'\nresources: {cleanup: [{final-command: probe cleanup}]}\n"},
		"handler":  {text: "steps: [{name: s, bash: exit 3}]\non-failure: [{name: h, bash: probe handler}]\n"},
		"notify":   {text: "bash: 'true'\nnotify: [{command: probe notify, on: [success]}]\n"},
		"secret":   {text: "environment: {secrets: [{name: K, command: \"sh -c 'probe secret; echo abcdefgh'\"}]}\nbash: 'true'\n"},
		"shell":    {command: []string{"run", "run_shell_command", "command=probe shell"}},
		"discovery": {command: []string{"tool", "list", "--all-sources"},
			files: map[string]string{"~/.config/flowrun/config.yaml": "tools: {discoveryCommand: \"sh -c 'probe discovery; echo []'\", callCommand: 'true'}\n"}},
		"script": {command: []string{"run", "./t.tool.js"}, files: map[string]string{"t.tool.js": `module.exports = {
			getMetadata: () => ({id: 't', description: 'x', permissions: ['filesystem:execute:probe']}),
			async execute() { return JSON.stringify(await this.api.execute('probe', ['script'])) }}`}},
		"node": {command: []string{"run", "./t.tool.js"}, programs: map[string]string{"node": "#!/bin/sh\nprobe node\n"},
			files: map[string]string{"t.tool.js": `module.exports = {
			getMetadata: () => ({id: 't', description: 'x', runtime: 'node'}), async execute() { return 'x' }}`}},
		"npm": {command: []string{"tool", "deps", "./t.tool.js"}, programs: map[string]string{"npm": "#!/bin/sh\nprobe npm\n"},
			files: map[string]string{"t.tool.js": `const x = require('leftpad'); module.exports = {
			getDependencies: () => ({leftpad: '1.0.0'}), getMetadata: () => ({id: 't', description: 'x'}), async execute() { return 'x' }}`}},
		"ripgrep": {command: []string{"run", "grep_search", "pattern=needle"}, programs: map[string]string{"rg": "#!/bin/sh\nprobe ripgrep\nexit 1\n"},
			files: map[string]string{"a.txt": "needle\n"}},
		"doctor": {command: []string{"doctor"}, programs: map[string]string{"pwsh": "#!/bin/sh\nprobe doctor\necho 7\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newProbeSite(t)
			if c.text != "" {
				s.write("t.yaml", "name: t\ndescription: x\n"+c.text)
			}
			for path, text := range c.files {
				s.write(path, text)
			}
			for path, text := range c.programs {
				s.program(path, text)
			}
			if c.command == nil {
				c.command = []string{"run", "./t.yaml"}
			}
			screen, _ := s.terminal(s.command(c.command...))
			found := filepath.Join(s.dir, "drop", name)
			if name == "detached" || name == "notify" {
				waittest.Until(s, "the probe's answer", func() bool { return strings.Contains(s.read(found), "\n") })
			}
			if got := s.read(found); got != none {
				t.Errorf("it found %q, want %q; the screen shows\n%s", got, none, screen)
			}
		})
	}
}

// typist is what a copy of this test program is called that types into a terminal: its
// arguments are the terminal and the keys. It says on stdout what happened to them.
const typist = "typist"

func init() {
	if len(os.Args) != 3 || filepath.Base(os.Args[0]) != typist {
		return
	}
	terminal, err := os.OpenFile(os.Args[1], os.O_RDWR|syscall.O_NOCTTY, 0)
	for _, key := range []byte(os.Args[2]) {
		if err == nil {
			_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, terminal.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&key)))
			if errno != 0 {
				err = errno
			}
		}
	}
	fmt.Println(os.Args[1], err)
	os.Exit(0)
}

// typist puts the program of that name where steps find it.
func (s *site) typist() {
	s.Helper()
	if err := os.Link(self, filepath.Join(s.dir, "bin", typist)); err != nil {
		s.Fatal(err)
	}
}

// desk is a shell on a terminal, in the project, and somebody who types there.
type desk struct {
	*site
	shell *exec.Cmd
	pty   *os.File

	mu     sync.Mutex
	screen bytes.Buffer
	over   chan struct{}
}

// desk begins a script; FLOWRUN in it is the program.
func (s *site) desk(script string) *desk {
	s.Helper()
	c := s.command()
	c.Path, c.Args = "/bin/bash", []string{"bash", "-c", script}
	c.Env = append(c.Env, "FLOWRUN="+program)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Credential: s.as}
	d := &desk{site: s, shell: c, over: make(chan struct{})}
	var err error
	if d.pty, err = pty.Start(c); err != nil {
		s.Fatal(err)
	}
	go func() {
		defer close(d.over)
		io.Copy(d, d.pty)
	}()
	return d
}

func (d *desk) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.screen.Write(b)
}

func (d *desk) seen() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.screen.String()
}

// shows waits for a text on the screen.
func (d *desk) shows(text string) {
	d.Helper()
	if !waittest.Holds(waittest.Limit, func() bool { return strings.Contains(d.seen(), text) }) {
		d.shell.Process.Kill()
		d.Fatalf("the screen never showed %q, but\n%s", text, d.seen())
	}
}

func (d *desk) types(keys string) { io.WriteString(d.pty, keys) }

// ends waits for the end of the script and answers what the screen showed.
func (d *desk) ends() string {
	d.Helper()
	d.shell.Wait()
	select {
	case <-d.over:
	case <-time.After(waittest.Limit): // what outlives the shell and has the terminal
		d.Error("somebody has the terminal still")
	}
	d.pty.Close()
	return d.seen()
}

// TestTyping: nothing that a step starts types into the terminal of the person who started
// flowrun, neither there nor where it finds the terminal by its name.
func TestTyping(t *testing.T) {
	// Every terminal of the machine that the desk could be is tried.
	const everywhere = `for t in /dev/tty "$TTY"; do typist $t "$KEYS"; done >>"$DROP"/said 2>&1; : >"$DROP"/typed`
	const shell = "export TTY=$(tty); "
	for name, c := range map[string]struct {
		text, keys string
		script     string
		answer     func(*desk)
		root       bool
	}{
		// A shell is typed into after flowrun has ended.
		"reduced": {keys: "touch PWN\n", root: true,
			text:   "security: {execution-privilege: reduced}\nbash: " + strconv.Quote(everywhere) + "\n",
			script: shell + `$FLOWRUN run ./t.yaml; echo ready; read line; $line; echo "line <$line>"`,
			answer: func(d *desk) { d.shows("ready"); d.types("true\r"); d.shows("line <true>") }},
		"plain": {keys: "touch PWN\n",
			text:   "bash: " + strconv.Quote(everywhere) + "\n",
			script: shell + `$FLOWRUN run ./t.yaml; echo ready; read line; $line; echo "line <$line>"`,
			answer: func(d *desk) { d.shows("ready"); d.types("true\r"); d.shows("line <true>") }},
		// A background process of an earlier step answers a gate.
		"gate": {keys: "a\r",
			text: "steps:\n  - name: build\n    bash: " + strconv.Quote("(until [ -e $DROP/asked ]; do sleep 0.01; done; "+everywhere+") &") + "\n" +
				"  - {name: gate, approve: 'Release to production?'}\n  - {name: release, bash: touch PWN}\n",
			script: shell + `$FLOWRUN run ./t.yaml`,
			answer: func(d *desk) {
				d.shows("[l]ater? ")
				d.write(filepath.Join(d.dir, "drop/asked"), "")
				waittest.Until(d, "the typist", func() bool { return d.exists(filepath.Join(d.dir, "drop/typed")) })
				d.types("r\r")
				d.shows("reason (optional): ")
				d.types("\r")
			}},
		// What a model left in the background answers the question before a later call.
		"call": {keys: "y\r",
			text: "tags: [run]\nbash: touch PWN\n",
			script: shell + `$FLOWRUN call run_shell_command "$BACKGROUND" --auto-approve tool:run_shell_command
				$FLOWRUN call ./t.yaml '{}'`,
			answer: func(d *desk) {
				d.shows("Allow this? ")
				d.write(filepath.Join(d.dir, "drop/asked"), "")
				waittest.Until(d, "the typist", func() bool { return d.exists(filepath.Join(d.dir, "drop/typed")) })
				d.types("n\r")
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.root && os.Getuid() != 0 {
				t.Skip("only root can take its own rights from a step; run the tests as root")
			}
			s := newProbeSite(t)
			s.typist()
			background, _ := json.Marshal(map[string]any{"is_background": true, "command": "until [ -e $DROP/asked ]; do sleep 0.01; done; " + everywhere})
			s.env = append(s.env, "DROP="+filepath.Join(s.dir, "drop"), "KEYS="+c.keys, "BACKGROUND="+string(background))
			s.write("t.yaml", "name: t\ndescription: x\n"+c.text)
			d := s.desk(c.script)
			c.answer(d)
			screen := d.ends()
			said := s.read(filepath.Join(s.dir, "drop/said"))
			if s.exists("PWN") || strings.Contains(said, "<nil>") || !strings.Contains(said, "no such device or address") {
				t.Errorf("typing ended as\n%s\nPWN exists: %v, and the screen shows\n%s", said, s.exists("PWN"), screen)
			}
		})
	}
}

// TestScriptHasNoTerminal: the process that runs JavaScript gives its terminal up too.
func TestScriptHasNoTerminal(t *testing.T) {
	t.Parallel()
	s := newProbeSite(t)
	s.write("t.tool.js", `module.exports = { getMetadata: () => ({id: 't', description: 'x'}),
		execute: () => new Promise(done => setTimeout(done, 60000)) }`)
	d := s.desk(`exec $FLOWRUN run ./t.tool.js`)
	defer d.shell.Process.Kill()
	waittest.Until(s, "the process without a terminal", func() bool {
		return terminalOfChild(d.shell.Process.Pid, "flowrun-js") == "0"
	})
}

// terminalOfChild is the number of the terminal that a child has which was started under
// a name, "0" for none and "" where there is no such child.
func terminalOfChild(parent int, name string) string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file)
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "stat"))
		_, rest, _ := bytes.Cut(stat, []byte(") ")) // state, parent, group, session, terminal
		if f := bytes.Fields(rest); bytes.HasPrefix(line, []byte(name+"\x00")) && len(f) > 4 && string(f[1]) == strconv.Itoa(parent) {
			return string(f[4])
		}
	}
	return ""
}

// TestInteractiveTerminal: an interactive step has a terminal of flowrun's own, where it
// can do what programs do on one, but not type.
func TestInteractiveTerminal(t *testing.T) {
	t.Parallel()
	s := newProbeSite(t)
	s.typist()
	s.write("t.yaml", `name: t
description: x
steps:
  - name: asks
    interactive: true
    bash: |
      [ "$(tty)" != "$TTY" ] && [ "/dev/$(ps -o tty= -p $$)" = "$(tty)" ] && echo a terminal of its own
      typist /dev/tty x
      read -s -p 'password? ' p </dev/tty; echo; echo "it has ${#p} characters" >/dev/tty
      trap 'echo not yet' INT; echo go on; until read -t 0.1 line; do :; done; echo "then $line"
      printf '\033[?1049h\033[2J'; stty raw -echo; echo full screen; key=$(dd bs=1 count=1 2>/dev/null </dev/tty)
      stty sane; printf '\033[?1049l'; trap 'echo now $(stty size); exit 0' WINCH; echo "key $key in $(stty size)"
      while :; do sleep 0.02; done
  - {name: probe, bash: probe interactive}
`)
	d := s.desk("export TTY=$(tty); stty rows 11 cols 77; $FLOWRUN run ./t.yaml")
	d.shows("a terminal of its own")
	d.shows("operation not permitted")
	d.shows("password? ")
	d.types("tiger\r")
	d.shows("it has 5 characters")
	d.shows("go on")
	d.types("\x03")
	d.shows("not yet")
	d.types("word\r")
	d.shows("then word")
	d.shows("full screen")
	d.types("q")
	d.shows("key q in 11 77")
	pty.Setsize(d.pty, &pty.Winsize{Rows: 12, Cols: 66})
	d.shows("now 12 66")
	if screen := d.ends(); strings.Contains(screen, "tiger") {
		t.Errorf("the password is on the screen\n%s", screen)
	}
}

// TestWantsTerminal: a program that wants to ask on a terminal fails, and the message
// names the way out.
func TestWantsTerminal(t *testing.T) {
	for name, c := range map[string]struct{ script, hint string }{
		"shell":    {"read x </dev/tty", "interactive: true"},
		"sudo":     {"echo 'sudo: a terminal is required to read the password' >&2; exit 1", "interactive: true"},
		"git":      {"echo \"fatal: could not read Username for 'https://h': No such device or address\" >&2; exit 128", "interactive: true"},
		"ssh":      {"echo 'Host key verification failed.' >&2; exit 255", "interactive: true"},
		"anything": {"echo no luck >&2; exit 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newProbeSite(t)
			s.write("t.yaml", "name: t\ndescription: x\nbash: "+strconv.Quote(c.script)+"\n")
			screen, code := s.terminal(s.command("run", "./t.yaml"))
			if code == 0 || strings.Contains(screen, "interactive: true") != (c.hint != "") {
				t.Errorf("exit code %d, and the screen shows\n%s", code, screen)
			}
		})
	}
}

// TestNullIsNotTerminal: where everything is /dev/null, as under cron, nobody is asked.
func TestNullIsNotTerminal(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		command []string
		code    int
		stdout  string // in what is printed; "": stdout is /dev/null too
		effect  bool
	}{
		"call":     {"tags: [run]\nbash: touch EFFECT\n", []string{"call", "./t.yaml", "{}"}, 5, `"not-approved"`, false},
		"elevated": {"security: {execution-privilege: elevated}\nbash: touch EFFECT\n", []string{"run", "./t.yaml"}, 5, "", false},
		"cron":     {"bash: touch EFFECT\n", []string{"run", "./t.yaml"}, 0, "", true},
		"missing":  {"parameters: {X: {type: string, description: x, required: true}}\nbash: touch EFFECT\n", []string{"run", "./t.yaml"}, 6, "", false},
		"remove":   {"bash: touch EFFECT\n", []string{"tool", "remove", "t"}, 2, "", false},
		"edit":     {"bash: touch EFFECT\n", []string{"tool", "edit", "t"}, 2, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			text := "name: t\ndescription: x\n" + c.text
			s.write("t.yaml", text)
			s.write(".flowrun/tools/t.yaml", text)
			s.write(".flowrun/config.yaml", "approvals: {allow: ['tool:other']}\n")
			cmd := s.command(c.command...)
			var out bytes.Buffer
			if c.stdout != "" {
				cmd.Stdout = &out
			}
			cmd.Run() // a stream that is nil is /dev/null
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(out.String(), c.stdout) || s.exists("EFFECT") != c.effect {
				t.Errorf("exit code %d, want %d; the effect is there: %v; it printed\n%s", code, c.code, s.exists("EFFECT"), out.String())
			}
		})
	}
}

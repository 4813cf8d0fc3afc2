package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestReducedReach: what a reduced tool of root's says is done as root does it nowhere.
func TestReducedReach(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can take its own rights from a step; run the tests as root")
	}
	const reduced = "name: t\ndescription: x\nsecurity: {execution-privilege: reduced}\n"
	for name, c := range map[string]struct {
		text string
		left string // in the file "left" of the drop; "" for nothing of root's
		code int
	}{
		"notify": {text: "notify: [{command: 'sh -c \"id -u >$DROP/left; cat $DROP/../private >>$DROP/left\"', on: [success]}]\nbash: 'true'\n"},
		"secret command": {text: "environment: {secrets: [{name: K, command: 'sh -c \"id -u >$DROP/left; cat $DROP/../private >>$DROP/left; echo abcdefgh\"'}]}\n" +
			"bash: 'true'\n"},
		"secret file": {text: "environment: {secrets: [{name: K, file: '../private'}]}\nbash: echo $K >$DROP/left\n", code: 6},
		"env file":    {text: "env-files: ['../private']\nbash: echo $K >$DROP/left\n", code: 6},
		"output file": {text: "steps: [{name: s, bash: echo overwritten, output: {mode: stream, stream-callback: file, file: ../private}}]\n", code: 1},
		"descriptor":  {text: "bash: cat <&8 >$DROP/left; true\n"},
		"step":        {text: "bash: id -u >$DROP/left; cat $DROP/../private >>$DROP/left; true\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newProbeSite(t)
			s.env = append(s.env, "DROP="+filepath.Join(s.dir, "drop"))
			private := s.write(filepath.Join(s.dir, "private"), "K='of root alone'\n")
			os.Chmod(private, 0o600)
			s.write("t.yaml", reduced+c.text)
			cmd := s.command("run", "./t.yaml")
			f, err := os.Open(private)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd.ExtraFiles = []*os.File{f, f, f, f, f, f} // 3 to 8
			out := s.finish(cmd)
			left := s.read(filepath.Join(s.dir, "drop/left"))
			if strings.Contains(left, "of root alone") || strings.Contains(s.read(private), "overwritten") || strings.HasPrefix(left, "0\n") || out.code == 0 != (c.code == 0) {
				t.Errorf("it left %q\n%s", left, out)
			}
			if c.code != 0 && !strings.Contains(out.stderr, "permission denied") {
				t.Errorf("it failed for another reason: %s", out)
			}
			s.write("t.yaml", strings.Replace(reduced+c.text, "reduced", "same-as-user", 1))
			control := s.run("run", "./t.yaml")
			if left := s.read(filepath.Join(s.dir, "drop/left")); name != "descriptor" && !strings.Contains(left, "of root alone") && !strings.Contains(s.read(private), "overwritten") {
				t.Errorf("with all rights it does not reach the file either: %q %s", left, control)
			}
		})
	}
}

// TestInheritedDescriptor: a plain step does not inherit what flowrun did.
func TestInheritedDescriptor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("t.yaml", "name: t\ndescription: x\nbash: ls /proc/self/fd >open\n")
	cmd := s.command("run", "./t.yaml")
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd.ExtraFiles = []*os.File{f, f}
	out := s.finish(cmd)
	if open := strings.Fields(s.read("open")); strings.Join(open, " ") != "0 1 2 3" { // 3: the folder itself
		t.Errorf("a step has the descriptors %v\n%s", open, out)
	}
}

// TestUserOfRun: reduced steps of two runs are two users, and one reads nothing of the
// other's processes. The steps of one run are one user.
func TestUserOfRun(t *testing.T) {
	t.Parallel()
	s := newProbeSite(t)
	if os.Getuid() != 0 {
		t.Skip("only root can take its own rights from a step; run the tests as root")
	}
	drop := filepath.Join(s.dir, "drop")
	s.env = append(s.env, "DROP="+drop)
	const reduced = "name: t\ndescription: x\nsecurity: {execution-privilege: reduced}\n"
	s.write("victim.yaml", reduced+"environment: {variables: {HELD: a-value-of-its-own}}\nsteps:\n"+
		"  - {name: one, bash: 'id -u >$DROP/one'}\n  - {name: two, bash: 'id -u >$DROP/two; echo $$ >$DROP/pid; until [ -e $DROP/go ]; do sleep 0.02; done'}\n")
	s.write("thief.yaml", reduced+"bash: id -u >$DROP/thief; tr '\\0' '\\n' </proc/$(cat $DROP/pid)/environ >$DROP/stolen; kill $(cat $DROP/pid)\n")
	victim := s.command("run", "./victim.yaml")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(s, "the victim", func() bool { return s.read(filepath.Join(drop, "pid")) != "" })
	out := s.run("run", "./thief.yaml")
	s.write(filepath.Join(drop, "go"), "")
	if err := victim.Wait(); err != nil {
		t.Errorf("the victim: %v", err)
	}
	one, two, thief := s.read(filepath.Join(drop, "one")), s.read(filepath.Join(drop, "two")), s.read(filepath.Join(drop, "thief"))
	if text, _ := os.ReadFile("/proc/self/uid_map"); !strings.Contains(string(text), "4294967295") {
		t.Skip("this user namespace has no users for runs")
	}
	if one != two || one == thief || one == "0" || thief == "0" || strings.Contains(s.read(filepath.Join(drop, "stolen")), "HELD") {
		t.Errorf("users %s and %s of one run, %s of the other, which read %q\n%s", one, two, thief, s.read(filepath.Join(drop, "stolen")), out)
	}
}

// TestServiceSecrets: steps of the service find neither its token nor the secrets of its
// webhooks, and cannot look into its memory.
func TestServiceSecrets(t *testing.T) {
	for _, uid := range []uint32{0, 65534} {
		t.Run(fmt.Sprint(uid), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if uid != 0 {
				s.by(uid)
			}
			s.write("~/.config/flowrun/config.yaml", "webhooks: {push: {tool: t, scheme: token, secret-env: HOOKSEC}}\n")
			s.write(".flowrun/tools/t.yaml", "name: t\ndescription: x\nbash: |\n  tr '\\0' '\\n' </proc/$PPID/environ >leak 2>&1; env >>leak\n"+
				"  head -c 1 /proc/$PPID/mem >mem 2>&1; touch done\n")
			if uid != 0 {
				s.by(uid)
			}
			s.env = append(s.env, "FLOWRUN_TOKEN=0123456789abcdef-token", "HOOKSEC=0123456789abcdef-hook")
			c := s.command("serve", "--listen", "unix:"+filepath.Join(s.dir, "s"))
			var log strings.Builder
			c.Stdout, c.Stderr = &log, &log
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { c.Process.Signal(os.Interrupt); c.Wait() }()
			waittest.Until(s, "the service", func() bool { return s.exists(filepath.Join(s.dir, "state/service.sock")) })
			out := s.run("run", "t", "--detach")
			if out.code != 0 {
				t.Fatal(out)
			}
			waittest.Until(s, "the run", func() bool { return s.exists("done") })
			if leak := s.read("leak"); strings.Contains(leak, "0123456789abcdef") {
				t.Errorf("a step found\n%s\n%s", leak, out)
			}
			if uid != 0 && !strings.Contains(s.read("mem"), "Permission denied") {
				t.Errorf("a step may read the memory of the service: %q", s.read("mem"))
			}
			environ, _ := exec.Command("cat", "/proc/"+strconv.Itoa(c.Process.Pid)+"/environ").Output()
			if !strings.Contains(string(environ), "HOME=") || strings.Contains(string(environ), "0123456789abcdef") {
				t.Errorf("root is shown %q", environ)
			}
		})
	}
}

package attack

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestNoHome: without HOME and XDG variables, as in a system unit or a container, the
// home of the user database is taken; a user without one has runs that are not recorded.
func TestNoHome(t *testing.T) {
	const tool = "name: t\ndescription: x\nsteps: [{name: s, bash: echo ran}]\n"
	bare := func(s *site) []string {
		return []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + s.env[len(s.env)-1][len("TMPDIR="):]}
	}
	for name, env := range map[string][]string{"not set": nil, "that does not exist": {"HOME=/nonexistent"}, "that is read-only": {"HOME=/usr"}, "that is a file": {"HOME=/etc/passwd"}} {
		t.Run("a home "+name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.by(65534) // nobody, whose home is /nonexistent
			if _, err := os.Stat("/nonexistent"); err == nil {
				t.Skip("there is a /nonexistent here")
			}
			s.write("t.yaml", tool)
			s.env = append(bare(s), env...)
			out := s.run("run", "./t.yaml")
			if out.code != 0 || out.stdout != "ran\n" || strings.Count(out.stderr, "is not recorded") != 1 {
				t.Errorf("the run was not done, or nothing said that it is not recorded\n%s", out)
			}
			if out := s.run("runs"); out.code != 0 || !strings.Contains(out.stderr, "no runs found") {
				t.Errorf("the runs are not listed\n%s", out)
			}
			for variable, dir := range map[string]string{"FLOWRUN_STATE_DIR": "/nonexistent/x", "XDG_STATE_HOME": "/nonexistent"} {
				s.env = append(bare(s), variable+"="+dir)
				if out := s.run("run", "./t.yaml"); out.code == 0 || !strings.Contains(out.stderr, "cannot use the state directory") {
					t.Errorf("%s: it is used, or nothing said why not\n%s", variable, out)
				}
			}
		})
	}
	t.Run("the home of the user database", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		if os.Getuid() != 0 {
			t.Skip("only root can have another user database; run the tests as root")
		}
		s.write("t.yaml", tool)
		s.write("passwd", "root:x:0:0:root:"+s.path("~")+":/bin/sh\n")
		s.env = bare(s)
		c := s.command()
		c.Path, _ = exec.LookPath("unshare")
		c.Args = []string{"unshare", "--mount", "sh", "-c", `mount --bind passwd /etc/passwd || exit 99; exec "$0" "$@"`, program, "run", "./t.yaml"}
		out := s.finish(c)
		if out.code == 99 || c.Path == "" {
			t.Skip("cannot mount here: " + out.stderr)
		}
		if out.code != 0 || out.stdout != "ran\n" || !s.exists("~/.local/state/flowrun/history.db") {
			t.Errorf("the run was not done, or its record is not in the home\n%s", out)
		}
	})
	t.Run("root without a home", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		if os.Getuid() != 0 {
			t.Skip("only root has /var/lib/flowrun; run the tests as root")
		}
		s.write("t.yaml", tool)
		s.write("empty", "")
		s.env = bare(s) // and without nsswitch.conf: libnss-systemd knows root and its home without /etc/passwd
		c := s.command()
		c.Path, _ = exec.LookPath("unshare")
		c.Args = []string{"unshare", "--mount", "sh", "-c", `for f in /etc/passwd /etc/nsswitch.conf; do [ ! -e $f ] || mount --bind empty $f || exit 99; done
mount -t tmpfs none /var/lib || exit 99
"$0" "$@" && ls -A /var/lib/flowrun/history.db`, program, "run", "./t.yaml"}
		out := s.finish(c)
		if out.code == 99 || c.Path == "" {
			t.Skip("cannot mount here: " + out.stderr)
		}
		if out.code != 0 || out.stdout != "ran\n/var/lib/flowrun/history.db\n" {
			t.Errorf("the run was not done, or its record is not in /var/lib/flowrun\n%s", out)
		}
	})
}

// TestLostEntries: a history that has lost acknowledged runs says so.
func TestLostEntries(t *testing.T) {
	for name, harm := range map[string]func(wal string) error{
		"deleted":     os.Remove,
		"emptied":     func(wal string) error { return os.Truncate(wal, 0) },
		"overwritten": func(wal string) error { return os.WriteFile(wal, []byte(strings.Repeat("junk", 50_000)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.write("t.yaml", "name: t\ndescription: x\nsteps: [{name: s, bash: echo ran}]\n")
			for range 2 {
				if out := s.run("run", "./t.yaml"); out.code != 0 {
					t.Fatal(out)
				}
			}
			if out := s.run("runs"); strings.Count(out.stdout, "succeeded") != 2 {
				t.Fatal(out)
			}
			if err := harm(s.path("../state/history.db-wal")); err != nil {
				t.Fatal(err)
			}
			commands := [][]string{{"runs"}, {"show", "latest"}, {"run", "./t.yaml"}}
			if !wide && name != "emptied" {
				commands = commands[:1]
			}
			for _, args := range commands {
				if out := s.run(args...); out.code == 0 || !strings.Contains(out.stderr, "has lost its newest entries") {
					t.Errorf("%s does not say that runs are missing\n%s", args[0], out)
				}
			}
			for _, text := range []string{"", "garbage\n", "-5\n", "12345678901234567890123\n", "3\nge\n"} {
				if err := os.WriteFile(s.path("../state/history.last"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, args := range [][]string{{"runs"}, {"run", "./t.yaml"}} {
					if out := s.run(args...); out.code == 0 || !strings.Contains(out.stderr, "history.last next to it is damaged") {
						t.Errorf("history.last has %q, and %s does not say that it is damaged\n%s", text, args[0], out)
					}
				}
			}
			if err := os.Remove(s.path("../state/history.last")); err != nil {
				t.Fatal(err)
			}
			if out := s.run("run", "./t.yaml"); out.code != 0 {
				t.Errorf("it does not go on without them\n%s", out)
			}
		})
	}
}

// TestFullStateDisk: a run whose state disk fills up is reported as a failure, and can be
// resumed when there is room; where the reserve is enough for its end, that is recorded.
func TestFullStateDisk(t *testing.T) {
	for name, c := range map[string]struct{ fill, told, status string }{
		"by a file": {`head -c 9000000 /dev/zero >"$STATE/ballast"; true`, "failure interrupted", "interrupted"},
		"by output": {"head -c 9000000 /dev/zero", "failure failed", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			state := s.path("../state")
			if err := syscall.Mount("none", state, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
				t.Skip("cannot mount a file system, which needs root:", err)
			}
			t.Cleanup(func() { syscall.Unmount(state, syscall.MNT_DETACH) })
			tell := s.write("tell.sh", "#!/bin/sh\necho \"$FLOWRUN_EVENT $FLOWRUN_STATUS\" >>told\n")
			os.Chmod(tell, 0o755)
			s.env = append(s.env, "STATE="+state)
			steps := ""
			for i := range 60 { // whose events fill what the WAL has left
				steps += fmt.Sprintf("  - {name: b%d, bash: ': %s'}\n", i, strings.Repeat("x", 2000))
			}
			s.write("t.yaml", "name: t\ndescription: x\nnotify: [{command: "+tell+"}]\nsteps:\n  - name: a\n    bash: '[ -e again ] || { "+c.fill+"; }'\n"+
				steps+"  - {name: z, bash: echo done}\n")
			out := s.run("run", "./t.yaml", "--progress", "quiet")
			if name == "by output" && !strings.Contains(out.stderr, "the disk of its log is full") {
				t.Errorf("nothing says that the disk is full\n%.3000s", out)
			}
			if got := s.read("told"); out.code == 0 || got != c.told {
				t.Errorf("the notice is %q\n%.3000s", got, out)
			}
			os.Remove(state + "/ballast")
			s.write("again", "")
			if err := syscall.Mount("none", state, "tmpfs", syscall.MS_REMOUNT, "size=20m"); err != nil {
				t.Fatal(err)
			}
			if out := s.run("runs"); !strings.Contains(out.stdout, c.status) {
				t.Errorf("it is not %s\n%s", c.status, out)
			}
			if out := s.run("resume", "latest", "--rerun-interrupted"); out.code != 0 || out.stdout != "done\n" {
				t.Errorf("it cannot be resumed\n%.3000s", out)
			}
		})
	}
}

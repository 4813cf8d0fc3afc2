package attack

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// escapes are the ways in which what a step starts gets out of sight. SLEEP is a process
// that stays for long.
var escapes = map[string]string{
	"setsid":           `setsid SLEEP &`,
	"nohup":            `nohup SLEEP >/dev/null 2>&1 &`,
	"double fork":      `(setsid bash -c 'SLEEP & SLEEP &' &)`,
	"no environment":   `(env -i setsid SLEEP &)`,
	"executes":         `(env -i setsid bash -c 'SLEEP & exec SLEEP' &)`,
	"leaves cgroup":    `(setsid bash -c 'echo $$ >/sys/fs/cgroup/unified/cgroup.procs || echo $$ >/sys/fs/cgroup/cgroup.procs; exec env -i SLEEP' 2>/dev/null &)`,
	"ignores TERM":     `(trap '' TERM HUP; env -i setsid SLEEP &)`,
	"stopped":          `(env -i setsid bash -c 'kill -STOP $$; SLEEP; :' &)`,
	"holds its stdout": `(env -i setsid bash -c 'SLEEP; echo still here' &)`,
}

// fraction tells the processes of one test from all others.
var fraction atomic.Int64

// sleeper is a command that sleeps for long, and what all its processes have in common.
func sleeper() (command, tag string) {
	tag = fmt.Sprintf("4000.%d%03d", os.Getpid(), fraction.Add(1))
	return "sleep " + tag, tag
}

// living are the processes whose command line holds a text.
func living(text string) (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		line, _ := os.ReadFile(f)
		if pid := strings.Split(f, "/")[2]; bytes.Contains(line, []byte(text)) && pid != strconv.Itoa(os.Getpid()) {
			list = append(list, pid+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return list
}

// endAll kills what a failed test would leave.
func endAll(text string) {
	for _, p := range living(text) {
		pid, _ := strconv.Atoi(strings.Fields(p)[0])
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// withoutCgroups has a command of root run where there are no cgroups.
func withoutCgroups(c *exec.Cmd) *exec.Cmd {
	c.Args = append([]string{"sh", "-c", `umount -a -t cgroup,cgroup2; mount -t tmpfs none /sys/fs/cgroup && exec "$@"`, "sh", c.Path}, c.Args[1:]...)
	c.Path, _ = exec.LookPath("sh")
	c.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	return c
}

// surroundings are whose program runs, and where.
var surroundings = map[string]func(*site) func(*exec.Cmd) *exec.Cmd{
	"as it is": func(*site) func(*exec.Cmd) *exec.Cmd { return func(c *exec.Cmd) *exec.Cmd { return c } },
	"without cgroups": func(s *site) func(*exec.Cmd) *exec.Cmd {
		if os.Getuid() != 0 {
			s.Skip("only root can hide cgroups")
		}
		return withoutCgroups
	},
	"nobody": func(s *site) func(*exec.Cmd) *exec.Cmd {
		s.by(65534)
		return func(c *exec.Cmd) *exec.Cmd { return c }
	},
	"a user": func(s *site) func(*exec.Cmd) *exec.Cmd {
		s.by(4321)
		return func(c *exec.Cmd) *exec.Cmd { return c }
	},
}

// inSmall says whether the small size tries something with an engine that is killed in these surroundings: in both ways
// as it is, and where there are no cgroups.
func inSmall(where string, another bool) bool {
	return where == "as it is" || where == "without cgroups" && another
}

// TestKilledEngineLeavesNothing: what the steps of a killed flowrun left running, however
// it got away, has ended when its run was resumed, or when the next run has ended.
func TestKilledEngineLeavesNothing(t *testing.T) {
	for where, in := range surroundings {
		for _, next := range []string{"resume", "another run"} {
			if !wide && !inSmall(where, next != "resume") {
				continue
			}
			t.Run(where+"/"+next, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				sleep, tag := sleeper()
				t.Cleanup(func() { endAll(tag) })
				s.write("escape.yaml", "name: escape\ndescription: x\nsteps:\n  - name: s\n    bash: |\n      [ -e again ] && exit\n      "+
					indent(strings.ReplaceAll(escapeScript(), "SLEEP", sleep))+"\n      touch ready; "+sleep+"\n")
				s.write("other.yaml", "name: other\ndescription: x\nbash: echo other\n")
				as := in(s)
				s.env = append(s.env, "FLOWRUN_GRACE=100ms")
				const all = 13 // processes of escapes, and the step's own
				s.killDuring(as(s.command("run", "./escape.yaml")), func() bool { return s.exists("ready") && len(living(tag)) >= all })
				if len(living(tag)) < len(escapes) {
					t.Fatalf("only %q live: the test shows nothing", living(tag))
				}
				s.write("again", "")
				args := []string{"run", "./other.yaml"}
				if next == "resume" {
					args = []string{"resume", "latest", "--rerun-interrupted"}
				}
				out := s.finish(as(s.command(args...)))
				if out.code != 0 {
					t.Error(out)
				}
				if left := living(tag); len(left) > 0 {
					t.Errorf("%d live:\n%s\n%s", len(left), strings.Join(left, "\n"), out)
				}
			})
		}
	}
}

// script starts everything in escapes.
func escapeScript() (text string) {
	for _, e := range escapes {
		text += e + "\n"
	}
	return strings.TrimSuffix(text, "\n")
}

// killDuring starts the program, and kills it when something has come about.
func (s *site) killDuring(c *exec.Cmd, when func() bool) {
	s.Helper()
	said := filepath.Join(s.dir, "said") // a file: what outlives the program holds a pipe open
	out, err := os.Create(said)
	if err != nil {
		s.Fatal(err)
	}
	defer out.Close()
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	reached := waittest.Holds(waittest.Limit, when)
	c.Process.Kill()
	c.Wait()
	if !reached {
		s.Fatalf("it did not come to the point where it is killed:\n%s", s.read(said))
	}
}

// TestLockOfKilledRun: the run that takes a lock after its holder was killed begins when
// nothing of the holder lives any more, whether it waited already or comes later.
func TestLockOfKilledRun(t *testing.T) {
	for where, in := range surroundings {
		for _, waits := range []bool{false, true} {
			if !wide && !inSmall(where, waits) {
				continue
			}
			t.Run(fmt.Sprintf("%s/waits %t", where, waits), func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				sleep, tag := sleeper()
				t.Cleanup(func() { endAll(tag) })
				s.write("holder.yaml", "name: holder\ndescription: x\nlocks: [db]\nbash: |\n  (env -i setsid "+sleep+" &)\n  setsid "+sleep+" &\n  touch ready; "+sleep+"\n")
				s.write("next.yaml", "name: next\ndescription: x\nlocks: [db]\nbash: |\n  for f in /proc/[0-9]*/cmdline; do\n"+
					"    mapfile -d '' -t words <$f 2>/dev/null\n    [ \"${words[*]}\" = '"+sleep+"' ] && echo $f >>met\n  done\n  touch done\n")
				as := in(s)
				s.env = append(s.env, "FLOWRUN_GRACE=100ms")
				next := as(s.command("run", "./next.yaml"))
				var said bytes.Buffer
				next.Stdout, next.Stderr = &said, &said
				s.killDuring(as(s.command("run", "./holder.yaml")), func() bool {
					if !s.exists("ready") || len(living(tag)) < 3 {
						return false
					}
					if waits && next.Process == nil {
						if err := next.Start(); err != nil {
							t.Fatal(err)
						}
					}
					return !waits || strings.Contains(s.run("ps").stdout, "next")
				})
				if !waits {
					if err := next.Start(); err != nil {
						t.Fatal(err)
					}
				}
				if err := next.Wait(); err != nil || !s.exists("done") {
					t.Errorf("the next run: %v\n%s", err, &said)
				}
				if met := s.read("met"); met != "" {
					t.Errorf("it ran beside what the killed holder had left: %s\n%s", met, &said)
				}
			})
		}
	}
}

// TestKilledEngineLeavesNoValues: the files by which a killed flowrun gave large values to
// its steps are gone when the next run has ended, whatever run that is; those of a
// flowrun that lives are not.
func TestKilledEngineLeavesNoValues(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	sleep, tag := sleeper()
	t.Cleanup(func() { endAll(tag) })
	s.write("large.yaml", "name: large\ndescription: x\nsteps:\n  - name: one\n    bash: printf '%0200000d' 7; echo hunter2\n"+
		"  - name: two\n    bash: |\n      value={one.output}\n      touch ready; "+sleep+"\n")
	s.write("other.yaml", "name: other\ndescription: x\nbash: echo other\n")
	holding := func() (files []string) {
		filepath.WalkDir(filepath.Join(s.dir, "tmp"), func(path string, _ os.DirEntry, _ error) error {
			if text, _ := os.ReadFile(path); bytes.Contains(text, []byte("hunter2")) {
				files = append(files, path)
			}
			return nil
		})
		return files
	}
	var alive outcome
	s.killDuring(s.command("run", "./large.yaml"), func() bool {
		if !s.exists("ready") {
			return false
		}
		alive = s.run("run", "./other.yaml")
		return true
	})
	if len(holding()) == 0 {
		t.Fatalf("no file holds the value: the test shows nothing, or another run has removed it\n%s", alive)
	}
	out := s.run("run", "./other.yaml", "--no-history")
	if left := holding(); len(left) > 0 || out.code != 0 {
		t.Errorf("%q hold the value\n%s", left, out)
	}
}

// TestForkBomb: a step that takes all processes its user may have ends by itself or is
// ended; flowrun continues, ends in order and leaves nothing of it.
func TestForkBomb(t *testing.T) {
	for name, script := range map[string]string{
		"in its group":       `b() { b | b & }; b; sleep 0.3`,
		"in its own session": `b() { (env -i setsid sleep SECONDS &); b; }; ulimit -s 512; timeout 0.5 bash -c "$(declare -f b); b"; :`,
		"in the foreground":  `b() { b | b; }; timeout 0.5 bash -c "$(declare -f b); b"; :`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			uid := 5000 + uint32(os.Getpid()%10000) + uint32(fraction.Add(1)) // nobody else's processes count
			s.by(uid)
			sleep, _ := sleeper()
			s.env = append(s.env, "FLOWRUN_GRACE=100ms")
			s.write("bomb.yaml", "name: bomb\ndescription: x\nsteps:\n  - name: bomb\n    bash: |\n      "+
				indent(strings.ReplaceAll(script, "sleep SECONDS", sleep))+"\n  - name: next\n    run: echo next\n")
			c := s.command("run", "./bomb.yaml")
			c.Args = append([]string{"bash", "-c", `ulimit -u 200 && exec "$@"`, "bash", c.Path}, c.Args[1:]...)
			c.Path, _ = exec.LookPath("bash")
			t.Cleanup(func() { endAllOf(uid) })
			out := s.finish(c)
			if out.code != 0 && out.code != 1 || strings.Contains(out.stderr, "goroutine ") {
				t.Errorf("flowrun did not end in order\n%.3000s", out)
			}
			if list := s.run("runs", "-o", "json"); strings.Contains(list.stdout, "interrupted") || !strings.Contains(list.stdout, "bomb") {
				t.Errorf("the run is not on record as ended\n%s\n%.3000s", list, out)
			}
			// On a busy machine a process that was killed takes its time to end.
			if !waittest.Holds(waittest.Limit, func() bool { return len(ofUser(uid)) == 0 }) {
				t.Errorf("%d processes are left\n%.3000s", len(ofUser(uid)), out)
			}
		})
	}
}

// ofUser are the living processes of a user.
func ofUser(uid uint32) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		status, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "status"))
		if strings.Contains(string(status), fmt.Sprintf("\nUid:\t%d\t", uid)) && !strings.Contains(string(status), "State:\tZ") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endAllOf kills a user's processes, and those they fork meanwhile.
func endAllOf(uid uint32) {
	for range 100 {
		list := ofUser(uid)
		for _, pid := range list {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(list) == 0 {
			return
		}
	}
}

// TestNoDescriptors: a run that has no descriptors left for its next step waits until
// there are some.
func TestNoDescriptors(t *testing.T) {
	for name, step := range map[string]string{
		"plain":  `echo`,
		"masked": `echo`,
		"input":  "cat\n    input: '{first.output}'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			environment := ""
			if name == "masked" {
				s.env = append(s.env, "TOKEN=hunter2hunter2")
				environment = "environment: {secrets: [TOKEN]}\n"
			}
			text := "name: many\ndescription: x\n" + environment + "steps:\n  - name: first\n    bash: touch ready; while [ ! -e go ]; do sleep 0.01; done; echo first\n"
			for i := range 3 {
				text += fmt.Sprintf("  - name: s%d\n    bash: %s\n", i, step)
			}
			s.write("many.yaml", text)
			c := s.command("run", "./many.yaml")
			printed, err := os.Create(s.path("printed"))
			if err != nil {
				t.Fatal(err)
			}
			defer printed.Close()
			c.Stdout, c.Stderr = printed, printed
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			waittest.Until(s, "the first step runs", func() bool { return s.exists("ready") })
			limit := syscall.Rlimit{Cur: 3, Max: 20000}
			if err := setLimit(c.Process.Pid, &limit); err != nil {
				t.Fatal(err)
			}
			s.write("go", "")
			waittest.Until(s, "the next step is to start", func() bool { return strings.Contains(s.read("printed"), " s0 ") })
			time.Sleep(100 * time.Millisecond) // in which it tries
			limit.Cur = 20000
			if err := setLimit(c.Process.Pid, &limit); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err != nil {
				t.Errorf("the run: %v\n%s", err, s.read("printed"))
			}
		})
	}
}

// setLimit sets how many descriptors another process may have.
func setLimit(pid int, limit *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(limit)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

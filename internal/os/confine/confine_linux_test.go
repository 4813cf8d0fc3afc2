package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/vfork"
)

// startConfined runs a program confined and returns its output and its exit code. It starts it in both
// ways, which must not differ: by Wrap, and by calls in a child, unless it needs a process of its own.
func startConfined(t *testing.T, c Confinement, file string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	args = append([]string{file}, args...)
	path, argv := c.Wrap(file, args)
	var out, problems bytes.Buffer
	cmd := &exec.Cmd{Path: path, Args: argv, Stdout: &out, Stderr: &problems, Dir: "/"}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code = cmd.ProcessState.ExitCode()
	if !c.NeedsProcess() {
		inChild, codeOfChild := startChild(t, c, file, args)
		if codeOfChild != code || stable(inChild) != stable(out.String()+problems.String()) {
			t.Errorf("%q: by calls in a child: exit code %d and\n%s\nby Wrap: exit code %d and\n%s%s", args, codeOfChild, inChild, code, &out, &problems)
		}
	}
	return out.String(), problems.String(), code
}

// stable returns a text without what differs between two starts of the same program.
func stable(text string) string {
	return regexp.MustCompile(`flowrun: cannot start .*?: |(?m)^(Pid|Tgid|Ngid|NStgid|NSpid|NSpgid|NSsid|PPid|Vm\w*|Rss\w*|.*ctxt_switches|Seccomp_filters|SigIgn|SigCgt|SigQ|Cpus_allowed.*):.*\n`).ReplaceAllString(text, "")
}

// startChild starts a program by calls in a child and returns what it prints.
func startChild(t *testing.T, c Confinement, file string, args []string) (printed string, code int) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	k, err := c.Calls(Program{Path: file, Args: args, Dir: "/", Files: [3]uintptr{null.Fd(), w.Fd(), w.Fd()}})
	if err != nil {
		w.Close()
		return err.Error() + "\n", 126
	}
	defer k.Close()
	argv, _ := syscall.SlicePtrFromStrings(k.Program.Args)
	env, _ := syscall.SlicePtrFromStrings(os.Environ())
	text := func(s string) *byte { b, _ := syscall.BytePtrFromString(s); return b }
	v := vfork.Spec{Path: text(k.Program.Path), Args: &argv[0], Env: &env[0], Dir: text("/"), Files: k.Program.Files, Calls: k.List}
	syscall.ForkLock.Lock()
	pid, pidfd, forked, errno := vfork.Start(&v)
	syscall.ForkLock.Unlock()
	w.Close()
	if !forked {
		t.Fatal(syscall.Errno(errno))
	}
	syscall.Close(pidfd)
	output, _ := io.ReadAll(r)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	switch {
	case v.Failed > 0:
		return k.Failed(v.Failed, syscall.Errno(errno)).Error() + "\n", 126
	case errno == uintptr(syscall.ENOENT):
		return syscall.Errno(errno).Error() + "\n", 127
	case errno != 0:
		return syscall.Errno(errno).Error() + "\n", 126
	}
	return string(output), status.ExitStatus()
}

// status returns a line of /proc/PID/status.
func status(text, key string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func TestReduced(t *testing.T) {
	out, problems, code := startConfined(t, Confinement{Reduced: true}, "/bin/cat", "/proc/self/status")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, problems)
	}
	const none = "0000000000000000"
	want := map[string]string{"NoNewPrivs": "1", "CapInh": none, "CapPrm": none, "CapEff": none, "CapAmb": none}
	if os.Geteuid() == 0 {
		want["CapBnd"], want["Groups"] = none, ""
		want["Uid"] = "65534\t65534\t65534\t65534"
		want["Gid"] = want["Uid"]
	}
	for key, value := range want {
		if got := status(out, key); got != value {
			t.Errorf("%s is %q, want %q", key, got, value)
		}
	}
}

// A setuid program does not get the rights of its owner.
func TestReducedSetuid(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a program that belongs to root; run the tests as root")
	}
	dir, err := os.MkdirTemp("", "setuid-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	text, err := os.ReadFile("/bin/cat")
	if err != nil {
		t.Fatal(err)
	}
	cat := filepath.Join(dir, "cat")
	for _, err := range []error{os.Chmod(dir, 0o755), os.WriteFile(cat, text, 0o755), os.Chmod(cat, 0o755|os.ModeSetuid)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	plain := exec.Command(cat, "/proc/self/status")
	plain.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: Nobody, Gid: Nobody}}
	out, err := plain.Output()
	if err != nil || !strings.HasPrefix(status(string(out), "Uid"), "65534\t0\t") {
		t.Skipf("setuid programs have no effect in %s: %v", dir, err)
	}
	reduced, problems, code := startConfined(t, Confinement{Reduced: true}, cat, "/proc/self/status")
	if code != 0 || status(reduced, "Uid") != "65534\t65534\t65534\t65534" || status(reduced, "CapEff") != "0000000000000000" {
		t.Errorf("exit code %d, Uid %q, CapEff %q: %s", code, status(reduced, "Uid"), status(reduced, "CapEff"), problems)
	}
}

func TestAddressSpace(t *testing.T) {
	c := Confinement{AddressSpace: 300 << 20}
	out, problems, code := startConfined(t, c, "/bin/sh", "-c", "ulimit -v; (ulimit -v)")
	if code != 0 || out != "307200\n307200\n" {
		t.Errorf("exit code %d, printed %q: %s", code, out, problems)
	}
}

// A process that limits its address space needs memory until it executes the program, whatever the
// size of its environment.
func TestAddressSpaceOfLargeEnvironment(t *testing.T) {
	for size := range 16 {
		path, argv := Confinement{AddressSpace: 30 << 20}.Wrap("/bin/true", []string{"true"})
		cmd := &exec.Cmd{Path: path, Args: argv, Dir: "/"}
		for i := range size {
			cmd.Env = append(cmd.Env, fmt.Sprintf("V%d=%s", i, strings.Repeat("x", 100_000)))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("with %d00 kB: %v\n%.300s", size, err, out)
		}
	}
}

// The program has the limit of open files that this process was started with, and a program that is missing is reported.
func TestAddressSpaceKeepsOtherLimits(t *testing.T) {
	_, argv := Confinement{AddressSpace: 30 << 20}.Wrap("/bin/bash", []string{"bash", "-c", "ulimit -Sn"})
	lowered := []string{"-c", `ulimit -Sn 77; exec -a "$0" ` + os.Args[0] + ` "$@"`}
	out, err := exec.Command("/bin/bash", append(lowered, argv...)...).CombinedOutput()
	if err != nil || string(out) != "77\n" {
		t.Errorf("printed %q: %v", out, err)
	}
	_, problems, code := startConfined(t, Confinement{AddressSpace: 30 << 20}, "/no/such/program")
	if code != 127 || !strings.Contains(problems, "no such file") {
		t.Errorf("exit code %d, said %q", code, problems)
	}
}

// The limits of each process hold, and root cannot raise them.
func TestProcessLimits(t *testing.T) {
	c := Confinement{CPUTime: 7, FileSize: 4096, OpenFiles: 33}
	out, problems, code := startConfined(t, c, "/bin/bash", "-c", "ulimit -St; ulimit -Ht; ulimit -f; ulimit -n; (ulimit -n 34) 2>/dev/null || echo refused; (ulimit -t 9) 2>/dev/null || echo refused")
	if code != 0 || out != "7\n8\n4\n33\nrefused\nrefused\n" {
		t.Errorf("exit code %d, printed %q: %s", code, out, problems)
	}
	out, _, _ = startConfined(t, c, "/bin/cat", "/proc/self/status")
	var effective uint64
	if _, err := fmt.Sscanf(status(out, "CapEff"), "%x", &effective); err != nil || effective>>capSysResource&1 != 0 {
		t.Errorf("it has CAP_SYS_RESOURCE: %x, %v", effective, err)
	}
	plain, _, _ := startConfined(t, Confinement{}, "/bin/cat", "/proc/self/status")
	var all uint64
	if _, err := fmt.Sscanf(status(plain, "CapEff"), "%x", &all); err != nil || effective != all&^(1<<capSysResource) {
		t.Errorf("of %x it has %x", all, effective)
	}
}

// The limits of each process hold in bubblewrap too.
func TestProcessLimitsInBubblewrap(t *testing.T) {
	bubblewrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip(err)
	}
	c := Confinement{FileSize: 4096, OpenFiles: 33, CPUTime: 7, AddressSpace: 200 << 20, Sandbox: &Sandbox{Bubblewrap: bubblewrap}}
	out, problems, code := startConfined(t, c, "/bin/bash", "-c", "ulimit -f; ulimit -n; ulimit -t; ulimit -v")
	if code != 0 || out != "4\n33\n7\n204800\n" {
		t.Errorf("exit code %d, printed %q: %s", code, out, problems)
	}
}

// A limit that is lower already stays.
func TestLowerLimitStays(t *testing.T) {
	_, argv := Confinement{OpenFiles: 1000, FileSize: 1 << 40}.Wrap("/bin/bash", []string{"bash", "-c", "ulimit -n; ulimit -f"})
	lowered := []string{"-c", `ulimit -n 50; ulimit -f 8; exec -a "$0" ` + os.Args[0] + ` "$@"`}
	out, err := exec.Command("/bin/bash", append(lowered, argv...)...).CombinedOutput()
	if err != nil || string(out) != "50\n8\n" {
		t.Errorf("printed %q: %v", out, err)
	}
}

// A program that cannot be started prints why, and exits with the code that shells use.
func TestConfinedStart(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk")
	if err := os.WriteFile(junk, []byte("\x00\x01\x02"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		c    Confinement
		file string
		code int
		says string
	}{
		{"no program", Confinement{}, "/no/such/program", 127, "no such file"},
		{"no format", Confinement{}, junk, 126, "exec format error"},
		{"no cgroup", Confinement{Join: []string{filepath.Join(dir, "gone", "cgroup.procs")}}, "/bin/true", 126, "cgroup that limits its resources"},
	} {
		_, problems, code := startConfined(t, c.c, c.file)
		if code != c.code || !strings.Contains(problems, c.says) || strings.Count(problems, "\n") != 1 {
			t.Errorf("%s: exit code %d, want %d; said %q", c.name, code, c.code, problems)
		}
	}
}

// limit returns a memory limit. It skips the test if this user cannot make one.
func limit(t *testing.T, bytes int64) *cgroup.Limit {
	t.Helper()
	m, err := cgroup.NewLimit("", 0, cgroup.Limits{Memory: bytes})
	if err != nil {
		t.Skipf("no memory cgroup here: %v", err)
	}
	t.Cleanup(func() { m.End(true) })
	return m
}

func TestMemoryLimit(t *testing.T) {
	// dd allocates a buffer of this size and exits.
	for _, c := range []struct {
		size     string
		exceeded bool
	}{{"1M", false}, {"200M", true}} {
		m := limit(t, 50<<20)
		_, problems, code := startConfined(t, Confinement{Join: m.JoinFiles()}, "/bin/dd", "if=/dev/zero", "of=/dev/null", "count=1", "bs="+c.size)
		if m.OutOfMemory() != c.exceeded || (code != 0) != c.exceeded {
			t.Errorf("%s: exceeded %v, exit code %d: %s", c.size, m.OutOfMemory(), code, problems)
		}
	}
}

// A memory limit can be removed when it is empty, and processes in it are found.
func TestMemoryLimitGoes(t *testing.T) {
	m := limit(t, 50<<20)
	join := m.JoinFiles()[0]
	path, argv := Confinement{Join: m.JoinFiles()}.Wrap("/bin/cat", []string{"cat"})
	cmd := &exec.Cmd{Path: path, Args: argv}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is cat by now
		t.Fatal(err)
	}
	if m.Remove() {
		t.Error("a limit that holds a process was taken away")
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	m.End(false)
	if _, err := os.Stat(join); !os.IsNotExist(err) {
		t.Errorf("the limit is still there: %v", err)
	}
}

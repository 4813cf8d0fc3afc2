package confine

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// needSandbox skips a test where the kernel cannot hold a Sandbox.
func needSandbox(t *testing.T) {
	if err := CheckSandbox(); err != nil {
		t.Skip(err)
	}
}

// A process in a Sandbox uses the files that it lists, in the way that it lists them, and the base of
// the system.
func TestSandboxFiles(t *testing.T) {
	needSandbox(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("read/a", "of a", 0o644)
	write("write/b", "of b", 0o644)
	write("run/c", "#!/bin/sh\necho ran\n", 0o755)
	write("secret/d", "of d", 0o644)
	write("one", "of one", 0o644)
	write("drop/f", "of f", 0o644)
	s := &Sandbox{Files: []FileRule{{dir + "/read", Read}, {dir + "/write", Read | Write}, {dir + "/drop", Write}, {dir + "/run", Execute}, {dir + "/one", Read | Write}, {dir + "/missing", Write}}}
	for script, want := range map[string]string{
		"cat read/a":                       "of a",
		"ls read":                          "a",
		"cat write/b":                      "of b",
		"echo x >write/new; cat write/new": "x",
		"mkdir write/x && rmdir write/x && echo y":                "y",
		"mv write/b write/e && cat write/e && mv write/e write/b": "of b",
		"run/c": "ran",
		"echo more >>one; cat one; printf 'of one' >one": "of onemore",
		"id -u >/dev/null && echo ok":                    "ok",
		"echo out >/dev/stdout":                          "out",
		"head -c 0 /proc/self/status && echo ok":         "ok",
		"echo x >drop/g; rm drop/g; echo ok":             "ok",
		"cat drop/f":                                     "",
		"ls drop":                                        "",
		"cat secret/d":                                   "",
		"cat read/../secret/d":                           "",
		"cat /proc/self/root/$PWD/secret/d":              "",
		"ls secret":                                      "",
		"ls .":                                           "",
		"echo x >read/a":                                 "",
		"echo x >read/new":                               "",
		"truncate -s 0 read/a":                           "",
		"rm read/a":                                      "",
		"echo x >missing":                                "",
		"echo x >run/c":                                  "",
		"mv write/e read/e || mv write/b read/b":         "",
		"ln secret/d write/d":                            "",
		"ln -sf ../secret/d write/l && cat write/l":      "",
		"write/b":                                        "",
	} {
		os.WriteFile(dir+"/write/b", []byte("of b"), 0o755)
		os.WriteFile(dir+"/one", []byte("of one"), 0o644)
		out, problems, code := startConfined(t, Confinement{Sandbox: s}, "/bin/sh", "-c", "cd "+dir+"; "+script)
		if got := strings.TrimSpace(out); got != want || (code == 0) != (want != "") {
			t.Errorf("%s: exit code %d, printed %q, want %q: %s", script, code, got, want, problems)
		}
	}
	if text, _ := os.ReadFile(dir + "/read/a"); string(text) != "of a" {
		t.Errorf("read/a is now %q", text)
	}
}

// A granted path that has become a symbolic link since it was resolved refuses the start.
func TestSandboxSwapped(t *testing.T) {
	needSandbox(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/root", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	_, problems, code := startConfined(t, Confinement{Sandbox: &Sandbox{Files: []FileRule{{dir + "/link", Read}}}}, "/bin/true")
	if code != 126 || !strings.Contains(problems, "has become a symbolic link") {
		t.Errorf("exit code %d: %s", code, problems)
	}
}

// In a Sandbox, root keeps only the capabilities of files and users.
func TestSandboxCapabilities(t *testing.T) {
	needSandbox(t)
	if os.Geteuid() != 0 {
		t.Skip("only root has capabilities; run the tests as root")
	}
	out, problems, code := startConfined(t, Confinement{Sandbox: &Sandbox{}}, "/bin/cat", "/proc/self/status")
	for key, want := range map[string]string{"CapEff": "00000000000004fb", "CapBnd": "00000000000004fb", "CapInh": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2"} {
		if got := status(out, key); got != want {
			t.Errorf("%s is %q, want %q (exit code %d: %s)", key, got, want, code, problems)
		}
	}
}

// The filter denies calls by number and argument, on both architectures.
func TestSandboxFilter(t *testing.T) {
	const x86, arm = "amd64", "arm64"
	denied := func(e syscall.Errno) uint32 { return failCall | uint32(e) }
	for _, c := range []struct {
		sandbox Sandbox
		machine string
		number  uint32
		args    [2]uint64
		want    uint32
	}{
		{Sandbox{}, x86, 0, [2]uint64{}, allowCall},
		{Sandbox{}, x86, 101, [2]uint64{}, denied(syscall.EPERM)},
		{Sandbox{}, arm, 117, [2]uint64{}, denied(syscall.EPERM)},
		{Sandbox{}, x86, 435, [2]uint64{}, denied(syscall.ENOSYS)},
		{Sandbox{}, x86, 254, [2]uint64{}, denied(syscall.ENOSPC)},
		{Sandbox{}, arm, 27, [2]uint64{}, denied(syscall.ENOSPC)},
		{Sandbox{}, x86, 0x40000000 + 521, [2]uint64{}, denied(syscall.ENOSYS)}, // ptrace of x32
		{Sandbox{}, x86, 56, [2]uint64{syscall.CLONE_VM | syscall.CLONE_VFORK}, allowCall},
		{Sandbox{}, x86, 56, [2]uint64{syscall.CLONE_NEWUSER}, denied(syscall.EPERM)},
		{Sandbox{}, arm, 220, [2]uint64{syscall.CLONE_NEWNET}, denied(syscall.EPERM)},
		{Sandbox{}, x86, 272, [2]uint64{syscall.CLONE_FS}, allowCall},
		{Sandbox{}, x86, 272, [2]uint64{newTimeSpace}, denied(syscall.EPERM)},
		{Sandbox{}, x86, 302, [2]uint64{0}, allowCall},
		{Sandbox{}, x86, 302, [2]uint64{1}, denied(syscall.EPERM)},
		{Sandbox{}, x86, 16, [2]uint64{0, tiocSTI}, denied(syscall.EPERM)},
		{Sandbox{}, x86, 16, [2]uint64{0, tiocLinux}, denied(syscall.EPERM)},
		{Sandbox{}, x86, 16, [2]uint64{0, 0x5413}, allowCall},
		{Sandbox{}, x86, 41, [2]uint64{syscall.AF_UNIX}, denied(syscall.EACCES)},
		{Sandbox{}, x86, 41, [2]uint64{syscall.AF_INET}, denied(syscall.EACCES)},
		{Sandbox{Internet: true}, x86, 41, [2]uint64{syscall.AF_INET6}, allowCall},
		{Sandbox{Internet: true}, x86, 41, [2]uint64{syscall.AF_NETLINK}, allowCall},
		{Sandbox{Internet: true}, x86, 41, [2]uint64{syscall.AF_UNIX}, denied(syscall.EACCES)},
		{Sandbox{Internet: true, Unix: true}, x86, 41, [2]uint64{syscall.AF_PACKET}, denied(syscall.EACCES)},
		{Sandbox{Unix: true}, arm, 198, [2]uint64{syscall.AF_UNIX}, allowCall},
		{Sandbox{}, x86, 53, [2]uint64{syscall.AF_UNIX, syscall.SOCK_STREAM | syscall.SOCK_CLOEXEC}, allowCall},
		{Sandbox{}, x86, 53, [2]uint64{syscall.AF_UNIX, syscall.SOCK_DGRAM | syscall.SOCK_CLOEXEC}, denied(syscall.EACCES)},
		{Sandbox{Unix: true}, x86, 53, [2]uint64{syscall.AF_UNIX, syscall.SOCK_DGRAM}, allowCall},
	} {
		var data [64]byte
		m, _ := machineOf(c.machine)
		binary.NativeEndian.PutUint32(data[0:], c.number)
		binary.NativeEndian.PutUint32(data[4:], m.arch)
		binary.NativeEndian.PutUint64(data[16:], c.args[0])
		binary.NativeEndian.PutUint64(data[24:], c.args[1])
		if got := run(m.filter(&c.sandbox), data); got != c.want {
			t.Errorf("%+v on %s: call %d %x: %x, want %x", c.sandbox, c.machine, c.number, c.args, got, c.want)
		}
		binary.NativeEndian.PutUint32(data[4:], 0x40000003) // i386
		if got := run(m.filter(&c.sandbox), data); got != killProcess {
			t.Errorf("another architecture: %x", got)
		}
	}
}

// Of all numbers that a system call can have, only those of allowedCalls and those whose arguments are read are allowed.
func TestSandboxFilterWhole(t *testing.T) {
	for _, name := range []string{"amd64", "arm64"} {
		m, _ := machineOf(name)
		allowed := m.allowed()
		read := []uint32{m.clone, m.unshare, m.ioctl, m.socket, m.socketPair, m.limitsOfPID}
		filter := m.filter(&Sandbox{})
		for number := range uint32(5000) {
			var data [64]byte
			binary.NativeEndian.PutUint32(data[0:], number)
			binary.NativeEndian.PutUint32(data[4:], m.arch)
			got := run(filter, data)
			switch {
			case slices.Contains(read, number):
			case slices.Contains(allowed, number):
				if got != allowCall {
					t.Errorf("%s: call %d: %x", name, number, got)
				}
			case got>>16 != failCall>>16:
				t.Errorf("%s: call %d is not on the list: %x", name, number, got)
			}
		}
		if doubles := len(allowed) - len(slices.Compact(slices.Clone(allowed))); doubles > 0 || len(allowed) < 200 {
			t.Errorf("%s: %d calls, %d of them twice", name, len(allowed), doubles)
		}
	}
}

// The page lists the calls that stay, each group with its reason.
func TestAllowedCallsPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/isolation.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, g := range allowedCalls {
		var names []string
		for _, c := range g.calls {
			names = append(names, "`"+c.name+"`")
		}
		if want := "- For " + g.reason + ": " + strings.Join(names, ", "); !strings.Contains(text, want) {
			t.Errorf("docs/reference/isolation.md does not have this:\n%s", want)
		}
	}
}

package faulttest

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// answerBound is how long a machine may take to boot, or to run a command. An
	// emulated one takes seconds.
	answerBound = 2 * time.Minute

	memory   = "384M"
	diskSize = 64 << 20 // bytes
)

// packages are what Debian calls that which a lab needs.
const packages = "qemu-system-x86, linux-image-cloud-amd64, busybox-static and e2fsprogs"

// lab is what it takes to boot a machine.
type lab struct {
	qemu, busybox, mkfs, kernel string
	modules                     []string // files of the disk's drivers, each after those it needs
}

// findLab looks for the programs and the kernel. The error says what is missing.
func findLab() (*lab, error) {
	l := &lab{}
	for _, p := range []struct {
		name string
		path *string
	}{{"qemu-system-x86_64", &l.qemu}, {"busybox", &l.busybox}, {"mkfs.ext4", &l.mkfs}} {
		var err error
		if *p.path, err = exec.LookPath(p.name); err != nil {
			if *p.path, err = exec.LookPath("/sbin/" + p.name); err != nil {
				return nil, fmt.Errorf("there is no %s", p.name)
			}
		}
	}
	if err := static(l.busybox); err != nil {
		return nil, err
	}
	const prefix = "/boot/vmlinuz-"
	kernels, err := filepath.Glob(prefix + "*-cloud-amd64")
	if err != nil || len(kernels) == 0 {
		return nil, fmt.Errorf("there is no %s*-cloud-amd64", prefix)
	}
	l.kernel = slices.Max(kernels)
	l.modules, err = modules("/lib/modules/"+strings.TrimPrefix(l.kernel, prefix), "virtio_pci", "virtio_blk", "ext4")
	return l, err
}

// static says whether a program runs without a dynamic linker.
func static(program string) error {
	f, err := elf.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return fmt.Errorf("%s is not linked statically", program)
	}
	return nil
}

// modules are the files of kernel modules and of all that these need, in the order
// to load them. What is not among the modules is taken to be in the kernel itself.
func modules(dir string, names ...string) ([]string, error) {
	text, err := os.ReadFile(dir + "/modules.dep")
	if err != nil {
		return nil, err
	}
	needs := map[string]string{} // file -> files, the most basic last
	files := map[string]string{} // name -> file
	for line := range strings.Lines(string(text)) {
		file, rest, _ := strings.Cut(line, ":")
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		needs[file], files[name] = rest, file
	}
	var list []string
	for _, name := range names {
		if files[name] == "" {
			continue
		}
		chain := append([]string{files[name]}, strings.Fields(needs[files[name]])...)
		for _, file := range slices.Backward(chain) {
			if path := dir + "/" + file; !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
	}
	return list, nil
}

// initramfs writes the file system a machine begins with: /bin/busybox, the given
// program as /bin/flowrun, testdata/guest as /guest, the modules by their order in
// /modules.
func (l *lab) initramfs(t *testing.T, file, flowrun string) {
	t.Helper()
	var a archive
	for _, dir := range []string{"bin", "guest", "modules"} {
		a.add(dir, 0o40755, nil)
	}
	a.add("bin/busybox", 0o100755, content(t, l.busybox))
	a.add("bin/flowrun", 0o100755, content(t, flowrun))
	for i, m := range l.modules {
		a.add(fmt.Sprintf("modules/%02d", i), 0o100644, module(t, m))
	}
	guest, err := filepath.Glob("testdata/guest/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range guest {
		a.add("guest/"+filepath.Base(g), 0o100755, content(t, g))
	}
	a.add("TRAILER!!!", 0, nil)
	if err := os.WriteFile(file, a.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// module is a kernel module, unpacked where the distribution packs them.
func module(t *testing.T, file string) []byte {
	t.Helper()
	if !strings.HasSuffix(file, ".xz") {
		return content(t, file)
	}
	data, err := exec.Command("xz", "-dc", file).Output()
	if err != nil {
		t.Fatalf("cannot unpack %s: %v", file, err)
	}
	return data
}

// archive is a cpio archive in the form the kernel reads ("newc").
type archive struct {
	bytes.Buffer
	files int
}

func (a *archive) add(name string, mode int, data []byte) {
	a.files++
	a.WriteString("070701")
	for _, field := range []int{a.files, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0} {
		fmt.Fprintf(a, "%08X", field)
	}
	a.WriteString(name + "\x00")
	a.pad()
	a.Write(data)
	a.pad()
}

func (a *archive) pad() {
	for a.Len()%4 != 0 {
		a.WriteByte(0)
	}
}

// disk makes an empty disk.
func (l *lab) disk(t *testing.T, file string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(diskSize); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(l.mkfs, "-q", "-F", file).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4: %v\n%s", err, out)
	}
}

// machine is one that runs. Its init reads commands from the serial line.
type machine struct {
	t     *testing.T
	qemu  *exec.Cmd
	in    io.Writer
	out   *os.File
	lines *bufio.Reader
	begun string   // a line of which the end has not come
	said  []string // every line so far
}

// boot starts a machine and waits until it is ready. words go to the kernel, and
// from there to init.
func (l *lab) boot(t *testing.T, initramfs, disk string, words ...string) *machine {
	t.Helper()
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	m := &machine{t: t, out: out, lines: bufio.NewReader(out)}
	m.qemu = exec.Command(l.qemu, "-accel", "tcg", "-cpu", "max", "-m", memory, "-smp", "2", "-nodefaults",
		"-display", "none", "-serial", "stdio", "-no-reboot",
		"-kernel", l.kernel, "-initrd", initramfs,
		"-append", "console=ttyS0 quiet loglevel=1 panic=-1 rdinit=/guest/init "+strings.Join(words, " "),
		// The host outlives the machine, so its page cache may play the disk.
		"-drive", "if=virtio,format=raw,cache=writeback,file="+disk)
	m.qemu.Stdout, m.qemu.Stderr = stdout, stdout
	if m.in, err = m.qemu.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := m.qemu.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.kill()
		out.Close()
	})
	m.until("ready")
	return m
}

// kill is the power cut. It may be called again.
func (m *machine) kill() {
	m.qemu.Process.Kill()
	m.qemu.Wait()
}

// cut waits until the machine has said n lines that begin so, lets it go on for a
// while and then cuts its power. It answers what the machine has said, as far as it
// arrived.
func (m *machine) cut(prefix string, n int, after time.Duration) []string {
	m.t.Helper()
	from := len(m.said)
	for range n {
		m.until(prefix)
	}
	for end := time.Now().Add(after); ; {
		_, err := m.line(end)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			m.fail("the machine ended by itself: %v", err)
		}
	}
	m.kill()
	for {
		if _, err := m.line(time.Time{}); err != nil { // the rest, to the end
			return m.said[from:]
		}
	}
}

// line is the next line of the console, waiting for it until end at most.
func (m *machine) line(end time.Time) (string, error) {
	m.out.SetReadDeadline(end)
	part, err := m.lines.ReadString('\n')
	m.begun += part
	if err != nil {
		return "", err
	}
	line := strings.TrimRight(m.begun, "\r\n")
	m.begun = ""
	m.said = append(m.said, line)
	return line, nil
}

// until reads to a line that begins so, and answers what came before it and what
// follows in it.
func (m *machine) until(prefix string) (before []string, rest string) {
	m.t.Helper()
	end := time.Now().Add(answerBound)
	for {
		line, err := m.line(end)
		if err != nil {
			m.fail("waiting for %q from the machine: %v", prefix, err)
		}
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return before, strings.TrimSpace(rest)
		}
		before = append(before, line)
	}
}

// send types a line at the console.
func (m *machine) send(line string) {
	m.t.Helper()
	if _, err := io.WriteString(m.in, line+"\n"); err != nil {
		m.fail("typing %q: %v", line, err)
	}
}

// answer is what resulted from a command in a machine.
type answer struct {
	console []string // what processes printed to the console meanwhile
	stdout  string
	stderr  string
	code    int
}

// run runs a command. Its words are split at spaces, and that is all.
func (m *machine) run(words ...string) answer {
	m.t.Helper()
	m.send(strings.Join(words, " "))
	var a answer
	a.console, _ = m.until("=stdout")
	stdout, _ := m.until("=stderr")
	stderr, code := m.until("=exit ")
	var err error
	if a.code, err = strconv.Atoi(code); err != nil {
		m.fail("%q is no exit code", code)
	}
	a.stdout, a.stderr = strings.Join(stdout, "\n"), strings.Join(stderr, "\n")
	return a
}

// fail ends the test with the last lines of the console.
func (m *machine) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf(format+"\nThe machine's console:\n%s", append(args, strings.Join(m.said[max(0, len(m.said)-50):], "\n"))...)
}

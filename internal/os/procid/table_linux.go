package procid

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Entry is one process of the process table.
type Entry struct {
	Info
	Parent, Group, Session int
	Start                  uint64 // clock ticks since boot; pid and start time together are unique
	State                  byte
	BeforeExec             bool   // forked, but has not executed its program yet
	NoEnviron              bool   // has no environment, or none yet
	Mark                   string // value of MarkOwner in its environment, or ""
}

// Dead reports whether the process is a zombie or gone.
func (e *Entry) Dead() bool { return e.State == 'Z' || e.State == 'X' }

// Table lists all processes of the machine.
type Table []Entry

// environMax is how much of a process's environment is read, in bytes. The mark may be anywhere in
// it, because shells reorder their environment.
const environMax = 1 << 20

// Problems of /proc.
var (
	ErrNotMounted = errors.New("/proc is not mounted; mount it (mount -t proc proc /proc)")
	ErrForeign    = errors.New("/proc shows the processes of another PID namespace; mount the own one (mount -t proc proc /proc, or bwrap --proc /proc)")
)

// CheckTable returns nil if /proc is there and shows the PID namespace of this process, and otherwise one of its
// problems. In another namespace the numbers are those of others.
func CheckTable() error { return checkTable() }

var checkTable = sync.OnceValue(func() error {
	switch link, err := os.Readlink("/proc/self"); {
	case err == nil && link == strconv.Itoa(os.Getpid()):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat("/proc/version"); err != nil {
			return ErrNotMounted
		}
	}
	return ErrForeign
})

// ReadTable lists all processes. It returns an error if /proc does not show those of this PID namespace. It reads the marks only of processes that started at or after
// since (in clock ticks since boot): older ones cannot belong to the run. It leaves out processes
// that end while it reads.
func ReadTable(since uint64) (Table, error) {
	if err := checkTable(); err != nil {
		return nil, err
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	t := make(Table, 0, len(names))
	buf := make([]byte, 4<<10)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		e, ok := ReadEntry(pid, buf)
		if !ok {
			continue
		}
		if e.Start >= since && !e.Dead() {
			buf = e.readMarks(buf)
		}
		t = append(t, e)
	}
	return t, nil
}

// ReadEntry reads one process. It returns false if there is no such process, or if /proc hides it or shows another PID
// namespace.
// buf is used for reading.
func ReadEntry(pid int, buf []byte) (Entry, bool) {
	if checkTable() != nil {
		return Entry{}, false
	}
	n, err := ReadInto("/proc/"+strconv.Itoa(pid)+"/stat", buf)
	if err != nil {
		return Entry{}, false
	}
	e, ok := ParseStat(string(buf[:n]))
	return e, ok && e.PID == pid
}

// ParseStat parses a line of /proc/PID/stat. The name is in parentheses and may itself contain
// parentheses, so it ends at the last one.
func ParseStat(line string) (e Entry, ok bool) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return e, false
	}
	const (
		flagsField = 6 // counted from the state, which is field 0
		startField = 19
		forkNoExec = 0x40 // PF_FORKNOEXEC of the kernel
	)
	fields := strings.Fields(line[end+1:])
	if len(fields) <= startField || len(fields[0]) != 1 {
		return e, false
	}
	var errs [6]error
	e.PID, errs[0] = strconv.Atoi(strings.TrimSpace(line[:open]))
	e.Parent, errs[1] = strconv.Atoi(fields[1])
	e.Group, errs[2] = strconv.Atoi(fields[2])
	e.Session, errs[3] = strconv.Atoi(fields[3])
	e.Start, errs[4] = strconv.ParseUint(fields[startField], 10, 64)
	flags, err := strconv.ParseUint(fields[flagsField], 10, 64)
	errs[5] = err
	e.BeforeExec = flags&forkNoExec != 0
	e.State, e.Name = fields[0][0], line[open+1:end]
	return e, errors.Join(errs[:]...) == nil
}

// readMarks fills in Mark, Step and NoEnviron. It returns the buffer, which may have grown.
func (e *Entry) readMarks(buf []byte) []byte {
	path := "/proc/" + strconv.Itoa(e.PID) + "/environ"
	n, err := ReadInto(path, buf)
	for err == nil && n == len(buf) && len(buf) < environMax {
		buf = make([]byte, 4*len(buf))
		n, err = ReadInto(path, buf)
	}
	if err == nil {
		e.Mark, e.Step = ParseMarks(buf[:n])
		e.NoEnviron = n == 0
	}
	return buf
}

// ParseMarks returns the values of MarkOwner and MarkStep in an environment as /proc/PID/environ
// shows it.
func ParseMarks(environ []byte) (mark, step string) {
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if rest, ok := bytes.CutPrefix(v, []byte(MarkOwner+"=")); ok {
			mark = string(rest)
		} else if rest, ok := bytes.CutPrefix(v, []byte(MarkStep+"=")); ok {
			step = string(rest)
		}
	}
	return mark, step
}

// ReadInto reads a small file into buf and returns its length. It does not use os.File: the poller
// cannot handle these files, and ReadTable reads two of them for every process.
func ReadInto(path string, buf []byte) (int, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	got := 0
	for got < len(buf) {
		n, err := syscall.Read(fd, buf[got:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return got, err
		}
		if n == 0 {
			break
		}
		got += n
	}
	return got, nil
}

// Now returns the current time as start times are counted: clock ticks since boot in the time
// namespace of this process, a hundred a second on every architecture.
func Now() uint64 {
	const tick = 10 * time.Millisecond
	return uint64(bootClock() / tick)
}

// SameUser reports whether a process belongs to the user of this process.
func SameUser(pid int) bool {
	var st syscall.Stat_t
	return syscall.Stat("/proc/"+strconv.Itoa(pid), &st) == nil && int(st.Uid) == os.Getuid()
}

package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/cgroup"
	"github.com/flowrun/flowrun/internal/needtest"
	"github.com/flowrun/flowrun/internal/waittest"
)

// limitTools is what the scripts below begin with. got(n) says how much was got so far.
const limitTools = `import ctypes, mmap, os, resource, signal, socket, subprocess, sys, threading, time
G = os.open('got', os.O_CREAT | os.O_RDWR, 0o666)
libc = ctypes.CDLL(None, use_errno=True)
def got(n): os.pwrite(G, b'%-12d' % n, 0)
def sleep(): time.sleep(4); os._exit(0)
def count(start, most=60):
    n = 1
    got(n)
    for _ in range(most):
        try: start()
        except OSError: break
        n += 1
        got(n)
def fork(f=lambda: None):
    if os.fork() == 0:
        try: f()
        except OSError: os._exit(1)
        sleep()
def own(controller):
    for line in open('/proc/self/cgroup'):
        _, names, path = line.strip().split(':', 2)
        if controller in names.split(','): return '/sys/fs/cgroup/' + controller + path
        if not names: two = '/sys/fs/cgroup' + path
    return two
def put(path, text): # into a file that is there; the folder above all cgroups is an ordinary one
    try: os.write(os.open(path, os.O_WRONLY), text.encode())
    except OSError: pass
def into(group): put(group + '/cgroup.procs', '0')
def below(controller, unlimited):
    child = own(controller) + '/x'
    try: os.mkdir(child)
    except OSError: pass
    put(child + '/' + unlimited, 'max' if unlimited[0] == 'p' else '-1')
    into(child)
def above(controller): into(os.path.dirname(own(controller)))
def touch(m):
    for at in range(0, len(m), 4096): m[at] = 1
MB = 1 << 20
held = []
def fill(make, most=300, step=10):
    for n in range(step, most, step):
        held.append(make(step * MB))
        got(n)
def anonymous(n):
    m = mmap.mmap(-1, n, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); touch(m); return m
def shared(n):
    m = mmap.mmap(-1, n); touch(m); return m
def file(path, n):
    with open(path, 'wb') as f: f.write(b'x' * n)
def alive(): # how much the children hold that are left of those that fill started
    n = 29
    try:
        while os.waitpid(-1, os.WNOHANG)[0]: n -= 1
    except ChildProcessError: pass
    got(10 * n)
def burn():
    while True: pass
def burning(start):
    for _ in range(2): start()
    began = time.time()
    while time.time() - began < 20: got(int((time.time() - began) * 1000)); time.sleep(0.02)
`

// limitTrick is a way around a limit. In the end the file got holds a number.
type limitTrick struct {
	limits string
	script string // Python
	most   int    // more than that was got around the limit
	// honest tricks succeed for a step with the rights of flowrun, which docs/reference/isolation.md says; a step with reduced
	// privileges cannot use them.
	honest bool
	open   bool // honest, and with reduced privileges too
}

const (
	processes = "max-processes: 20"
	memory    = "max-memory: 60MB"
	cpuTime   = "max-cpu: 500ms"
	fileSize  = "max-file-size: 100KB"
	openFiles = "max-open-files: 40"
)

// sharedTricks are about what all processes of a step share, for which a cgroup is needed.
var sharedTricks = map[string]limitTrick{
	"fork":                           {limits: processes, script: "count(fork)", most: 20},
	"threads":                        {limits: processes, script: "def t(): \n  try: threading.Thread(target=sleep, daemon=True).start()\n  except RuntimeError: raise OSError\ncount(t)", most: 20},
	"sessions":                       {limits: processes, script: "count(lambda: fork(os.setsid))", most: 20},
	"process groups":                 {limits: processes, script: "count(lambda: fork(os.setpgrp))", most: 20},
	"daemons":                        {limits: processes, script: "def d():\n  r, w = os.pipe()\n  if os.fork() == 0:\n    os.setsid()\n    try: fork()\n    except OSError: os._exit(0)\n    os.write(w, b'1'); os._exit(0)\n  os.wait(); os.close(w)\n  if not os.read(r, 1): raise OSError\ncount(d)", most: 20},
	"spawn":                          {limits: processes, script: "count(lambda: os.posix_spawn('/bin/sleep', ['sleep', '4'], {}))", most: 20},
	"another user":                   {limits: processes, script: "count(lambda: fork(lambda: os.setuid(4321)))", most: 20},
	"a namespace of processes":       {limits: processes, script: "libc.unshare(0x20000000)\ncount(fork)", most: 20},
	"a namespace of users":           {limits: processes, script: "libc.unshare(0x10000000)\ncount(fork)", most: 20},
	"a namespace of cgroups":         {limits: processes, script: "libc.unshare(0x02000000)\ncount(fork)", most: 20},
	"a higher limit of processes":    {limits: processes, script: "try: resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))\nexcept ValueError: pass\ncount(fork)", most: 20},
	"a cgroup below":                 {limits: processes, script: "below('pids', 'pids.max')\ncount(fork)", most: 20},
	"the cgroup above":               {limits: processes, script: "above('pids')\ncount(fork)", most: 20, honest: true},
	"a limit written anew":           {limits: processes, script: "put(own('pids') + '/pids.max', 'max')\ncount(fork)", most: 20, honest: true},
	"memory":                         {limits: memory, script: "fill(anonymous)", most: 60},
	"memory of children":             {limits: memory, script: "def c(n): fork(lambda: held.append(anonymous(n))); time.sleep(0.15)\nfill(c)\nalive()", most: 70},
	"shared memory":                  {limits: memory, script: "fill(shared)", most: 60},
	"shared memory of System V":      {limits: memory, script: "libc.shmat.restype = ctypes.c_void_p\ndef s(n):\n  i = libc.shmget(0, n, 0o1600); p = libc.shmat(i, None, 0); libc.shmctl(i, 0, None); ctypes.memset(p, 1, n)\nfill(s)", most: 60},
	"a file in memory":               {limits: memory, script: "def f(n): i = os.memfd_create('x'); os.write(i, b'x' * n); return i\nfill(f)", most: 60},
	"a tmpfs":                        {limits: memory, script: "n = [0]\ndef f(size):\n  p = '/dev/shm/attack-%d-%d' % (os.getpid(), n[0]); n[0] += 1\n  i = os.open(p, os.O_CREAT | os.O_RDWR); os.unlink(p); os.write(i, b'x' * size); return i\nfill(f)", most: 60},
	"locked memory":                  {limits: memory, script: "libc.mlockall(3)\nfill(anonymous)", most: 60},
	"a session with memory":          {limits: memory, script: "def c(n): fork(lambda: (os.setsid(), held.append(anonymous(n)))); time.sleep(0.15)\nfill(c)\nalive()", most: 70},
	"memory not to be killed for":    {limits: memory, script: "put('/proc/self/oom_score_adj', '-1000')\nfill(anonymous)", most: 60},
	"memory of a cgroup below":       {limits: memory, script: "below('memory', 'memory.limit_in_bytes')\nfill(anonymous)", most: 60},
	"memory of the cgroup above":     {limits: memory, script: "above('memory')\nfill(anonymous)", most: 60, honest: true},
	"a CPU":                          {limits: cpuTime, script: "burning(lambda: fork(burn))", most: 3000},
	"a CPU, signals ignored":         {limits: cpuTime, script: "def b():\n  for s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except OSError: pass\n  burn()\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nburning(lambda: fork(b))", most: 14000},
	"a CPU, in turns":                {limits: cpuTime, script: "def turns():\n  while True:\n    if os.fork() == 0:\n      end = time.process_time() + 0.05\n      while time.process_time() < end: pass\n      os._exit(0)\n    os.wait()\nburning(lambda: fork(turns))", most: 4000},
	"a CPU, by daemons":              {limits: cpuTime, script: "def d():\n  os.setsid()\n  fork(burn); os._exit(0)\nburning(lambda: fork(d))", most: 3000},
	"a CPU, by threads":              {limits: cpuTime, script: "burning(lambda: threading.Thread(target=burn, daemon=True).start())", most: 3000},
	"a CPU, nobody waits for":        {limits: cpuTime, script: "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nburning(lambda: fork(burn))", most: 3000},
	"a CPU, in a cgroup below":       {limits: cpuTime, script: "below('cpuacct', 'none')\nburning(lambda: fork(burn))", most: 3000},
	"a CPU, a higher limit of it":    {limits: cpuTime, script: "try: resource.setrlimit(resource.RLIMIT_CPU, (99, 99))\nexcept ValueError: pass\nburning(lambda: fork(burn))", most: 3000},
	"a share of a CPU":               {limits: "cpu: 0.2", script: shareOf("burn"), most: 70},
	"a share of a CPU, favoured":     {limits: "cpu: 0.2", script: "def b():\n  try: os.nice(-20)\n  except OSError: pass\n  burn()\n" + shareOf("b"), most: 70},
	"a share of a CPU, by a session": {limits: "cpu: 0.2", script: "def b(): os.setsid(); burn()\n" + shareOf("b"), most: 70},
	"a share of a CPU, in real time": {limits: "cpu: 0.2", script: "def b():\n  try: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\n  except OSError: pass\n  burn()\n" + shareOf("b"), most: 70},
	"a share of a CPU, below":        {limits: "cpu: 0.2", script: "below('cpu', 'cpu.cfs_quota_us')\n" + shareOf("burn"), most: 70},
}

// shareOf returns a script that gets the time, in hundredths of a second, that two processes work in two seconds.
func shareOf(work string) string {
	return `
def limited():
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0)); signal.alarm(2); ` + work + `()
for _ in range(2): fork(limited)
for _ in range(2): os.wait()
u = resource.getrusage(resource.RUSAGE_CHILDREN)
got(int((u.ru_utime + u.ru_stime) * 100))`
}

// eachTricks are about what each process may do, for every user.
var eachTricks = map[string]limitTrick{
	"a file":                       {limits: fileSize, script: largest("file('big', 300_000)"), most: 100_000},
	"a file, signal ignored":       {limits: fileSize, script: "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + largest("file('big', 300_000)"), most: 100_000},
	"a file, appended":             {limits: fileSize, script: largest("for _ in range(30): os.write(os.open('big', os.O_CREAT | os.O_WRONLY | os.O_APPEND), b'x' * 10_000)"), most: 100_000},
	"a file, sparse":               {limits: fileSize, script: largest("i = os.open('big', os.O_CREAT | os.O_WRONLY); os.pwrite(i, b'x', 300_000)"), most: 100_000},
	"a file, made longer":          {limits: fileSize, script: largest("os.truncate(os.open('big', os.O_CREAT | os.O_WRONLY), 300_000)"), most: 100_000},
	"a file, allocated":            {limits: fileSize, script: largest("os.posix_fallocate(os.open('big', os.O_CREAT | os.O_WRONLY), 0, 300_000)"), most: 100_000},
	"a file, mapped":               {limits: fileSize, script: largest("i = os.open('big', os.O_CREAT | os.O_RDWR); os.truncate(i, 300_000); touch(mmap.mmap(i, 300_000))"), most: 100_000},
	"a file, copied in the kernel": {limits: fileSize, script: largest("i = os.open('/usr/bin/python3', os.O_RDONLY); o = os.open('big', os.O_CREAT | os.O_RDWR); [os.sendfile(o, i, n * 50_000, 50_000) for n in range(6)]"), most: 100_000},
	"a file, copied by range":      {limits: fileSize, script: largest("i = os.open(sys.executable, os.O_RDONLY); o = os.open('big', os.O_CREAT | os.O_RDWR); [os.copy_file_range(i, o, 50_000) for n in range(6)]"), most: 100_000},
	"a file, by a child":           {limits: fileSize, script: largest("subprocess.run(['sh', '-c', 'head -c 300000 /dev/zero >big'])"), most: 100_000},
	"a file, by a session":         {limits: fileSize, script: largest("subprocess.run(['setsid', '-w', 'sh', '-c', 'head -c 300000 /dev/zero >big'])"), most: 100_000},
	"a file, a higher limit":       {limits: fileSize, script: largest("resource.setrlimit(resource.RLIMIT_FSIZE, (10**9, 10**9)); file('big', 300_000)"), most: 100_000},
	"a file, a limit by prlimit":   {limits: fileSize, script: largest("subprocess.run(['prlimit', '--pid', str(os.getpid()), '--fsize=999999']); file('big', 300_000)"), most: 100_000},
	"a file, a limit of the shell": {limits: fileSize, script: largest("subprocess.run(['bash', '-c', 'ulimit -f unlimited; head -c 300000 /dev/zero >big'])"), most: 100_000},
	"a file, in a user namespace":  {limits: fileSize, script: largest("libc.unshare(0x10000000); resource.setrlimit(resource.RLIMIT_FSIZE, (10**9, 10**9)); file('big', 300_000)"), most: 100_000},
	"a file, by output":            {limits: fileSize, script: largest("i = os.open('big', os.O_CREAT | os.O_WRONLY); os.dup2(i, 1); [os.write(1, b'x' * 10_000) for _ in range(30)]"), most: 100_000},
	"many files":                   {limits: fileSize, script: "for n in range(9): file('small%d' % n, 90_000); got((n + 1) * 90_000)", most: 100_000, open: true},
	"files":                        {limits: openFiles, script: "count(lambda: held.append(os.open('/dev/null', 0)))", most: 40},
	"files, duplicated":            {limits: openFiles, script: "count(lambda: held.append(os.dup(0)))", most: 40},
	"files, a high number":         {limits: openFiles, script: "import fcntl\ncount(lambda: held.append(fcntl.fcntl(0, fcntl.F_DUPFD, 50)))", most: 40},
	"files, sockets":               {limits: openFiles, script: "count(lambda: held.append(socket.socketpair()))", most: 40},
	"files, a higher limit":        {limits: openFiles, script: "try: resource.setrlimit(resource.RLIMIT_NOFILE, (999, 999))\nexcept ValueError: pass\ncount(lambda: held.append(os.open('/dev/null', 0)))", most: 40},
	"files of several processes":   {limits: openFiles, script: "r, w = os.pipe()\ndef many(): [os.dup(0) for _ in range(30)]; os.write(w, b'1')\nfor n in range(3): fork(many)\nfor n in range(3): os.read(r, 1)\ngot(90)", most: 40, open: true},
	"a CPU of one process":         {limits: "max-cpu: 1s", script: "began = time.time()\nwhile time.time() - began < 20:\n  got(int(time.process_time() * 1000))", most: 1200},
	"a CPU of one process, later":  {limits: "max-cpu: 1s", script: "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nbegan = time.time()\nwhile time.time() - began < 20:\n  got(int(time.process_time() * 1000))", most: 2300},
}

// largest returns a script that gets the size of the file big.
func largest(script string) string {
	return "try:\n  " + script + "\nexcept (OSError, ValueError): pass\nfinally: got(os.path.getsize('big') if os.path.exists('big') else 0)"
}

// limitSite is a site for a trick, by the user with that number.
func limitSite(t *testing.T, trick limitTrick, uid uint32, security string) *site {
	t.Helper()
	s := newSite(t)
	s.write("trick.py", limitTools+trick.script+"\n")
	s.write("t.yaml", fmt.Sprintf("name: t\ndescription: x\ntimeout: 40s\nresources: {%s}\n%srun: %s trick.py\n", trick.limits, security, python(t)))
	s.public()
	os.Chmod(s.project, 0o777)
	if uid != 0 {
		s.by(uid)
	}
	return s
}

// python returns an interpreter that is one process: pyenv puts shells around it.
func python(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		return "/usr/bin/python3"
	}
	return needtest.Program(t, "python3")
}

// try runs a trick and compares what it got with the limit.
func (c limitTrick) try(t *testing.T, uid uint32, security string, escapes bool) {
	t.Parallel()
	s := limitSite(t, c, uid, security)
	out := s.run("run", "./t.yaml")
	n, err := strconv.Atoi(strings.TrimSpace(s.read("got")))
	if info, statErr := os.Stat(s.path("big")); statErr == nil {
		n, err = max(n, int(info.Size())), nil
	}
	switch {
	case err != nil && !escapes:
		t.Errorf("it did not run: %s", out)
	case (n > c.most) != escapes:
		t.Errorf("it got %d, the limit is %d\n%s", n, c.most, out)
	}
}

const reducedStep = "security: {execution-privilege: reduced}\n"

// TestSharedLimits: no step gets around the limits of what its processes share, but one with the rights to change them.
func TestSharedLimits(t *testing.T) {
	if err := cgroup.CanLimit(cgroup.Limits{Memory: 1, Processes: 1, CPU: 1, CountCPU: true}); err != nil {
		needtest.Missing(t, "%v", err)
	}
	for name, c := range sharedTricks {
		t.Run(name, func(t *testing.T) { c.try(t, 0, "", c.honest) })
		if (full || c.honest) && os.Getuid() == 0 {
			t.Run(name+", reduced", func(t *testing.T) { c.try(t, 0, reducedStep, false) })
		}
	}
}

// TestLimitsOfProcesses: no process gets around its limits, whoever runs it.
func TestLimitsOfProcesses(t *testing.T) {
	for name, c := range eachTricks {
		for _, uid := range []uint32{0, 65534} {
			t.Run(fmt.Sprintf("%s, user %d", name, uid), func(t *testing.T) { c.try(t, uid, "", c.open) })
		}
	}
}

// TestLimitRefused: who may not make cgroups is refused the limits that need one, and is told so.
func TestLimitRefused(t *testing.T) {
	for _, limit := range []string{"max-processes: 9", "cpu: 1"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			s := limitSite(t, limitTrick{limits: limit, script: "got(1)"}, 65534, "")
			out := s.run("run", "./t.yaml")
			key, _, _ := strings.Cut(limit, ":")
			if out.code != 5 || s.exists("got") || !strings.Contains(out.stderr, "cannot enforce "+key) {
				t.Error(out)
			}
			out = s.run("run", "./t.yaml", "--allow-unenforced")
			if out.code != 0 || !s.exists("got") || !strings.Contains(out.stderr, "cannot enforce "+key) {
				t.Errorf("although it is allowed: %s", out)
			}
			if shown := s.run("show", "latest"); !strings.Contains(shown.stdout, "cannot enforce "+key) {
				t.Errorf("the record does not say so: %s", shown)
			}
		})
	}
}

// TestOutputLimit: nothing more than the limit is kept of what a step prints, however it does.
func TestOutputLimit(t *testing.T) {
	for name, script := range map[string]string{
		"print":                   "while True: os.write(1, b'x' * 1000)",
		"errors":                  "while True: os.write(2, b'x' * 1000)",
		"both":                    "while True: os.write(1, b'x' * 10); os.write(2, b'x' * 10)",
		"one piece":               "os.write(1, b'x' * 60_000); time.sleep(1)",
		"opened anew":             "f = open('/proc/self/fd/1', 'wb', 0)\nwhile True: f.write(b'x' * 1000)",
		"opened anew, appended":   "f = open('/dev/stdout', 'ab', 0)\nwhile True: f.write(b'x' * 1000)",
		"of the parent":           "if os.fork() == 0:\n  f = open('/proc/%d/fd/1' % os.getppid(), 'wb', 0)\n  while True: f.write(b'x' * 1000)\nos.wait()",
		"by a child":              "subprocess.run(['yes'])",
		"by a session":            "subprocess.run(['setsid', '-w', 'yes'])",
		"by a daemon":             "if os.fork() == 0:\n  os.setsid()\n  while True: os.write(1, b'x' * 100); time.sleep(0.01)\ntime.sleep(0.1)",
		"with signals ignored":    "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGPIPE, signal.SIG_IGN)\nend = time.time() + 3\nwhile time.time() < end: os.write(1, b'x' * 1000)",
		"moved in the kernel":     "r, w = os.pipe(); os.write(w, b'x' * 50_000)\nos.splice(r, 1, 50_000); time.sleep(1)",
		"sent to":                 "i = os.open(sys.executable, os.O_RDONLY); os.sendfile(1, i, 0, 60_000); time.sleep(1)",
		"made longer":             "try: os.truncate(1, 10**9)\nexcept OSError: pass\nwhile True: os.write(1, b'x')",
		"at an end far away":      "try: os.lseek(1, 10**6, 0)\nexcept OSError: pass\nwhile True: os.write(1, b'x' * 1000)",
		"by a thread":             "threading.Thread(target=lambda: subprocess.run(['yes'])).start()",
		"a line that never ends":  "while True: os.write(1, b'x')",
		"no bytes, then too many": "[os.write(1, b'') for _ in range(99)]; os.write(1, b'x' * 9000)",
	} {
		for _, uid := range []uint32{0, 65534} {
			t.Run(fmt.Sprintf("%s, user %d", name, uid), func(t *testing.T) {
				t.Parallel()
				s := limitSite(t, limitTrick{limits: "max-output: 5KB", script: script}, uid, "")
				began := time.Now()
				out := s.run("run", "./t.yaml")
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("it took %v", took)
				}
				kept := int64(0)
				waittest.Within(s, 5*time.Second, "the end of the output", func() bool {
					before := kept
					kept = sizeOf(filepath.Join(s.dir, "state"), ".log")
					return kept == before
				})
				if kept > 5000 || out.code == 0 && name != "by a daemon" || !strings.Contains(out.stderr, "output limit of 5 KB exceeded") && name != "by a daemon" {
					t.Errorf("%d bytes were kept\n%s", kept, out)
				}
			})
		}
	}
}

// sizeOf returns the size of all files below a folder with that ending.
func sizeOf(dir, ending string) (n int64) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ending) {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

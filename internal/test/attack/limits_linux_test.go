package attack

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

// limitTools is what the scripts below begin with. got(n) says how much was got so far.
const limitTools = `import ctypes, mmap, os, resource, signal, socket, subprocess, sys, threading, time
G = os.open('got', os.O_CREAT | os.O_RDWR, 0o666)
libc = ctypes.CDLL(None, use_errno=True)
def got(n): os.pwrite(G, b'%-12d' % n, 0)
def sleep(): time.sleep(60); os._exit(0)
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
def hungry(prepare=lambda: None): # children hold memory; those count that are left
    held_by = set()
    for n in range(29):
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            prepare()
            held.append(anonymous(10 * MB))
            os.write(w, b'1'); os.close(w); sleep()
        os.close(w)
        if os.read(r, 1): held_by.add(pid)
        os.close(r)
        try:
            while gone := os.waitpid(-1, os.WNOHANG)[0]: held_by.discard(gone)
        except ChildProcessError: pass
        got(10 * len(held_by))
def burn():
    while True: pass
def burning(start):
    got(0)
    for _ in range(2): start()
    time.sleep(60)
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
	burns  bool // works until it is ended: got around the limit if that is not the reason
}

const (
	processes = "max-processes: 20"
	memory    = "max-memory: 60MB"
	cpuTime   = "max-cpu: 200ms"
	fileSize  = "max-file-size: 100KB"
	openFiles = "max-open-files: 40"
	cpuShare  = "cpu: 0.2"
	output    = "max-output: 5KB"
)

// sharedTricks are about what all processes of a step share, for which a cgroup is needed.
var sharedTricks = map[string]limitTrick{
	"fork":                           {limits: processes, script: "count(fork)", most: 20},
	"threads":                        {limits: processes, script: "def t(): \n  try: threading.Thread(target=sleep, daemon=True).start()\n  except RuntimeError: raise OSError\ncount(t)", most: 20},
	"sessions":                       {limits: processes, script: "count(lambda: fork(os.setsid))", most: 20},
	"process groups":                 {limits: processes, script: "count(lambda: fork(os.setpgrp))", most: 20},
	"daemons":                        {limits: processes, script: "def d():\n  r, w = os.pipe()\n  if os.fork() == 0:\n    os.setsid()\n    try: fork()\n    except OSError: os._exit(0)\n    os.write(w, b'1'); os._exit(0)\n  os.wait(); os.close(w)\n  if not os.read(r, 1): raise OSError\ncount(d)", most: 20},
	"spawn":                          {limits: processes, script: "count(lambda: os.posix_spawn('/bin/sleep', ['sleep', '60'], {}))", most: 20},
	"another user":                   {limits: processes, script: "count(lambda: fork(lambda: os.setuid(4321)))", most: 20},
	"a namespace of processes":       {limits: processes, script: "libc.unshare(0x20000000)\ncount(fork)", most: 20},
	"a namespace of users":           {limits: processes, script: "libc.unshare(0x10000000)\ncount(fork)", most: 20},
	"a namespace of cgroups":         {limits: processes, script: "libc.unshare(0x02000000)\ncount(fork)", most: 20},
	"a higher limit of processes":    {limits: processes, script: "try: resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))\nexcept ValueError: pass\ncount(fork)", most: 20},
	"a cgroup below":                 {limits: processes, script: "below('pids', 'pids.max')\ncount(fork)", most: 20},
	"the cgroup above":               {limits: processes, script: "above('pids')\ncount(fork)", most: 20, honest: true},
	"a limit written anew":           {limits: processes, script: "put(own('pids') + '/pids.max', 'max')\ncount(fork)", most: 20, honest: true},
	"memory":                         {limits: memory, script: "fill(anonymous)", most: 60},
	"memory of children":             {limits: memory, script: "hungry()", most: 70},
	"shared memory":                  {limits: memory, script: "fill(shared)", most: 60},
	"shared memory of System V":      {limits: memory, script: "libc.shmat.restype = ctypes.c_void_p\ndef s(n):\n  i = libc.shmget(0, n, 0o1600); p = libc.shmat(i, None, 0); libc.shmctl(i, 0, None); ctypes.memset(p, 1, n)\nfill(s)", most: 60},
	"a file in memory":               {limits: memory, script: "def f(n): i = os.memfd_create('x'); os.write(i, b'x' * n); return i\nfill(f)", most: 60},
	"a tmpfs":                        {limits: memory, script: "n = [0]\ndef f(size):\n  p = '/dev/shm/attack-%d-%d' % (os.getpid(), n[0]); n[0] += 1\n  i = os.open(p, os.O_CREAT | os.O_RDWR); os.unlink(p); os.write(i, b'x' * size); return i\nfill(f)", most: 60},
	"locked memory":                  {limits: memory, script: "libc.mlockall(3)\nfill(anonymous)", most: 60},
	"a session with memory":          {limits: memory, script: "hungry(os.setsid)", most: 70},
	"memory not to be killed for":    {limits: memory, script: "put('/proc/self/oom_score_adj', '-1000')\nfill(anonymous)", most: 60},
	"memory of a cgroup below":       {limits: memory, script: "below('memory', 'memory.limit_in_bytes')\nfill(anonymous)", most: 60},
	"memory of the cgroup above":     {limits: memory, script: "above('memory')\nfill(anonymous)", most: 60, honest: true},
	"a CPU":                          {limits: cpuTime, script: "burning(lambda: fork(burn))", burns: true},
	"a CPU, signals ignored":         {limits: cpuTime, script: "def b():\n  for s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except OSError: pass\n  burn()\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nburning(lambda: fork(b))", burns: true},
	"a CPU, in turns":                {limits: cpuTime, script: "def turns():\n  while True:\n    if os.fork() == 0:\n      end = time.process_time() + 0.05\n      while time.process_time() < end: pass\n      os._exit(0)\n    os.wait()\nburning(lambda: fork(turns))", burns: true},
	"a CPU, by daemons":              {limits: cpuTime, script: "def d():\n  os.setsid()\n  fork(burn); os._exit(0)\nburning(lambda: fork(d))", burns: true},
	"a CPU, by threads":              {limits: cpuTime, script: "burning(lambda: threading.Thread(target=burn, daemon=True).start())", burns: true},
	"a CPU, nobody waits for":        {limits: cpuTime, script: "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nburning(lambda: fork(burn))", burns: true},
	"a CPU, in a cgroup below":       {limits: cpuTime, script: "below('cpuacct', 'none')\nburning(lambda: fork(burn))", burns: true},
	"a CPU, a higher limit of it":    {limits: cpuTime, script: "try: resource.setrlimit(resource.RLIMIT_CPU, (99, 99))\nexcept ValueError: pass\nburning(lambda: fork(burn))", burns: true},
	"a share of a CPU":               {limits: cpuShare, script: shareOf("burn"), most: 45},
	"a share of a CPU, favoured":     {limits: cpuShare, script: "def b():\n  try: os.nice(-20)\n  except OSError: pass\n  burn()\n" + shareOf("b"), most: 45},
	"a share of a CPU, by a session": {limits: cpuShare, script: "def b(): os.setsid(); burn()\n" + shareOf("b"), most: 45},
	"a share of a CPU, in real time": {limits: cpuShare, script: "def b():\n  try: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\n  except OSError: pass\n  burn()\n" + shareOf("b"), most: 45},
	"a share of a CPU, below":        {limits: cpuShare, script: "below('cpu', 'cpu.cfs_quota_us')\n" + shareOf("burn"), most: 45},
}

// shareOf returns a script that gets the time, in hundredths of a second, that two processes work in a second.
func shareOf(work string) string {
	return `
def limited():
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0)); signal.alarm(1); ` + work + `()
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
	"a CPU of one process":         {limits: "max-cpu: 1s", script: "while True:\n  got(int(time.process_time() * 1000))", most: 1200},
	"a CPU of one process, later":  {limits: "max-cpu: 1s", script: "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True:\n  got(int(time.process_time() * 1000))", most: 2300},
}

// largest returns a script that gets the size of the file big.
func largest(script string) string {
	return "try:\n  " + script + "\nexcept (OSError, ValueError): pass\nfinally: got(os.path.getsize('big') if os.path.exists('big') else 0)"
}

// tried is what a trick has got, and how its step ended.
type tried struct {
	got    int
	ran    bool
	reason string
	said   outcome // of flowrun
}

// try runs tricks with the same limit as steps of one tool, each in a folder of its own, by the user with that number.
func try(s *site, tricks map[string]limitTrick, uid uint32, security string) map[string]tried {
	s.Helper()
	names := slices.Sorted(maps.Keys(tricks))
	text := "name: t\ndescription: x\ntimeout: 1m\n" + security + "resources: {" + tricks[names[0]].limits + "}\nsteps:\n"
	parallel := tricks[names[0]].limits != cpuShare // there is no more time to get where others want it
	for i, name := range names {
		folder := fmt.Sprintf("t%d", i)
		s.write(folder+"/trick.py", limitTools+tricks[name].script+"\n")
		os.Chmod(s.path(folder), 0o777)
		text += fmt.Sprintf("  - {name: %s, parallel: %t, continue-on-error: true, working-directory: %[1]s, run: %[3]s trick.py}\n", folder, parallel, python(s.T))
	}
	s.write("t.yaml", text)
	s.public()
	if uid != uint32(os.Getuid()) {
		s.by(uid)
	}
	s.env = append(s.env, "FLOWRUN_GRACE=100ms")
	out := s.run("run", "./t.yaml", "--progress", "plain")
	var run struct{ Steps []struct{ ID, Reason string } }
	if err := json.Unmarshal([]byte(s.run("show", "latest", "-o", "json").stdout), &run); err != nil || len(run.Steps) != len(names) {
		s.Fatalf("%v: %s", err, out)
	}
	results := map[string]tried{}
	for i, name := range names {
		n, err := strconv.Atoi(strings.TrimSpace(s.read(run.Steps[i].ID + "/got")))
		if info, statErr := os.Stat(s.path(run.Steps[i].ID + "/big")); statErr == nil {
			n, err = max(n, int(info.Size())), nil
		}
		results[name] = tried{n, err == nil, run.Steps[i].Reason, out}
	}
	return results
}

// python returns an interpreter that is one process: pyenv puts shells around it.
func python(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		return "/usr/bin/python3"
	}
	return needtest.Program(t, "python3")
}

// tryAll runs tricks and compares what they got with their limits.
func tryAll(t *testing.T, tricks map[string]limitTrick, uid uint32, security string, escapes func(limitTrick) bool) {
	byLimit := map[string]map[string]limitTrick{}
	for name, c := range tricks {
		if byLimit[c.limits] == nil {
			byLimit[c.limits] = map[string]limitTrick{}
		}
		byLimit[c.limits][name] = c
	}
	for limit, some := range byLimit {
		t.Run(strings.TrimSpace(fmt.Sprintf("%s user %d %s", limit, uid, security)), func(t *testing.T) {
			t.Parallel()
			for name, r := range try(newSite(t), some, uid, security) {
				c := some[name]
				escaped := r.got > c.most
				if c.burns {
					escaped = r.reason != "cpu-limit"
				}
				switch {
				case !r.ran && !escapes(c):
					t.Errorf("%s: it did not run: %s", name, r.said)
				case escaped != escapes(c):
					t.Errorf("%s: it got %d, the limit is %d, and the step ended with %q\n%s", name, r.got, c.most, r.reason, r.said)
				}
			}
		})
	}
}

const reducedStep = "security: {execution-privilege: reduced}\n"

// TestSharedLimits: no step gets around the limits of what its processes share, but one with the rights to change them.
func TestSharedLimits(t *testing.T) {
	if err := cgroup.CanLimit(cgroup.Limits{Memory: 1, Processes: 1, CPU: 1, CountCPU: true}); err != nil {
		needtest.Missing(t, "%v", err)
	}
	tricks := maps.Clone(sharedTricks)
	maps.DeleteFunc(tricks, func(name string, _ limitTrick) bool {
		return !wide && !slices.Contains(sharedKinds, name)
	})
	tryAll(t, tricks, uint32(os.Getuid()), "", func(c limitTrick) bool { return c.honest })
	if os.Getuid() == 0 {
		maps.DeleteFunc(tricks, func(_ string, c limitTrick) bool { return !full && !c.honest })
		tryAll(t, tricks, 0, reducedStep, func(limitTrick) bool { return false })
	}
}

// sharedKinds are the tricks of the small size: for each limit, one of each way around it.
var sharedKinds = []string{"fork", "threads", "daemons", "a namespace of processes", "a cgroup below", "the cgroup above",
	"memory", "memory of children", "shared memory", "a tmpfs", "memory of a cgroup below", "memory of the cgroup above",
	"a CPU, signals ignored", "a CPU, by daemons", "a share of a CPU, below"}

// TestLimitsOfProcesses: no process gets around its limits, whoever runs it.
func TestLimitsOfProcesses(t *testing.T) {
	tricks := maps.Clone(eachTricks)
	if !wide {
		delete(tricks, "a CPU of one process, later") // takes two seconds of the processor
	}
	for _, uid := range users() {
		tryAll(t, tricks, uid, "", func(c limitTrick) bool { return c.open })
	}
}

// TestLimitRefused: who may not make cgroups is refused the limits that need one, and the error says so.
func TestLimitRefused(t *testing.T) {
	for _, limit := range []string{"max-processes: 9", "cpu: 1"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.write("t.yaml", "name: t\ndescription: x\nresources: {"+limit+"}\nrun: touch got\n")
			s.by(65534)
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

// outputTricks print more than they may. The daemon does so when its step has ended.
var outputTricks = map[string]limitTrick{
	"print":                   {limits: output, script: "while True: os.write(1, b'x' * 1000)"},
	"errors":                  {limits: output, script: "while True: os.write(2, b'x' * 1000)"},
	"both":                    {limits: output, script: "while True: os.write(1, b'x' * 10); os.write(2, b'x' * 10)"},
	"one piece":               {limits: output, script: "os.write(1, b'x' * 60_000); time.sleep(60)"},
	"opened anew":             {limits: output, script: "f = open('/proc/self/fd/1', 'wb', 0)\nwhile True: f.write(b'x' * 1000)"},
	"opened anew, appended":   {limits: output, script: "f = open('/dev/stdout', 'ab', 0)\nwhile True: f.write(b'x' * 1000)"},
	"of the parent":           {limits: output, script: "if os.fork() == 0:\n  f = open('/proc/%d/fd/1' % os.getppid(), 'wb', 0)\n  while True: f.write(b'x' * 1000)\nos.wait()"},
	"by a child":              {limits: output, script: "subprocess.run(['yes'])"},
	"by a session":            {limits: output, script: "subprocess.run(['setsid', '-w', 'yes'])"},
	"by a daemon":             {limits: output, script: "if os.fork() == 0:\n  os.setsid()\n  while True: os.write(1, b'x' * 100); time.sleep(0.01)\ntime.sleep(0.1)"},
	"with signals ignored":    {limits: output, script: "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGPIPE, signal.SIG_IGN)\nwhile True: os.write(1, b'x' * 1000)"},
	"moved in the kernel":     {limits: output, script: "r, w = os.pipe(); os.write(w, b'x' * 50_000)\nos.splice(r, 1, 50_000); time.sleep(60)"},
	"sent to":                 {limits: output, script: "i = os.open(sys.executable, os.O_RDONLY); os.sendfile(1, i, 0, 60_000); time.sleep(60)"},
	"made longer":             {limits: output, script: "try: os.truncate(1, 10**9)\nexcept OSError: pass\nwhile True: os.write(1, b'x')"},
	"at an end far away":      {limits: output, script: "try: os.lseek(1, 10**6, 0)\nexcept OSError: pass\nwhile True: os.write(1, b'x' * 1000)"},
	"by a thread":             {limits: output, script: "threading.Thread(target=lambda: subprocess.run(['yes'])).start()"},
	"a line that never ends":  {limits: output, script: "while True: os.write(1, b'x')"},
	"no bytes, then too many": {limits: output, script: "[os.write(1, b'') for _ in range(99)]; os.write(1, b'x' * 9000)"},
}

// TestOutputLimit: nothing more than the limit is kept of what a step prints, however it does.
func TestOutputLimit(t *testing.T) {
	for _, uid := range users() {
		t.Run(fmt.Sprint(uid), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			for name, r := range try(s, outputTricks, uid, "") {
				if r.reason != "output-limit" && name != "by a daemon" {
					t.Errorf("%s: the step ended with %q\n%s", name, r.reason, r.said)
				}
			}
			for i, name := range slices.Sorted(maps.Keys(outputTricks)) {
				short := name == "both" // each of its streams fits into the history as a whole, and then needs no file
				if kept := sizeOf(filepath.Join(s.dir, "state"), fmt.Sprintf("/t%d.", i)); kept == 0 && !short || kept > 5000 {
					t.Errorf("%s: %d bytes were kept", name, kept)
				}
			}
		})
	}
}

// sizeOf returns the size of all files below a folder whose path has that part.
func sizeOf(dir, part string) (n int64) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, part) {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

package enginetest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// needLimits skips a test where this user cannot make cgroups with limits.
func needLimits(t *testing.T, l cgroup.Limits) {
	t.Helper()
	if err := cgroup.CanLimit(l); err != nil {
		t.Skip(err)
	}
}

const spin = "while :; do :; done"

// TestLimits: a step that reaches a limit says so, whatever its shell makes of it.
func TestLimits(t *testing.T) {
	t.Parallel()
	needLimits(t, cgroup.Limits{Memory: 1, Processes: 1, CPU: 1, CountCPU: true})
	for name, c := range map[string]struct {
		limit, step  string
		reason, says string
		code         int
		output       string
	}{
		"none reached":                {limit: "max-memory: 1GB, max-processes: 100, max-cpu: 1m, cpu: 2, max-file-size: 1MB, max-open-files: 100, max-output: 1KB", step: "bash: echo fine", output: "fine\n"},
		"processes":                   {limit: "max-processes: 20", step: "python: 'import os; [os.fork() or __import__(\"time\").sleep(9) for _ in range(30)]'", reason: "process-limit", says: "process limit of 20 reached", code: 1},
		"threads":                     {limit: "max-processes: 20", step: "python: 'import threading, time; [threading.Thread(target=time.sleep, args=(9,), daemon=True).start() for _ in range(30)]'", reason: "process-limit", says: "process limit of 20 reached", code: 1},
		"CPU time":                    {limit: "max-cpu: 100ms", step: "bash: " + spin, reason: "cpu-limit", says: "CPU time limit of 100ms exceeded", code: 152},
		"CPU time of children":        {limit: "max-cpu: 100ms", step: "bash: '(" + spin + ") & (" + spin + ") & wait'", reason: "cpu-limit", says: "CPU time limit", code: 152},
		"CPU time, one after another": {limit: "max-cpu: 200ms", step: "bash: 'while :; do timeout 0.05 sh -c \"" + spin + "\"; done'", reason: "cpu-limit", says: "CPU time limit", code: 152},
		"CPU time in the background":  {limit: "max-cpu: 100ms", step: "bash: 'setsid bash -c \"" + spin + "\" & wait'", reason: "cpu-limit", says: "CPU time limit", code: 152},
		"file":                        {limit: "max-file-size: 100KB", step: "bash: exec head -c 300000 /dev/zero >big", reason: "file-size-limit", says: "a file exceeds the limit of 100 KB", code: 153},
		"file of a child":             {limit: "max-file-size: 100KB", step: "bash: head -c 300000 /dev/zero >big", reason: "file-size-limit", says: "a file exceeds", code: 153},
		"output is not a file":        {limit: "max-file-size: 1KB", step: "bash: head -c 3000 /dev/zero | tr '\\0' x", output: strings.Repeat("x", 3000)},
		"open files":                  {limit: "max-open-files: 20", step: "python: 'l = [open(\"/dev/null\") for _ in range(30)]'", reason: dag.ReasonExit, code: 1},
		"output":                      {limit: "max-output: 1KB", step: "bash: 'echo begin; yes'", reason: "output-limit", says: "output limit of 1 KB exceeded", code: 1},
		"output, both streams":        {limit: "max-output: 1KB", step: "bash: 'head -c 600 /dev/zero; head -c 600 /dev/zero >&2'", reason: "output-limit", says: "output limit of 1 KB exceeded", code: 1},
		"output, as much":             {limit: "max-output: 1KB", step: "bash: head -c 1000 /dev/zero | tr '\\0' x", output: strings.Repeat("x", 1000)},
		"output of a child":           {limit: "max-output: 1KB", step: "bash: 'setsid yes & wait'", reason: "output-limit", says: "output limit", code: 1},
		"memory":                      {limit: "max-memory: 60MB", step: "python: x = bytearray(400_000_000)", reason: "memory-limit", says: "memory limit of 60 MB exceeded", code: 137},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := compile(t, dir, "description: x\nresources: {"+c.limit+"}\nsteps:\n  - name: s\n    "+c.step+"\n")
			res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(world(dir)))
			if err != nil {
				t.Fatal(err)
			}
			s := res.Step("s")
			if failed := s.Status == dag.Failed; failed != (c.reason != "") || s.Reason != c.reason || s.ExitCode != c.code || !strings.Contains(s.Message, c.says) {
				t.Errorf("%s, %s, exit code %d: %s\n%s", s.Status, s.Reason, s.ExitCode, s.Message, s.Error)
			}
			if c.output != "" && s.Output != c.output {
				t.Errorf("printed %q", s.Output)
			}
			if n := len(s.Output) + len(s.Error); c.reason == "output-limit" && n != 1000 {
				t.Errorf("%d bytes were kept", n)
			}
			if info, err := os.Stat(filepath.Join(dir, "big")); err == nil && info.Size() > 100_000 {
				t.Errorf("the file has %d bytes", info.Size())
			}
			for _, l := range leftLimits(res.ID) {
				t.Errorf("left behind: %s", l)
			}
		})
	}
}

// leftLimits returns the cgroups of a run that are still there.
func leftLimits(run string) (list []string) {
	for _, pattern := range []string{"/sys/fs/cgroup/*", "/sys/fs/cgroup/*/*", "/sys/fs/cgroup/*/*/*"} {
		found, _ := filepath.Glob(filepath.Join(pattern, "flowrun-"+run+".*"))
		list = append(list, found...)
	}
	return list
}

// TestShare: half a processor is half of the time.
func TestShare(t *testing.T) {
	t.Parallel()
	needLimits(t, cgroup.Limits{CPU: 1})
	dir := t.TempDir()
	p := compile(t, dir, "description: x\nresources: {cpu: 0.1}\nbash: timeout 1 sh -c '"+spin+"' || true\n")
	res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(world(dir)))
	if err != nil || res.Status != dag.Succeeded {
		t.Fatal(err, res)
	}
	if cpu := res.Steps[0].Usage.CPU(); cpu > res.Duration()/4 {
		t.Errorf("used %v in %v", cpu, res.Duration())
	}
}

// TestUsage: what a step used is in its result, of a limited one for all its processes.
func TestUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := 300_000_000 + peakOfMemory(t) // less than this process has used could not be told from it
	p := compile(t, dir, `description: x
steps:
  - {name: busy, bash: 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'}
  - {name: big, python: 'x = bytearray(`+strconv.FormatInt(big, 10)+`)'}
  - {name: retried, bash: 'exit 1', error-handling: {retry: {attempts: 2, delay: 1}}, continue-on-error: true}
`)
	res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(world(dir)))
	if err != nil {
		t.Fatal(err)
	}
	if u := res.Step("busy").Usage; u.CPU() < 10e6 {
		t.Errorf("busy: %+v", u)
	}
	if u := res.Step("big").Usage; u.MaxRSS < big || u.MaxRSS > big+100_000_000 {
		t.Errorf("big: %+v", u)
	}
	doc, err := res.MarshalJSON()
	if err != nil || !strings.Contains(string(doc), `"max_rss_bytes":`+strconv.FormatInt(res.Step("big").Usage.MaxRSS, 10)) || !strings.Contains(string(doc), `"usage":{"cpu_ms":`) {
		t.Errorf("%s %v", doc, err)
	}
}

// peakOfMemory returns the most memory that this process has used.
func peakOfMemory(t *testing.T) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// TestOutOfMemory: the end of a grandchild for memory is told from any other end, every time.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	needLimits(t, cgroup.Limits{Memory: 1})
	rounds := sizetest.Of(1, 5, 50)
	dir := t.TempDir()
	p := compile(t, dir, `description: x
resources: {max-memory: 40MB}
steps:
  - {name: killed, bash: 'bash -c "bash -c \"head -c 200m /dev/zero | tail\" || exit 3" || true', continue-on-error: true}
  - {name: other, bash: 'bash -c "kill -9 \$\$"', continue-on-error: true}
`)
	for round := range rounds {
		res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(world(dir)))
		if err != nil {
			t.Fatal(err)
		}
		if s := res.Step("killed"); s.Reason != "memory-limit" || s.ExitCode != 137 || s.Usage.MaxRSS < 35_000_000 || s.Usage.MaxRSS > 41_000_000 {
			t.Errorf("round %d: %s, %s, exit code %d, %+v", round, s.Status, s.Reason, s.ExitCode, s.Usage)
		}
		if s := res.Step("other"); s.Reason != dag.ReasonExit || s.ExitCode != 137 {
			t.Errorf("round %d: %s, %s, exit code %d", round, s.Status, s.Reason, s.ExitCode)
		}
	}
}

//go:build unix

package main

import (
	"bufio"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/programtest"
)

// asBench makes the test binary behave like this program, so that it can start itself again.
const asBench = "FLOWRUN_BENCH_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asBench) != "" {
		os.Exit(realMain(os.Args[1:]))
	}
	os.Setenv(asBench, "1")
	os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each start of a race-enabled binary takes a second
	os.Exit(m.Run())
}

// TestWorkloads runs flowrun and the limit on a hundredth of every workload.
func TestWorkloads(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flowrun, err := programtest.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range workloads(self, 0.01) {
		t.Run(w.title, func(t *testing.T) {
			table := newTable(w, flowrun)
			table.rows = table.rows[:2] // without the peers
			for range 2 {
				if err := table.round(t.Context(), self, filepath.Join(t.TempDir(), "work")); err != nil {
					t.Fatal(err)
				}
			}
			for _, r := range table.rows {
				if last := r.samples[len(r.samples)-1]; last.Fail != "" || last.Wall <= 0 || last.RSS <= 0 {
					t.Errorf("%s: %+v", r.name, last)
				}
			}
		})
	}
}

// TestFormats writes the same two steps in the format of each contender.
func TestFormats(t *testing.T) {
	w := workload{steps: []step{
		{name: "a", command: "/bin/true"},
		{name: "b", command: "true", shell: true, after: []string{"a"}},
	}}
	for _, c := range contenders {
		got := c.write(w)
		for _, want := range map[string][]string{
			"flowrun": {"- name: a\n    run: \"/bin/true\"\n    wait-for: []\n", "- name: b\n    bash: \"true\"\n    wait-for: [a]\n"},
			"make":    {"all: a b\n", "\na: \n\t@/bin/true\n", "\nb: a\n\t@bash -c 'true'\n"},
			"ninja":   {"build a: step \n  line = /bin/true\n", "build b: step a\n  line = bash -c 'true'\n"},
			"xargs":   {"0\n0\n"},
			"dagu":    {"- name: a\n    command: \"/bin/true\"\n    shell: direct\n    depends: []\n", "shell: bash\n    depends: [a]\n"},
			"task":    {"deps: [a, b]", "  b:\n    deps: [a]\n    cmds: [\"bash -c 'true'\"]\n"},
		}[c.name] {
			if !strings.Contains(got, want) {
				t.Errorf("%s: want %q in\n%s", c.name, want, got)
			}
		}
	}
}

func TestLine(t *testing.T) {
	ms := func(wall, cpu int) sample {
		return sample{Wall: time.Duration(wall) * time.Millisecond, CPU: time.Duration(cpu) * time.Millisecond, RSS: int64(wall) << 20}
	}
	limit := []sample{ms(900, 900), ms(10, 10), ms(100, 20), ms(10, 10)}
	for _, test := range []struct {
		samples []sample
		want    string
	}{
		{limit, "| x | 10.0 ms | 1.00 | 1.00 to 1.00 | 1.00 | 100.0 MiB |"},
		{[]sample{ms(9000, 0), ms(20, 30), ms(150, 20), ms(40, 20)}, "| x | 40.0 ms | 2.00 | 1.50 to 4.00 | 2.00 | 150.0 MiB |"},
		{[]sample{ms(90000, 1800)}, "| x (1 run) | 90000.0 ms | 100.00 | 100.00 to 100.00 | 2.00 | 90000.0 MiB |"},
		{[]sample{ms(1, 1), {Fail: "exit 1: a|b"}}, `| x | failed: exit 1: a\|b | | | | |`},
	} {
		r := row{name: "x", samples: test.samples}
		if got := r.line(limit); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestChart draws a bar that fits, one that is cut, and a failure.
func TestChart(t *testing.T) {
	second := sample{Wall: time.Second}
	tab := &table{workload: workload{title: "a & b"}, rows: []*row{
		{name: "limit", samples: []sample{second}},
		{name: "flowrun", samples: []sample{{Wall: 1500 * time.Millisecond}}},
		{name: "slow", samples: []sample{{Wall: time.Minute}}},
		{name: "broken", samples: []sample{{Fail: "exit 1"}}},
	}}
	got := chart([]*table{tab})
	for _, want := range []string{"a &amp; b", "width='150'", ">1.50<", "width='500'", ">60.00<", ">failed<"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if err := xml.Unmarshal([]byte(got), new(struct{})); err != nil {
		t.Errorf("%v in\n%s", err, got)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-scale", "0"}, {"-scale", "NaN"}, {"-nope"}, {"word"}} {
		if code := realMain(args); code != 2 {
			t.Errorf("%q: exit %d, want 2", args, code)
		}
	}
	if code := realMain([]string{"-only", "no such title", "-flowrun", "/bin/true"}); code != 1 {
		t.Errorf("no workload: exit %d, want 1", code)
	}
}

// TestInterrupt sends Ctrl-C to a run and checks that nothing is left behind.
func TestInterrupt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	cmd := exec.Command(self, "-only", "layers", "-flowrun", "/bin/true")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stderr).ReadString('\n'); err != nil || !strings.Contains(line, "round 0") {
		t.Errorf("its first line is %q, %v", line, err)
	}
	cmd.Process.Signal(syscall.SIGINT)
	io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("ended with %v, want exit 130", err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

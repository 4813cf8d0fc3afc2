package jsrun

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/js/jsworld"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// asProgram is an environment variable that makes the test program run a script; its value
// selects how.
const asProgram = "HOOKS_TEST_PROGRAM"

// runProgram runs scripts until it is killed.
func runProgram(how string) {
	script := "for (;;) {} return 1"
	if how == "reaper" {
		script = "return 1"
		if err := proc.BecomeReaper(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	r := New(Config{Timeout: time.Hour})
	s, _ := Compile(diagnostic.Plain(script), Body)
	call := func() error {
		_, err := r.Call(context.Background(), Call{Script: s})
		return err
	}
	if how == "reaper" {
		reap(r, call)
		os.Exit(0)
	}
	go call()
	waittest.Holds(waittest.Limit, r.pool.busy)
	fmt.Println(r.pool.pids()[0])
	time.Sleep(time.Hour)
}

// reap runs and ends a step beside a child, which must survive.
func reap(r *Runtime, call func() error) {
	before := call()
	g := proc.Open(procid.Mark("hooks", 1), 0)
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	_, err := g.Start(proc.Spec{Step: "s", Path: "/bin/sh", Args: []string{"sh", "-c", "sleep 600 & (setsid sleep 600 &); sleep 600"},
		Env: os.Environ(), Files: [3]*os.File{null, null, null}})
	if err == nil {
		_, err = g.Close(context.Background(), 0)
	}
	fmt.Println(before, err, call(), r.pool.started)
}

func (p *pool) pids() (list []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range p.all {
		list = append(list, k.process.Pid)
	}
	return list
}

func start(t *testing.T, how string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asProgram+"="+how)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) // also its child, which runs an endless script, if the test fails
	return cmd, bufio.NewReader(out)
}

// A child ends with its program, even after kill -9 during a script.
func TestEndsWithProgram(t *testing.T) {
	cmd, out := start(t, "endless")
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the name of the child", func() bool { // it has none between fork and exec
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && strings.HasPrefix(string(name), jsworld.ChildName)
	})
	cmd.Process.Kill()
	cmd.Wait()
	waittest.Until(t, "end of the child", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// A program that is a subreaper does not mistake a child for a process that a step has left.
func TestReaper(t *testing.T) {
	cmd, out := start(t, "reaper")
	line, err := out.ReadString('\n')
	if err != nil || line != "<nil> <nil> <nil> 1\n" {
		t.Errorf("%q, %v", line, err)
	}
	cmd.Wait()
}

// Signals that a terminal sends to the foreground process group do not end a call.
func TestSignals(t *testing.T) {
	t.Parallel()
	r := New(Config{Timeout: time.Hour})
	defer r.Close()
	s := compile(t, Body, "const end = Date.now() + input; while (Date.now() < end); return 1", "input")
	if _, err := r.Call(context.Background(), Call{Script: s, Vars: map[string]any{"input": 0}}); err != nil {
		t.Fatal(err)
	}
	for _, pid := range r.pool.pids() {
		time.AfterFunc(50*time.Millisecond, func() {
			for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP} {
				syscall.Kill(pid, sig)
			}
		})
	}
	if raw, err := r.Call(context.Background(), Call{Script: s, Vars: map[string]any{"input": 300}}); err != nil || string(raw) != "1" {
		t.Errorf("%s, %v", raw, err)
	}
}

//go:build unix

// Command bench runs flowrun and well-known tools (make, ninja, xargs, go-task, Dagu) on the same work, and
// prints how long each took compared to the minimum.
//
// # The model
//
// A workload is a set of steps with dependencies. A contender is a program that can run them,
// with a writer for its format and its command lines. Each workload has a limit: the time that
// the machine needs for the same processes without scheduling, recording and reporting. The
// limit is measured in the same way as a contender.
//
// Wall time on a shared machine changes by a factor of two within minutes. So each round runs
// every contender once, one after the other, and the result is the median over the rounds of the
// ratio to the limit of the same round. Absolute times are not checked.
//
// The program starts itself again in three roles: spawn (spawn.go), produce (produce.go) and
// measure (measure.go). A fourth counts page faults (faults.go).
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const usage = `Runs flowrun beside make, ninja, xargs, go-task and Dagu, whichever are on the PATH,
and writes a Markdown table for each workload and a chart into internal/test/bench/results.
How to read it: docs/explanation/performance.md.

  go run ./internal/test/bench                          everything: some ten minutes
  go run ./internal/test/bench -only chain,cold -n 9    two workloads, more rounds
  go run ./internal/test/bench -scale 0.1               a tenth of the steps and bytes
  go run ./internal/test/bench faults "flowrun version" "make -v"
                                                        the page faults of commands, and where they fall

Workloads go to a temporary folder (TMPDIR chooses the disk), which is removed at
the end and after Ctrl-C.

`

var roles = map[string]func([]string) error{"spawn": spawn, "produce": produce, "measure": measure, "faults": faults}

func main() { os.Exit(realMain(os.Args[1:])) }

// realMain runs the role that the first argument names, or else the comparison. It returns an exit
// code: 0, 1 failed, 2 usage, 130 interrupted.
func realMain(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if len(args) > 0 && roles[args[0]] != nil {
		stop() // measure handles signals itself; the other roles are ended by them
		err = roles[args[0]](args[1:])
	} else {
		var o options
		if o, err = parse(args); errors.Is(err, flag.ErrHelp) {
			return 0
		} else if err != nil {
			return 2 // package flag has printed the reason
		}
		err = compare(ctx, o)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// options are the values of the flags.
type options struct {
	rounds  int
	only    []string
	scale   float64
	flowrun string
	results string
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&o.rounds, "n", 3, "`rounds` that count, at least 1; one more warms up")
	f.Float64Var(&o.scale, "scale", 1, "multiply steps and bytes by this `factor`, above 0 and at most 1")
	f.StringVar(&o.flowrun, "flowrun", "", "measure this `program` (default: built from the checkout)")
	f.StringVar(&o.results, "o", "internal/test/bench/results", "write results.md and results.svg into this `folder`")
	only := f.String("only", "", "run the workloads whose title has one of these `words`, separated by commas")
	f.Usage = func() {
		fmt.Fprint(f.Output(), usage)
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.only = strings.Split(strings.ToLower(*only), ",")
	if f.NArg() > 0 || o.rounds < 1 || !(o.scale > 0 && o.scale <= 1) {
		err = fmt.Errorf("cannot run with %q: see -h for the flags and their bounds", args)
		fmt.Fprintln(f.Output(), "bench:", err)
	}
	return o, err
}

// compare runs every chosen workload, prints its table, and writes the results.
func compare(ctx context.Context, o options) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to start it again: %w", err)
	}
	all := workloads(self, o.scale)
	chosen := slices.DeleteFunc(all, func(w workload) bool { return !w.matches(o.only) })
	if len(chosen) == 0 {
		return fmt.Errorf("cannot find a workload with one of %q in its title: docs/explanation/performance.md lists them", o.only)
	}
	tmp, err := os.MkdirTemp("", "flowrun-bench-")
	if err != nil {
		return fmt.Errorf("cannot make a temporary folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	flowrun, err := flowrunProgram(ctx, o.flowrun, tmp)
	if err != nil {
		return err
	}
	var tables []*table
	var text bytes.Buffer
	fmt.Fprintf(&text, "# Results\n\nHow to read them: [Performance](../../docs/explanation/performance.md).\n\n%s\n![Wall time as a multiple of the limit](results.svg)\n\n", machine(flowrun))
	for _, w := range chosen {
		t := newTable(w, flowrun)
		tables = append(tables, t)
		for round := range 1 + o.rounds {
			fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", w.title, round, o.rounds)
			if err := t.round(ctx, self, filepath.Join(tmp, "work")); err != nil {
				return err
			}
		}
		t.print(io.MultiWriter(os.Stdout, &text))
	}
	return errors.Join(os.MkdirAll(o.results, 0o755),
		os.WriteFile(filepath.Join(o.results, "results.md"), text.Bytes(), 0o644),
		os.WriteFile(filepath.Join(o.results, "results.svg"), []byte(chart(tables)), 0o644))
}

// flowrunProgram returns the absolute path of the flowrun to measure. It builds one if path is
// empty.
func flowrunProgram(ctx context.Context, path, tmp string) (string, error) {
	if path == "" {
		path = filepath.Join(tmp, "flowrun")
		// As released: static, and a fifth faster to start.
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/flowrun/flowrun/cmd/flowrun")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("cannot build flowrun: %w: %s\nStart bench in a checkout, or name a program with -flowrun", err, out)
		}
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", fmt.Errorf("cannot use -flowrun %q: %w", path, err)
	}
	return filepath.Abs(found)
}

// Gotest runs go test for the gate. It accepts the flags and packages of go test and prints what
// go test prints. Failed tests are not repeated. It skips the tests that .ci/quarantine names
// and reports them, and at the end it lists the skipped tests with their reasons.
//
// go run ./.ci/gotest [go test flags] packages
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	quarantineFile = ".ci/quarantine"
	maxQuarantined = 30 * 24 * time.Hour
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	text, err := os.ReadFile(quarantineFile)
	if err != nil {
		return err
	}
	quarantined, err := parseQuarantine(string(text), time.Now())
	if err != nil {
		return err
	}
	for _, q := range quarantined {
		fmt.Fprintf(w, "quarantined since %s: %s: %s\n", q.since.Format(time.DateOnly), q.test, q.reason)
	}
	c := exec.Command("go", append([]string{"test", "-json"}, addSkipFlag(args, quarantined)...)...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	skips, err := report(out, w)
	if err != nil {
		return err
	}
	skips.print(w)
	return c.Wait()
}

// entry is one line of the quarantine list.
type entry struct {
	test   string
	since  time.Time
	reason string
}

// parseQuarantine reads lines of the form "TestName[/subtest] 2006-01-02 reason". An entry older
// than maxQuarantined is an error: the test must be repaired or deleted by then.
func parseQuarantine(text string, now time.Time) ([]entry, error) {
	var list []entry
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		if len(parts) < 3 {
			return nil, fmt.Errorf("%s: %q: write TestName, date and reason", quarantineFile, line)
		}
		since, err := time.Parse(time.DateOnly, parts[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", quarantineFile, line, err)
		}
		if now.Sub(since) > maxQuarantined {
			return nil, fmt.Errorf("%s: %s has been there for more than 30 days (%s): repair it or delete it", quarantineFile, parts[0], parts[2])
		}
		list = append(list, entry{parts[0], since, parts[2]})
	}
	return list, nil
}

// addSkipFlag adds the quarantined tests to the -skip flag of go test.
func addSkipFlag(args []string, quarantined []entry) []string {
	var skip []string
	for _, q := range quarantined {
		skip = append(skip, "^"+strings.ReplaceAll(regexp.QuoteMeta(q.test), "/", "$/^")+"$")
	}
	if len(skip) == 0 {
		return args
	}
	args = slices.Clone(args)
	if i := slices.Index(args, "-skip"); i >= 0 && i+1 < len(args) {
		args[i+1] += "|" + strings.Join(skip, "|")
		return args
	}
	return append([]string{"-skip", strings.Join(skip, "|")}, args...)
}

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

type test struct{ pkg, name string }

// skips maps reasons to the tests that were skipped for them.
type skips map[string][]string

// report prints what go test prints without -v: the output of failed tests and of packages.
func report(r io.Reader, w io.Writer) (skips, error) {
	skipped := skips{}
	outputs := map[test]*bytes.Buffer{} // of the running tests
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				w.Write(line)
				continue
			}
			handleEvent(e, w, skipped, outputs)
		}
		if err == io.EOF {
			return skipped, nil
		} else if err != nil {
			return skipped, err
		}
	}
}

func handleEvent(e event, w io.Writer, skipped skips, outputs map[test]*bytes.Buffer) {
	key := test{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		io.WriteString(w, e.Output)
	case e.Action == "output" && e.Test == "":
		if e.Output != "PASS\n" {
			io.WriteString(w, e.Output)
		}
	case e.Action == "output" && !noise(e.Output):
		if outputs[key] == nil {
			outputs[key] = new(bytes.Buffer)
		}
		outputs[key].WriteString(e.Output)
	case e.Test == "" && e.Action == "fail":
		for key, b := range outputs { // tests that were ended by a panic or a timeout
			if key.pkg == e.Package {
				w.Write(b.Bytes())
			}
		}
	case e.Test != "" && (e.Action == "fail" || e.Action == "skip" || e.Action == "pass"):
		text := cmp.Or(outputs[key], new(bytes.Buffer)).Bytes()
		delete(outputs, key)
		if e.Action == "fail" {
			w.Write(text)
		} else if e.Action == "skip" {
			why := reason(string(text))
			skipped[why] = append(skipped[why], strings.TrimPrefix(e.Package, "github.com/flowrun/")+"."+e.Test)
		}
	}
}

// noise reports whether a line is printed only with -v.
func noise(line string) bool {
	for _, p := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

var logLine = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)`)

// reason returns why a test was skipped, which is the last text that it logged.
func reason(output string) string {
	if all := logLine.FindAllStringSubmatch(output, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	return "no reason given"
}

func (s skips) print(w io.Writer) {
	n, reasons := 0, []string{}
	for why, tests := range s {
		n += len(tests)
		reasons = append(reasons, why)
	}
	fmt.Fprintf(w, "skipped: %d\n", n)
	slices.Sort(reasons)
	for _, why := range reasons {
		slices.Sort(s[why])
		fmt.Fprintf(w, "  %4d  %s: %s\n", len(s[why]), why, strings.Join(s[why], " "))
	}
}

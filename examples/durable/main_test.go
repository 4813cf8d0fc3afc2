package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMain runs the test again as the program, if a test has started it with WORK.
func TestMain(m *testing.M) {
	switch os.Getenv("WORK") {
	case "":
		os.Exit(m.Run())
	case "endless":
		work = func() { select {} }
	case "short":
		work = func() {}
	}
	main()
}

// TestReadme checks that the README shows lines of this program.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```go\n")
	block, _, _ = strings.Cut(block, "```")
	if !strings.Contains(block, "NewGraph") {
		t.Fatal("the README has no graph")
	}
	indented := "\t" + strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n\t")
	if !strings.Contains(string(program), indented) {
		t.Errorf("main.go lacks\n%s", indented)
	}
}

// TestKilled kills the program in its second step. Started again, it does not run the first one.
func TestKilled(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	start := func(work string) *exec.Cmd {
		c := exec.Command(program, dir)
		c.Env, c.Stderr = append(os.Environ(), "WORK="+work), os.Stderr
		return c
	}
	killed := start("endless")
	out, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	var printed []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if printed = append(printed, lines.Text()); strings.HasPrefix(lines.Text(), "charging") {
			break
		}
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	if diff := cmp.Diff([]string{"reserving tea", "charging tea"}, printed); diff != "" {
		t.Fatal(diff)
	}
	rest, err := start("short").Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("charging tea\nsent tea from B7, paid 250\n", string(rest)); diff != "" {
		t.Error(diff)
	}
}

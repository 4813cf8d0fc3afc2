//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The writers: one workload in each contender's format.

// flowrunFile gives every step its wait-for, which replaces the order of the file. For the
// action keep, the run's own output is a constant, because flowrun shows that instead of the
// output of the step.
func flowrunFile(w workload) string {
	var b strings.Builder
	b.WriteString("name: bench\ndescription: a workload\n")
	if w.action == keep {
		b.WriteString("output: kept\n")
	}
	b.WriteString("steps:\n")
	for _, s := range w.steps {
		kind := "run"
		if s.shell {
			kind = "bash"
		}
		fmt.Fprintf(&b, "  - name: %s\n    %s: %q\n    wait-for: [%s]\n", s.name, kind, s.command, strings.Join(s.after, ", "))
	}
	return b.String()
}

// flowrunFiles writes a definition for each step.
func flowrunFiles(w workload, dir string) error {
	for _, s := range w.steps {
		text := fmt.Sprintf("name: %s\ndescription: a workload\nrun: %q\n", s.name, s.command)
		if err := os.WriteFile(filepath.Join(dir, s.name+".yaml"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func makeFile(w workload) string {
	var b strings.Builder
	all := strings.Join(names(w), " ")
	fmt.Fprintf(&b, ".PHONY: all %s\nall: %s\n", all, all)
	for _, s := range w.steps {
		fmt.Fprintf(&b, "%s: %s\n\t@%s\n", s.name, strings.Join(s.after, " "), s.line())
	}
	return b.String()
}

// ninjaFile uses outputs that no command creates, so that every step always runs.
func ninjaFile(w workload) string {
	var b strings.Builder
	b.WriteString("rule step\n  command = $line\n")
	for _, s := range w.steps {
		fmt.Fprintf(&b, "build %s: step %s\n  line = %s\n", s.name, strings.Join(s.after, " "), s.line())
	}
	return b.String()
}

// taskFile sets run: once. Otherwise a task that two others need would run twice.
func taskFile(w workload) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: '3'\nsilent: true\nrun: once\ntasks:\n  default:\n    deps: [%s]\n", strings.Join(names(w), ", "))
	for _, s := range w.steps {
		fmt.Fprintf(&b, "  %s:\n    deps: [%s]\n    cmds: [%q]\n", s.name, strings.Join(s.after, ", "), s.line())
	}
	return b.String()
}

// argumentsFile has an argument for each step that changes nothing: true ignores it, and sleep
// adds it to the time.
func argumentsFile(w workload) string { return strings.Repeat("0\n", len(w.steps)) }

func daguFile(w workload) string {
	var b strings.Builder
	fmt.Fprintf(&b, "type: graph\nmax_active_steps: %d\nsteps:\n", w.parallel)
	for _, s := range w.steps {
		shell := "direct"
		if s.shell {
			shell = "bash"
		}
		fmt.Fprintf(&b, "  - name: %s\n    command: %q\n    shell: %s\n    depends: [%s]\n", s.name, s.command, shell, strings.Join(s.after, ", "))
	}
	return b.String()
}

func names(w workload) []string {
	list := make([]string, len(w.steps))
	for i, s := range w.steps {
		list[i] = s.name
	}
	return list
}

//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// contender is a program that can run a workload.
type contender struct {
	name  string
	file  string // name of its definition file
	write func(workload) string
	// args maps each action that the program supports to its arguments; {file} and {parallel}
	// are replaced.
	args map[action]string
	flat bool   // it knows no dependencies between steps, which all run the same command, {command}
	path string // of the program; "" if it was not found
}

// contenders are all programs. The peers run in their quiet mode; flowrun runs with its defaults
// and prints its progress.
var contenders = []contender{
	{name: "flowrun", file: "bench.yaml", write: flowrunFile, args: map[action]string{
		run:     "run --max-parallel {parallel} {file}",
		keep:    "run --max-parallel {parallel} {file}",
		load:    "validate {file}",
		list:    "tool list --dir .",
		version: "version",
	}},
	{name: "flowrun --no-history", file: "bench.yaml", write: flowrunFile, args: map[action]string{ // shows what recording costs
		run: "run --no-history --max-parallel {parallel} {file}",
	}},
	{name: "make", file: "Makefile", write: makeFile, args: map[action]string{
		run:     "-s -j{parallel} -f {file} all",
		load:    "-n -f {file} all",
		list:    "-p -n -f {file}",
		version: "--version",
	}},
	{name: "ninja", file: "build.ninja", write: ninjaFile, args: map[action]string{
		run:     "--quiet -j{parallel} -f {file}",
		load:    "-n --quiet -f {file}",
		list:    "-f {file} -t targets all",
		version: "--version",
	}},
	{name: "xargs", file: "arguments", write: argumentsFile, flat: true, args: map[action]string{
		run:     "-n 1 -P {parallel} -a {file} {command}",
		version: "--version",
	}},
	{name: "task", file: "Taskfile.yml", write: taskFile, args: map[action]string{
		run:     "--concurrency {parallel} --taskfile {file}",
		load:    "--dry --taskfile {file}",
		list:    "--list-all --taskfile {file}",
		version: "--version",
	}},
	{name: "dagu", file: "dagu.yaml", write: daguFile, args: map[action]string{
		run:     "start {file}",
		load:    "dry {file}",
		version: "version",
	}},
}

// available returns the contenders of a workload: flowrun, and the peers that are on the PATH. out
// lists the others, with the reason.
func available(w workload, flowrun string) (list []contender, out []string) {
	for _, c := range contenders {
		c.path = flowrun
		if !strings.HasPrefix(c.name, "flowrun") {
			c.path, _ = exec.LookPath(c.name)
		}
		switch {
		case c.path == "":
			out = append(out, c.name+" (not found on the PATH)")
		case c.args[w.action] == "" || c.flat && !w.flat():
			out = append(out, c.name+" (has nothing that corresponds)")
		default:
			list = append(list, c)
		}
	}
	return list, out
}

// prepare writes the workload's definition into dir and returns the command that runs it.
func (c contender) prepare(w workload, dir string) (command, error) {
	file := filepath.Join(dir, c.file)
	if err := os.WriteFile(file, []byte(c.write(w)), 0o644); err != nil {
		return command{}, fmt.Errorf("cannot write the workload: %w", err)
	}
	if w.action == list && c.name == "flowrun" { // it has a file for each definition
		if err := errors.Join(os.Remove(file), flowrunFiles(w, dir)); err != nil {
			return command{}, fmt.Errorf("cannot write the workload: %w", err)
		}
	}
	fill := strings.NewReplacer("{file}", "./"+c.file, "{parallel}", strconv.Itoa(w.parallel))
	argv := []string{c.path}
	for _, arg := range strings.Fields(c.args[w.action]) {
		if arg == "{command}" {
			argv = append(argv, w.steps[0].argv()...)
			continue
		}
		argv = append(argv, fill.Replace(arg))
	}
	return command{Argv: argv, Stdout: w.stdout}, nil
}

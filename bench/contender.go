//go:build unix

package main

import (
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
	file  string // what its definition file is called
	write func(workload) string
	// args are its arguments for each action it knows; {file} and {parallel} are
	// filled in.
	args map[action]string
	path string // of the program; "" when it is not there
}

// contenders are all of them. The peers are told to say nothing beside their
// steps; flowrun runs as it does by default and narrates.
var contenders = []contender{
	{name: "flowrun", file: "bench.yaml", write: flowrunFile, args: map[action]string{
		run:  "run --max-parallel {parallel} {file}",
		keep: "run --max-parallel {parallel} {file}",
		load: "validate {file}",
		help: "--help",
	}},
	{name: "flowrun --no-history", file: "bench.yaml", write: flowrunFile, args: map[action]string{ // what recording costs
		run: "run --no-history --max-parallel {parallel} {file}",
	}},
	{name: "make", file: "Makefile", write: makeFile, args: map[action]string{
		run:  "-s -j{parallel} -f {file} all",
		load: "-n -f {file} all",
		help: "--help",
	}},
	{name: "ninja", file: "build.ninja", write: ninjaFile, args: map[action]string{ // its --help exits with 1
		run:  "--quiet -j{parallel} -f {file}",
		load: "-n --quiet -f {file}",
	}},
	{name: "task", file: "Taskfile.yml", write: taskFile, args: map[action]string{
		run:  "--concurrency {parallel} --taskfile {file}",
		load: "--dry --taskfile {file}",
		help: "--help",
	}},
}

// lineUp are the contenders of a workload: flowrun, and of the peers those that
// are on the PATH. The others come with the reason why they are not.
func lineUp(w workload, flowrun string) (list []contender, out []string) {
	for _, c := range contenders {
		c.path = flowrun
		if !strings.HasPrefix(c.name, "flowrun") {
			c.path, _ = exec.LookPath(c.name)
		}
		switch {
		case c.path == "":
			out = append(out, c.name+" (not found on the PATH)")
		case c.args[w.action] == "":
			out = append(out, c.name+" (has nothing that corresponds)")
		default:
			list = append(list, c)
		}
	}
	return list, out
}

// prepare writes the workload's definition into the folder and says how to run it.
func (c contender) prepare(w workload, dir string) (command, error) {
	file := filepath.Join(dir, c.file)
	if err := os.WriteFile(file, []byte(c.write(w)), 0o644); err != nil {
		return command{}, fmt.Errorf("cannot write the workload: %w", err)
	}
	fill := strings.NewReplacer("{file}", "./"+c.file, "{parallel}", strconv.Itoa(w.parallel))
	argv := []string{c.path}
	for _, arg := range strings.Fields(c.args[w.action]) {
		argv = append(argv, fill.Replace(arg))
	}
	return command{Argv: argv, Stdout: w.stdout}, nil
}

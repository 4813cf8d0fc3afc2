//go:build unix

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// workload is work for all contenders, written in the format of each.
type workload struct {
	title    string
	about    string // describes its size and its limit
	action   action
	parallel int
	steps    []step
	limit    command
	stdout   string // command.Stdout of the contenders
	warm     bool   // a contender runs once before it is measured, and keeps what that leaves
}

// action is what a contender does with the steps.
type action int

const (
	run     action = iota // run them
	keep                  // run them, and keep their output in a file of the contender
	load                  // read and check them without running any
	list                  // list them, of which flowrun has a file each
	version               // ignore them, print its version
)

// step is one process. If shell is set, command is a script for bash.
type step struct {
	name    string
	command string
	shell   bool
	after   []string
}

// line returns the step's command for a tool that runs every command in a shell.
func (s step) line() string {
	if s.shell {
		return "bash -c '" + s.command + "'"
	}
	return s.command
}

// argv returns the arguments that start the step.
func (s step) argv() []string {
	if s.shell {
		return []string{"bash", "-c", s.command}
	}
	return strings.Fields(s.command)
}

// flat reports whether there are many steps and none waits for another one.
func (w workload) flat() bool {
	return len(w.steps) > 1 && !slices.ContainsFunc(w.steps, func(s step) bool { return len(s.after) > 0 })
}

// matches reports whether the title contains one of the words, which are in lower case.
func (w workload) matches(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(w.title), word) })
}

// workloads returns all workloads. Their limits are this program (self) in one of its roles, or
// plain commands.
func workloads(self string, scale float64) []workload {
	scaled := func(n int) int { return max(2, int(float64(n)*scale)) }
	many, links, layers, size := scaled(1000), scaled(500), scaled(100), scaled(1<<30)

	spawning := func(title string, parallel int, steps []step, argv ...string) workload {
		argv = slices.Concat([]string{self, "spawn", strconv.Itoa(len(steps)), strconv.Itoa(parallel)}, argv)
		about := fmt.Sprintf("%d steps. Limit: fork, exec and wait of the same commands, as many at once.", len(steps))
		return workload{title: title, about: about, parallel: parallel, steps: steps, limit: command{Argv: argv}}
	}
	printing := func(title string, action action, stdout string) workload {
		big := step{name: "big", command: fmt.Sprintf("%s produce %d", self, size)}
		about := fmt.Sprintf("%d MiB. Limit: the command on its own, printing into a file.", size>>20)
		return workload{title: title, about: about, action: action, parallel: 1, steps: []step{big},
			limit: command{Argv: []string{self, "produce", strconv.Itoa(size)}, Stdout: "output"}, stdout: stdout}
	}
	echo := func(title string, warm bool) workload {
		return workload{title: title, about: "1 step. Limit: the command on its own.", parallel: 1, warm: warm,
			steps: independent(1, "echo hi", true), limit: command{Argv: []string{"bash", "-c", "echo hi"}}}
	}
	nothing := command{Argv: []string{"/bin/true"}}
	const noStep = "No step runs. Limit: /bin/true, a process that does nothing."

	return []workload{
		spawning("Independent steps, /bin/true, parallel 1", 1, independent(many, "/bin/true", false), "/bin/true"),
		spawning("Independent steps, /bin/true, parallel 2", 2, independent(many, "/bin/true", false), "/bin/true"),
		spawning("Independent steps, /bin/true, parallel 8", 8, independent(many, "/bin/true", false), "/bin/true"),
		spawning("Independent steps, bash -c true, parallel 2", 2, independent(many, "true", true), "bash", "-c", "true"),
		spawning("Chain, /bin/true", 1, chain(links), "/bin/true"),
		spawning("Layers with 3 dependencies a step, /bin/true, parallel 2", 2, layered(layers), "/bin/true"),
		spawning("Independent steps, sleep 0.05, all at once", scaled(200), independent(scaled(200), "sleep 0.05", false), "sleep", "0.05"),
		echo("Cold start, bash -c 'echo hi'", false),
		echo("Second run, bash -c 'echo hi'", true),
		printing("Big output, kept in the log", keep, ""),
		printing("Big output, shown live", run, drained),
		{title: "version", about: noStep, action: version, steps: independent(1, "/bin/true", false), limit: nothing},
		{title: "List 1,000 definitions", about: noStep, action: list, steps: independent(many, "/bin/true", false), limit: nothing},
		{title: "List 1,000 definitions again", about: noStep, action: list, steps: independent(many, "/bin/true", false), limit: nothing, warm: true},
		{title: "Load and check the file of the layers", about: noStep, action: load, parallel: 2, steps: layered(layers), limit: nothing},
	}
}

func independent(n int, command string, shell bool) []step {
	list := make([]step, n)
	for i := range list {
		list[i] = step{name: fmt.Sprintf("s%d", i), command: command, shell: shell}
	}
	return list
}

func chain(n int) []step {
	list := independent(n, "/bin/true", false)
	for i := range list[1:] {
		list[i+1].after = []string{list[i].name}
	}
	return list
}

// layered returns layers of 100 steps. Each step waits for three steps of the layer above: two
// neighbors and one far away, so that no column can get ahead.
func layered(layers int) []step {
	const width = 100
	list := independent(layers*width, "/bin/true", false)
	for i := width; i < len(list); i++ {
		column := i % width
		above := list[i-column-width : i-column]
		for _, shift := range []int{0, 1, 37} {
			list[i].after = append(list[i].after, above[(column+shift)%width].name)
		}
	}
	return list
}

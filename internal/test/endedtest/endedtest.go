// Package endedtest lists the ways in which a step can end and the places where it can stand, for tests of what carries a
// run on: no step of these runs again, and none changes how it ended.
package endedtest

import (
	"fmt"
	"strings"
)

// Case is one name and text of a table.
type Case struct{ Name, Text string }

// Steps are steps in every state that is an end, as YAML in braces. Each says in the file done that it ran.
var Steps = []Case{
	{"succeeded", "bash: echo X >> done"},
	{"failed", "bash: 'echo X >> done; exit 1'"},
	{"failed and tolerated", "bash: 'echo X >> done; exit 1', continue-on-error: true"},
	{"failed after retries", "bash: 'echo X >> done; exit 1', error-handling: {retry: {attempts: 1, delay: 1ms}}"},
	{"failed with a fallback", "bash: 'echo X >> done; exit 1', error-handling: {fallback: 'false'}"},
	{"failed, on-interrupt retry", "bash: 'echo X >> done; exit 1', on-interrupt: retry"},
	{"timed out", "bash: 'echo X >> done; exec sleep 60', timeout: 300ms"},
	{"skipped", "bash: echo X >> done, run-condition: \"'a' == 'b'\""},
	{"failed outputs", "bash: echo X >> done, outputs: {v: string}"},
	{"script", "js: \"throw new Error('x')\""},
}

// Places put a step where a run can have it, as the step a. The tool used.yaml has the step, too.
var Places = []Case{
	{"branch", "{name: a, wait-for: [], %s}"},
	{"group", "{name: a, wait-for: [], steps: [{name: in, %s}]}"},
	{"loop", "{name: a, wait-for: [], for-each: {items: [1, 2]}, %s}"},
	{"loop of groups", "{name: a, wait-for: [], for-each: {items: [1, 2]}, steps: [{name: in, %s}]}"},
	{"used tool", "{name: a, wait-for: [], use-tool: ./used.yaml}"},
}

// Steps of a run that waits: beside the step there are the questions gate1, with little time, and gate2, and the steps one
// and two behind them.
const gates = "- {name: gate1, wait-for: [], approve: {prompt: 'One?', timeout: %s, on-timeout: fail}}\n" +
	"- {name: one, wait-for: [gate1], bash: echo one >> done}\n- {name: gate2, wait-for: [], approve: 'Two?'}\n- {name: two, wait-for: [gate2], bash: echo two >> done}\n"

// Run returns the steps of a definition that has the step at the place, and two questions; the first has this time. used
// is the tool that it may use.
func Run(step, place Case, timeout string) (steps, used string) {
	at := place.Text
	if strings.Contains(at, "%s") {
		at = fmt.Sprintf(at, step.Text)
	}
	return "steps:\n- " + at + "\n" + fmt.Sprintf(gates, timeout), "name: used\ndescription: Is used\nsteps: [{name: in, " + step.Text + "}]\n"
}

package tooltest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/tool"
)

// Case is one test of one tool. It is not changed by running.
type Case struct {
	Tool string // name of the tool
	Plan *flowrun.Plan
	Test tool.Test
	// Refused is why the tool may not run; "" where it may. The test is then skipped.
	Refused string
}

// Status is what became of a Case.
type Status string

const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // Outcome.Reason says why
	Stopped Status = "stopped" // interrupted, or not begun because another one failed
)

// Outcome is what came of a Case.
type Outcome struct {
	Case
	Status     Status
	Reason     string     // why it was skipped or stopped
	Mismatches []Mismatch // of a failed one, at least one
	Warnings   []string   // what went wrong around the test without failing it: cleanup
	Duration   time.Duration
	ExitCode   int    // of the run; 0 where none began
	Output     string // the run's output, secrets masked, at most 10 MB
	Stderr     string // of the steps, in plan order; of each the first 10 MB
	FailedStep string // the path of the first step that failed, "" for none
	Tail       []string
}

// Mismatch is one thing that is not as the test expects.
type Mismatch struct {
	Key     string   // the key of expected that says otherwise; "" where the test could not be run
	Message string   // one sentence
	Diff    []string // the lines that differ: "- " expected, "+ " got
}

// skip says why a case is not run, "" where it is.
func (c *Case) skip(offline bool) string {
	if list := c.Test.Platforms; len(list) > 0 && !slices.Contains(list, platform()) {
		return fmt.Sprintf("the test runs on %s only; this is %s", strings.Join(list, ", "), platform())
	}
	if c.Refused != "" || !offline {
		return c.Refused
	}
	if name, need := network(c.Plan); need != "" {
		return fmt.Sprintf("tool %s needs %s, but --offline is set", name, need)
	}
	return ""
}

// network is the first tool of a plan, the ones it uses included, that has a
// permission for the network, and that permission.
func network(p *flowrun.Plan) (name, permission string) {
	for _, need := range p.Definition.Security.RequiredPermissions {
		if need.S == "network" || strings.HasPrefix(need.S, "network:") {
			return p.Name(), need.S
		}
	}
	for _, step := range p.Steps() {
		if inner := p.Nested(step); inner != nil {
			if name, permission = network(inner); permission != "" {
				return name, permission
			}
		}
	}
	return "", ""
}

// platform is this system's word in definitions.
func platform() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return runtime.GOOS
}

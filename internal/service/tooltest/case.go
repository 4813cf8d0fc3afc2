package tooltest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Case is one test of one tool. Running does not change it.
type Case struct {
	Tool string // name of the tool
	Plan *engine.Plan
	Test tool.Test
	// Refused is the reason why the tool may not run; the test is then skipped. "" if it
	// may run.
	Refused string
}

// Status is the result of a Case.
type Status string

const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // Outcome.Reason says why
	Stopped Status = "stopped" // interrupted, or not started because another one failed
)

// Outcome is what happened in a Case.
type Outcome struct {
	Case
	Status     Status
	Reason     string     // why it was skipped or stopped
	Mismatches []Mismatch // of a failed case, at least one
	Warnings   []string   // problems that do not fail the test: of the cleanup, and why a file may be missing
	Duration   time.Duration
	ExitCode   int    // of the run; 0 if none was started
	Output     string // the run's output, secrets masked, at most 10 MB
	Stderr     string // of the steps, in plan order; the first 10 MB of each
	FailedStep string // path of the first failed step, "" for none
	Tail       []string
}

// Mismatch is one difference from what the test expects.
type Mismatch struct {
	Key     string   // the key of expected that failed; "" if the test could not be run
	Message string   // one sentence
	Diff    []string // the lines that differ: "- " expected, "+ " actual
}

// skip returns the reason why a case is skipped, "" if it is run.
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

// network returns the first tool of a plan, including nested tools, that has a permission
// for the network, and that permission.
func network(p *engine.Plan) (name, permission string) {
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

// platform returns the name of this system in definitions.
func platform() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return runtime.GOOS
}

// Package notice has what people should know of a run beside its result.
//
// # The model
//
// A result says what a step did. Some of what happens belongs to no result: a background process
// is still running, an output was not cached, a limit holds for each process only. Whoever meets
// it makes a Notice. The run collects them, shows them, and keeps them with its result. Programs
// read the Code, which never changes its meaning; people read the Message.
package notice

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Code is a stable name for what a Notice is about.
type Code string

// Codes of notices.
const (
	Background Code = "background-ended"  // processes outlived their step and were ended with the run
	Escaped    Code = "escaped"           // processes could not be ended, or may belong to the run
	OutputOpen Code = "output-open"       // a background process is still printing into a step's output
	EnvFile    Code = "env-file"          // an env file can be used but looks wrong
	Unset      Code = "unset-variable"    // a reference, or a name in environment.secrets, means a variable that is not set
	NotCached  Code = "not-cached"        // a step's result was not cached
	NoInputs   Code = "no-inputs"         // a cached result was reused, and no file matches the inputs of the step
	Unanswered Code = "unanswered"        // nobody answered an interactive step
	NotAsked   Code = "not-asked"         // nobody could be asked for an approval
	Stream     Code = "stream"            // streamed output was not passed on
	Truncated  Code = "truncated"         // a reference reads an output that was truncated at its buffer-limit
	Shortage   Code = "shortage"          // a step cannot start yet: the system is out of descriptors, processes or memory
	Limited    Code = "parallel-limit"    // a loop asks for more parallel items than steps may run at once
	Undeclared Code = "undeclared"        // a value was given for a parameter that the tool does not declare
	Unenforced Code = "unenforced"        // permissions or limits that this machine cannot enforce, and that the caller does not insist on
	Memory     Code = "memory-limit"      // the limit holds for each process, and not for the whole step
	CPU        Code = "cpu-limit"         // the limit holds for each process, and not for the whole step
	Network    Code = "network-refused"   // a connection that the permissions of a tool do not grant
	Withheld   Code = "withheld-variable" // an inherited variable that an enforced step names but does not get
)

// Notice is something that people should know.
type Notice struct {
	Code      Code          `json:"code"`
	Step      dag.ID        `json:"step,omitempty"` // "": the run
	Message   string        `json:"message"`
	Processes []procid.Info `json:"processes,omitempty"`
	// Announced means that the message was already shown to the person at the terminal.
	Announced bool `json:"-"`
}

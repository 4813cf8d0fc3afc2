package dag

import "time"

// Reasons say in one stable word why a Result has its status. A Runner may use
// words of its own; these are the kernel's.
const (
	ReasonExit           = "exit"            // exit code other than 0
	ReasonTimeout        = "timeout"         // a try, or the graph, took too long
	ReasonCondition      = "condition"       // the condition was false (skipped) or could not be evaluated (failed)
	ReasonUpstreamFailed = "upstream-failed" // something it waits for failed
	ReasonCancelled      = "cancelled"       // the caller cancelled the run
	ReasonForced         = "forced"          // the caller asked a second time: what cleans up is stopped too
	ReasonFailFast       = "fail-fast"       // another step failed and the graph stops at once
	ReasonInput          = "input"           // a value was refused; never retried
	ReasonInterrupted    = "interrupted"     // it was running when the engine died, and is not to run again
	ReasonPanic          = "panic"           // a Runner written in Go panicked
	ReasonNotStarted     = "not-begun"       // what the run needs is missing, or it is not allowed: nothing of it ran
	ReasonItems          = "items"           // too few items of a loop succeeded
)

// Exit codes of what did not end by itself: as timeout(1) has it, and as a shell
// reports a command that Ctrl-C ended.
const (
	ExitTimeout   = 124
	ExitCancelled = 130
)

// Result is what a node did. Results are immutable once reported.
type Result struct {
	Status    Status    `json:"status"`
	ExitCode  int       `json:"exit_code"`
	Reason    string    `json:"reason,omitempty"`
	Message   string    `json:"message,omitempty"`   // for people; never holds a secret
	Attempts  int       `json:"attempts,omitempty"`  // tries made, without the fallback
	Fallback  bool      `json:"fallback,omitempty"`  // the fallback's result
	Tolerated bool      `json:"tolerated,omitempty"` // failed, but nobody minds
	Notes     []string  `json:"notes,omitempty"`     // of a run: what to know beside its status, see Status.With
	Started   time.Time `json:"started,omitzero"`    // of the first try
	Ended     time.Time `json:"ended,omitzero"`
	Stdout    *Output   `json:"stdout,omitempty"` // nil when nothing was printed
	Stderr    *Output   `json:"stderr,omitempty"`
	Value     any       `json:"-"` // structured value of a step written in Go or JavaScript; nil for text
	// Structured says that Stdout is a value as JSON, and not text that may look like it.
	Structured bool     `json:"structured,omitempty"`
	Content    any      `json:"-"`                 // what a step tells a model and a person beside Stdout; nil for nothing
	Problem    *Problem `json:"problem,omitempty"` // why it failed, for programs; nil where nobody can tell more than Message
	Permanent  bool     `json:"-"`                 // trying again cannot help
	Culprit    ID       `json:"-"`                 // of a graph: the first step that failed

	// Wait says what a node that is Waiting waits for; nil for every other.
	Wait *Wait `json:"wait,omitempty"`
}

// Problem is why a step failed, in words that programs can rely on. Nothing in it
// holds a secret.
type Problem struct {
	Code      string `json:"code"`               // API_RATE_LIMIT, timeout, memory, TypeError
	Category  string `json:"category"`           // business, validation, script, limit, system
	Solution  string `json:"solution,omitempty"` // what to do about it
	Retryable bool   `json:"retryable"`          // trying again may help
	Where     string `json:"where,omitempty"`    // file:line:col in what the author wrote
}

// afterWait is the result of a wait that ends now; nil is success.
func (r *Result) afterWait(now time.Time) *Result {
	end := Result{}
	if r != nil {
		end = *r
	}
	end.Wait = nil // a wait is not followed by another
	end.Status, end.Ended = end.endStatus(), now
	return &end
}

// endStatus is the end state of a try. A runner that leaves the status out is judged by
// the exit code; one that names a state no runner can decide has failed.
func (r *Result) endStatus() Status {
	switch {
	case r.Status.successful(), r.Status == Failed, r.Status == TimedOut, r.Status == Waiting && r.Wait != nil && r.Wait.canEnd():
		return r.Status
	case r.Status == Pending && r.ExitCode == 0:
		return Succeeded
	}
	return Failed
}

// taints says whether dependents must not simply go on.
func (r *Result) taints() bool {
	if r.Tolerated {
		return false
	}
	return r.Status == Failed || r.Status == TimedOut || r.Status == Interrupted ||
		r.Status == Skipped && r.Reason == ReasonUpstreamFailed
}

// trimmed is the result without what only references read; stdout says whether that of
// stdout is kept.
func (r *Result) trimmed(stdout bool) *Result {
	if r.Stdout == nil && r.Stderr == nil && r.Value == nil {
		return r
	}
	slim := *r
	slim.Stderr, slim.Value = r.Stderr.withoutRaw(), nil
	if !stdout {
		slim.Stdout = r.Stdout.withoutRaw()
	}
	return &slim
}

// InlineLimit is how many bytes of a stream travel inside a Result, and so in
// events.
const InlineLimit = 4 << 10

// Output is one stream a step printed.
type Output struct {
	// Raw is what references read, up to the step's buffer limit where another
	// step mentions the stream, else up to InlineLimit. It may hold secrets and
	// so never leaves the process.
	Raw string `json:"-"`
	// Inline is the masked beginning, at most InlineLimit bytes.
	Inline string `json:"inline,omitempty"`
	// Size is how many bytes were printed, after masking.
	Size int64 `json:"size"`
	// Truncated says that Raw was cut at the step's buffer limit.
	Truncated bool `json:"truncated,omitempty"`
	// Masked says that a secret was replaced in Inline and File.
	Masked bool `json:"masked,omitempty"`
	// File is where the whole (masked) stream is kept; empty when Inline has it all.
	File string `json:"file,omitempty"`
	// Digest is "sha256:" and the hexadecimal sum of Raw, for a stream that other
	// steps mention and Inline does not hold: by it a later owner of the run knows
	// that File still is what the step printed.
	Digest string `json:"digest,omitempty"`
}

func (o *Output) withoutRaw() *Output {
	if o == nil || o.Raw == "" {
		return o
	}
	slim := *o
	slim.Raw = ""
	return &slim
}

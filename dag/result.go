package dag

import (
	"time"
	"unicode/utf8"
)

// A reason is one stable word for why a Result has its status. A Runner may use words of
// its own; these are the ones that package dag sets.
const (
	ReasonExit           = "exit"            // exit code other than 0
	ReasonTimeout        = "timeout"         // an attempt, or the graph, took too long
	ReasonCondition      = "condition"       // the condition was false (skipped) or could not be evaluated (failed)
	ReasonUpstreamFailed = "upstream-failed" // a step that it waits for failed
	ReasonCancelled      = "cancelled"       // the caller cancelled the run
	ReasonForced         = "forced"          // the caller asked a second time: the cleanup is stopped too
	ReasonFailFast       = "fail-fast"       // another step failed and the graph has FailFast
	ReasonInput          = "input"           // a value was rejected; never retried
	ReasonInterrupted    = "interrupted"     // it was running when flowrun was killed, and does not run again
	ReasonPanic          = "panic"           // a Runner written in Go panicked
	ReasonNotStarted     = "not-started"     // the run lacks something it needs, or is not allowed; no step ran
	ReasonRepeat         = "repeat"          // it used up its rounds or their time; in step.retrying: another round follows
	ReasonItems          = "items"           // too few items of a loop succeeded
)

// IsNotStarted reports whether reason is ReasonNotStarted, which earlier versions recorded as
// "not-begun".
func IsNotStarted(reason string) bool { return reason == ReasonNotStarted || reason == "not-begun" }

// Exit codes of steps that did not end by themselves: that of timeout(1), and the one that
// a shell reports for a command that Ctrl-C ended.
const (
	ExitTimeout   = 124
	ExitCancelled = 130
)

// Result is what a node did. A Result does not change after it was reported.
type Result struct {
	Status    Status `json:"status"`
	Fallback  bool   `json:"fallback,omitempty"`  // this is the result of the fallback
	Tolerated bool   `json:"tolerated,omitempty"` // failed, but that does not count
	// Structured means that Stdout is a value as JSON, and not text that looks like JSON.
	Structured bool      `json:"structured,omitempty"`
	Permanent  bool      `json:"-"` // a retry cannot help
	ExitCode   int       `json:"exit_code"`
	Reason     string    `json:"reason,omitempty"`
	Message    string    `json:"message,omitempty"`  // for people; never contains a secret
	Attempts   int       `json:"attempts,omitempty"` // number of attempts, without the fallback
	Notes      []string  `json:"notes,omitempty"`    // of a run: what people should know beside the status, see Status.With
	Started    time.Time `json:"started,omitzero"`   // start of the first attempt
	Ended      time.Time `json:"ended,omitzero"`
	Stdout     *Output   `json:"stdout,omitempty"` // nil if nothing was printed
	Stderr     *Output   `json:"stderr,omitempty"`
	Value      any       `json:"-"`                 // structured value of a step in Go or JavaScript; nil for text
	Outputs    *Outputs  `json:"outputs,omitempty"` // the declared outputs; nil for none
	Content    any       `json:"-"`                 // what a step returns to a model and a person beside Stdout; nil for nothing
	Problem    *Problem  `json:"problem,omitempty"` // why it failed, for programs; nil if there is nothing to add to Message
	Culprit    ID        `json:"-"`                 // of a graph: the first step that failed

	// Wait describes what a node with status Waiting waits for; nil for every other node.
	Wait *Wait `json:"wait,omitempty"`

	// Usage is what the processes of the last attempt used; zero for a node that started none.
	Usage Usage `json:"usage,omitzero"`

	// Refused is how many connections of the last attempt were refused, because its permissions do not grant them.
	Refused int32 `json:"refused_connections,omitempty"`
	// RetryAfter is the shortest time before a retry makes sense, in seconds; Backoff.Max limits it.
	RetryAfter int32 `json:"-"`

	*Kept // nil for a step that leaves nothing of the kind
}

// Took returns how long it took by the wall clock, from Started to Ended; 0 if it did not start,
// has not ended, or the clock was set back. Time in which it waited, or in which the run had no
// owner, is part of it.
func (r *Result) Took() time.Duration { return Span(r.Started, r.Ended) }

// Span returns the time from one moment to another by the wall clock; 0 if one of them is zero or
// they are in the wrong order.
func Span(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return max(to.Round(0).Sub(from.Round(0)), 0)
}

// Usage is what processes used.
type Usage struct {
	User   time.Duration `json:"user_ns,omitempty"`       // CPU time, in the programs themselves
	System time.Duration `json:"system_ns,omitempty"`     // CPU time, in the kernel on their behalf
	MaxRSS int64         `json:"max_rss_bytes,omitempty"` // peak memory; 0 if it is not known
}

// CPU returns the whole CPU time.
func (u Usage) CPU() time.Duration { return u.User + u.System }

// Problem is why a step failed, in a form for programs. It never contains a secret.
type Problem struct {
	Code      string `json:"code"`               // for example API_RATE_LIMIT, timeout, memory, TypeError, UNKNOWN_ERROR
	Category  string `json:"category"`           // business, validation, development, system, limit, unknown
	Solution  string `json:"solution,omitempty"` // what to do about it
	Retryable bool   `json:"retryable"`          // a retry may help
	Where     string `json:"where,omitempty"`    // file:line:col in the author's file
}

// afterWait returns the result of a wait that ends now with result r; nil is success.
func (r *Result) afterWait(now time.Time) *Result {
	end := Result{}
	if r != nil {
		end = *r
	}
	end.Wait = nil // a wait cannot follow a wait
	end.Status, end.Ended = end.endStatus(), now
	return &end
}

// endStatus returns the status at the end of an attempt. If the runner left the status out,
// the exit code decides. A status that a runner may not set becomes Failed.
func (r *Result) endStatus() Status {
	switch {
	case r.Status.successful(), r.Status == Failed, r.Status == TimedOut, r.Status == Waiting && r.Wait != nil && r.Wait.canEnd():
		return r.Status
	case r.Status == Pending && r.ExitCode == 0:
		return Succeeded
	}
	return Failed
}

// failed reports whether an attempt with this result may be retried.
func (r *Result) failed() bool { return r.Status == Failed || r.Status == TimedOut }

// taints reports whether a node with this result taints the nodes that directly wait for
// it.
func (r *Result) taints() bool {
	if r.Tolerated {
		return false
	}
	return r.Status == Failed || r.Status == TimedOut || r.Status == Interrupted ||
		r.Status == Skipped && r.Reason == ReasonUpstreamFailed
}

// trimmed returns the result without the data that only references read. It keeps that of
// stdout if stdout is set, and that of outputs if outputs is set.
func (r *Result) trimmed(stdout, outputs bool) *Result {
	if r.Stdout == nil && r.Stderr == nil && r.Value == nil && (outputs || r.Outputs == nil) {
		return r
	}
	slim := *r
	slim.Stderr, slim.Value = r.Stderr.withoutRaw(), nil
	if !stdout {
		slim.Stdout = r.Stdout.withoutRaw()
	}
	if !outputs {
		slim.Outputs = r.Outputs.withoutRaw()
	}
	return &slim
}

// InlineLimit is the number of bytes of a stream that a Result, and therefore an event, can
// carry.
const InlineLimit = 4 << 10

// Output is one stream of a step.
type Output struct {
	// Raw is the text that references read: up to the buffer limit of the step if another
	// step refers to the stream, else up to InlineLimit. It may contain secrets, so it
	// never leaves the process.
	Raw string `json:"-"`
	// Inline is the beginning of the masked stream, at most InlineLimit bytes.
	Inline string `json:"inline,omitempty"`
	// Size is the number of bytes of the masked stream.
	Size int64 `json:"size"`
	// Truncated means that Raw was cut at the buffer limit of the step.
	Truncated bool `json:"truncated,omitempty"`
	// Masked means that secrets were replaced in Inline and File.
	Masked bool `json:"masked,omitempty"`
	// File is the file with the whole masked stream; empty if Inline has all of it.
	File string `json:"file,omitempty"`
	// Digest is "sha256:" and the hexadecimal hash of Raw. It is set for a stream that
	// other steps refer to and that Inline does not hold completely. A later owner of the
	// run uses it to check that File still has what the step printed.
	Digest string `json:"digest,omitempty"`
	// Times says when parts of the masked stream were printed, as lines "o1764466000000+120": the stream (o or e), ms since 1970
	// or since the line before, and how many bytes were added. Empty if it is not known, if it says no more than when the
	// attempt ended, or if it is in a file beside File because it is long.
	Times string `json:"times,omitempty"`
}

// Whole reports whether Inline has the whole masked stream, byte for byte, so that no File is needed to read it.
func (o *Output) Whole() bool {
	return int64(len(o.Inline)) == o.Size && utf8.ValidString(o.Inline) // JSON would replace other bytes
}

func (o *Output) withoutRaw() *Output {
	if o == nil || o.Raw == "" {
		return o
	}
	slim := *o
	slim.Raw = ""
	return &slim
}

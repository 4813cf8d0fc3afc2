package runresult

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/permtrace"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// RunSchema is the name of the JSON form of a Result.
const RunSchema = "flowrun/run.v1"

type runJSON struct {
	Schema      string               `json:"schema"`
	ID          string               `json:"id"`
	Tool        string               `json:"tool"`
	RetryOf     string               `json:"retry_of,omitempty"`
	Attempt     int                  `json:"attempt,omitempty"`
	RetryAt     time.Time            `json:"retry_at,omitzero"`
	Origin      string               `json:"origin,omitempty"`
	Status      dag.Status           `json:"status"`
	ExitCode    int                  `json:"exit_code"`
	Reason      string               `json:"reason,omitempty"`
	Message     string               `json:"message,omitempty"`
	Notes       []string             `json:"notes,omitempty"`
	Started     time.Time            `json:"started,omitzero"`
	Ended       time.Time            `json:"ended,omitzero"`
	LastSign    time.Time            `json:"last_sign,omitzero"`
	DurationMS  int64                `json:"duration_ms"`
	WaitedMS    int64                `json:"waited_ms,omitempty"`
	IdleMS      int64                `json:"idle_ms,omitempty"`
	Params      map[string]any       `json:"params"`
	Withheld    []string             `json:"withheld,omitempty"`
	Definitions []Definition         `json:"definitions,omitempty"`
	Labels      map[string]string    `json:"labels,omitempty"`
	Output      string               `json:"output"`
	Outputs     map[string]any       `json:"outputs,omitempty"`
	Invalid     bool                 `json:"invalid_utf8,omitempty"`
	Steps       []stepJSON           `json:"steps"`
	Tolerated   []string             `json:"tolerated"`
	Uncleaned   []string             `json:"cleanup_failed,omitempty"`
	Log         []LogEntry           `json:"execution_log,omitempty"` // of Markdown tools
	LockDemands []history.LockDemand `json:"needs,omitempty"`
	Enforced    bool                 `json:"enforced,omitempty"`
	Unenforced  []string             `json:"unenforced,omitempty"`
	Notices     []dag.Notice         `json:"notices,omitempty"`

	Permissions *permtrace.Report `json:"permissions,omitempty"`
}

type stepJSON struct {
	ID        string         `json:"id"`
	Status    dag.Status     `json:"status"`
	ExitCode  int            `json:"exit_code"`
	Attempts  int            `json:"attempts"`
	Fallback  bool           `json:"fallback,omitempty"`
	Output    string         `json:"output"`
	Error     string         `json:"error"`
	Outputs   map[string]any `json:"outputs,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Message   string         `json:"message,omitempty"`
	Started   time.Time      `json:"started,omitzero"`
	Ended     time.Time      `json:"ended,omitzero"`
	LastSign  time.Time      `json:"last_sign,omitzero"`
	Duration  int64          `json:"duration_ms,omitempty"`
	WaitedMS  int64          `json:"waited_ms,omitempty"`
	IdleMS    int64          `json:"idle_ms,omitempty"`
	Truncated bool           `json:"truncated"`
	Invalid   bool           `json:"invalid_utf8,omitempty"`
	Problem   *dag.Problem   `json:"problem,omitempty"`
	Wait      *dag.Wait      `json:"wait,omitempty"`
	Usage     *usageJSON     `json:"usage,omitempty"`
	Refused   int            `json:"refused_connections,omitempty"`
	Artifacts []dag.Artifact `json:"artifacts,omitempty"`
}

// usageJSON is what the processes of a step used.
type usageJSON struct {
	CPUMS    int64 `json:"cpu_ms"` // user and system
	UserMS   int64 `json:"user_ms"`
	SystemMS int64 `json:"system_ms"`
	MaxRSS   int64 `json:"max_rss_bytes,omitempty"`
}

// usageOf returns the usage of a step that started processes, nil for other steps.
func usageOf(u dag.Usage) *usageJSON {
	if u == (dag.Usage{}) {
		return nil
	}
	return &usageJSON{u.CPU().Milliseconds(), u.User.Milliseconds(), u.System.Milliseconds(), u.MaxRSS}
}

// MarshalJSON writes the result as flowrun/run.v1, with each step's streams up to its buffer-limit if their logs
// still exist. It holds all of them in memory; see WriteJSON.
func (r *Result) MarshalJSON() ([]byte, error) { return json.Marshal(r.document(readStream)) }

// WriteJSON writes the indented document of MarshalJSON. It copies long streams from their logs, so it needs little
// memory.
func (r *Result) WriteJSON(w io.Writer) error {
	mark := rand.Text()
	var long []storedText // in the order of the document
	doc := r.document(func(o *dag.Output, limit int64) (string, bool, bool) {
		if t, ok := storedTextOf(o, limit); ok {
			long = append(long, t)
			return mark, true, t.invalid
		}
		return inlineText(o, limit)
	})
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	rest := text.Bytes()
	for _, t := range long {
		before, after, _ := bytes.Cut(rest, []byte(mark))
		out.Write(before) // the error is that of Flush
		if err := t.copyTo(jsonText{out}); err != nil {
			return err
		}
		rest = after
	}
	out.Write(rest)
	return out.Flush()
}

// document returns the result as flowrun/run.v1. It calls text for the streams in the order of the document.
func (r *Result) document(text func(o *dag.Output, limit int64) (text string, all, invalid bool)) *runJSON {
	doc := &runJSON{
		Schema: RunSchema, ID: r.ID, Tool: r.Tool, RetryOf: r.RetryOf, Attempt: r.Attempt, RetryAt: r.RetryAt, Origin: r.Origin, Withheld: r.Withheld, Definitions: r.Definitions, Labels: r.Labels, Status: r.Status, ExitCode: r.ExitCode, Reason: r.Reason, Message: r.Message, Notes: r.Notes,
		Started: r.Started, Ended: r.Ended, LastSign: r.LastSign,
		DurationMS: r.Duration().Milliseconds(), WaitedMS: r.Waited.Milliseconds(), IdleMS: r.Idle.Milliseconds(),
		Params: r.Params, Output: r.Output, Outputs: r.Outputs, Invalid: r.InvalidUTF8, Tolerated: r.Tolerated, Uncleaned: r.CleanupFailed(), Log: r.ExecutionLog(), LockDemands: r.LockDemands, Enforced: r.Enforced, Unenforced: r.Unenforced, Notices: r.Notices, Permissions: r.Permissions, Steps: []stepJSON{},
	}
	if r.short {
		doc.Output, _, doc.Invalid = text(r.output, steps.DefaultLimit)
	}
	for _, s := range r.Steps {
		j := stepJSON{ID: s.ID, Status: s.Status, ExitCode: s.ExitCode, Attempts: s.Attempts, Fallback: s.Fallback,
			Outputs: s.Outputs, Reason: s.Reason, Message: s.Message, Started: s.Started, Ended: s.Ended, LastSign: s.LastSign,
			Duration: s.Duration().Milliseconds(), WaitedMS: s.Waited.Milliseconds(), IdleMS: s.Idle.Milliseconds(), Wait: s.Wait, Problem: s.Problem, Usage: usageOf(s.Usage), Refused: s.Refused}
		for _, a := range s.Artifacts {
			j.Artifacts = append(j.Artifacts, artifact.Encoded(a))
		}
		var all, allErrors, invalid, invalidErrors bool
		j.Output, all, invalid = text(s.stdout, s.limit)
		j.Error, allErrors, invalidErrors = text(s.stderr, s.limit)
		j.Invalid = invalid || invalidErrors
		j.Truncated = s.Truncated || !all || !allErrors
		doc.Steps = append(doc.Steps, j)
	}
	return doc
}

// readStream returns a stream up to the step's buffer limit. If its log is gone or incomplete (a log is not synced,
// so a power cut can lose its end), it returns the beginning that the result holds, and all is false. invalid reports
// that bytes that are not UTF-8 were replaced in the text.
func readStream(o *dag.Output, limit int64) (text string, all, invalid bool) {
	if t, ok := storedTextOf(o, limit); ok {
		var b strings.Builder
		b.Grow(int(t.size))
		if err := t.copyTo(&b); err == nil {
			return b.String(), true, t.invalid
		}
	}
	return inlineText(o, limit)
}

// inlineText is readStream for a stream whose log is not needed, or not available.
func inlineText(o *dag.Output, limit int64) (text string, all, invalid bool) {
	if o == nil {
		return "", true, false
	}
	text, invalid = value.ValidText(value.UpTo(limit, o.Inline))
	if logNeeded(o, limit) {
		return text, false, invalid
	}
	return text, true, invalid || replaced(o)
}

// replaced reports whether a journal has replaced bytes of the inline text that are not UTF-8: each by a longer character, and
// not all in a row by one, as in the text of a log.
func replaced(o *dag.Output) bool { return int64(len(o.Inline)) > o.Size }

// logNeeded reports whether a result holds only the beginning of a stream.
func logNeeded(o *dag.Output, limit int64) bool {
	return o.File != "" && (int64(len(o.Inline)) < min(o.Size, limit) || o.Masked)
}

// storedText is the beginning of a stream in a log, as text.
type storedText struct {
	file    string
	limit   int64
	size    int64 // of the beginning, in bytes of the log
	invalid bool  // it has bytes that are not UTF-8
}

// storedTextOf returns a stream that must be read from its log. ok is false if the log is not needed, or if it is gone
// or incomplete.
func storedTextOf(o *dag.Output, limit int64) (t storedText, ok bool) {
	if o == nil || !logNeeded(o, limit) && (o.File == "" || !replaced(o)) {
		return storedText{}, false
	}
	t = storedText{file: o.File, limit: limit}
	if err := t.copyTo(io.Discard); err != nil {
		return storedText{}, false
	}
	short := t.size < min(o.Size, limit)
	return t, !short || o.Masked && t.size >= int64(len(o.Inline))
}

// copyTo writes the text, and sets size and invalid.
func (t *storedText) copyTo(w io.Writer) error {
	f, err := proc.OpenFile(t.file, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	t.size, t.invalid, err = value.CopyText(w, f, t.limit)
	return err
}

// jsonText writes text as the inside of a string in JSON.
type jsonText struct{ to io.Writer }

// Write implements io.Writer. It needs whole characters.
func (w jsonText) Write(p []byte) (int, error) {
	text, err := json.Marshal(string(p))
	if err == nil {
		_, err = w.to.Write(text[1 : len(text)-1])
	}
	return len(p), err
}

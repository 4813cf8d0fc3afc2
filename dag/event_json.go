package dag

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// AppendJSON appends the event to b as JSON, in the form that json.Marshal writes. A
// journal writes two events for each step, and most of that time would be reflection.
func (e *Event) AppendJSON(b []byte) []byte {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, int64(e.V), 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, e.Seq, 10)
	b = appendOptionalString(b, `,"run":`, e.Run)
	b = append(b, `,"kind":`...)
	b = appendString(b, string(e.Kind))
	b = appendOptionalString(b, `,"node":`, string(e.Node))
	b = appendOptionalInt(b, `,"attempt":`, e.Attempt)
	b = append(b, `,"time":`...)
	b = appendTime(b, e.Time)
	b = appendOptionalTime(b, `,"due":`, e.Due)
	b = appendOptionalString(b, `,"reason":`, e.Reason)
	b = appendOptionalInt(b, `,"queued_ns":`, int(e.Queued))
	b = appendFlag(b, `,"outlasts":true`, e.Outlasts)
	if e.Result != nil {
		b = append(b, `,"result":`...)
		b = e.Result.appendJSON(b)
	}
	for i, id := range e.Reset {
		b = append(b, [...]string{`,"reset":[`, `,`}[min(i, 1)]...)
		b = appendString(b, string(id))
	}
	if len(e.Reset) > 0 {
		b = append(b, ']')
	}
	b = appendOptionalInt(b, `,"items":`, e.Items)
	for i, key := range e.Keys {
		b = append(b, [...]string{`,"keys":[`, `,`}[min(i, 1)]...)
		b = appendString(b, key)
	}
	if len(e.Keys) > 0 {
		b = append(b, ']')
	}
	b = appendOptionalString(b, `,"digest":`, e.Digest)
	b = appendNoticesJSON(b, e.Notices)
	return append(b, '}')
}

func (r *Result) appendJSON(b []byte) []byte {
	b = append(b, `{"status":`...)
	b = appendString(b, r.Status.String())
	b = append(b, `,"exit_code":`...)
	b = strconv.AppendInt(b, int64(r.ExitCode), 10)
	b = appendOptionalString(b, `,"reason":`, r.Reason)
	b = appendOptionalString(b, `,"message":`, r.Message)
	b = appendOptionalInt(b, `,"attempts":`, r.Attempts)
	b = appendFlag(b, `,"fallback":true`, r.Fallback)
	b = appendFlag(b, `,"tolerated":true`, r.Tolerated)
	for i, note := range r.Notes {
		b = append(b, [...]string{`,"notes":[`, `,`}[min(i, 1)]...)
		b = appendString(b, note)
	}
	if len(r.Notes) > 0 {
		b = append(b, ']')
	}
	b = appendOptionalTime(b, `,"started":`, r.Started)
	b = appendOptionalTime(b, `,"ended":`, r.Ended)
	b = r.Stdout.appendJSON(b, `,"stdout":`)
	b = r.Stderr.appendJSON(b, `,"stderr":`)
	b = appendFlag(b, `,"structured":true`, r.Structured)
	b = r.Outputs.appendJSON(b)
	b = r.Problem.appendJSON(b)
	b = r.Wait.appendJSON(b)
	b = r.Usage.appendJSON(b)
	b = appendOptionalInt(b, `,"refused_connections":`, int(r.Refused))
	b = appendStateJSON(b, r.State())
	b = appendArtifactsJSON(b, r.Artifacts())
	return append(b, '}')
}

func (p *Problem) appendJSON(b []byte) []byte {
	if p == nil {
		return b
	}
	b = append(b, `,"problem":{"code":`...)
	b = appendString(b, p.Code)
	b = append(b, `,"category":`...)
	b = appendString(b, p.Category)
	b = appendOptionalString(b, `,"solution":`, p.Solution)
	b = append(b, `,"retryable":`...)
	b = strconv.AppendBool(b, p.Retryable)
	b = appendOptionalString(b, `,"where":`, p.Where)
	return append(b, '}')
}

func (u *Usage) appendJSON(b []byte) []byte {
	if *u == (Usage{}) {
		return b
	}
	b = append(b, `,"usage":{`...)
	at := len(b)
	b = appendOptionalInt(b, `,"user_ns":`, int(u.User))
	b = appendOptionalInt(b, `,"system_ns":`, int(u.System))
	b = appendOptionalInt(b, `,"max_rss_bytes":`, int(u.MaxRSS))
	return append(slices.Delete(b, at, at+1), '}') // the first comma
}

func (w *Wait) appendJSON(b []byte) []byte {
	if w == nil {
		return b
	}
	b = append(b, `,"wait":{"kind":`...)
	b = appendString(b, w.Kind)
	b = appendOptionalTime(b, `,"until":`, w.Until)
	if w.Then != nil {
		b = append(b, `,"then":`...)
		b = w.Then.appendJSON(b)
	}
	b = appendFlag(b, `,"asks":true`, w.Asks)
	b = appendFlag(b, `,"hold":true`, w.Hold)
	b = appendOptionalString(b, `,"prompt":`, w.Prompt)
	if len(w.Form) > 0 {
		b = append(b, `,"form":`...)
		b = append(b, w.Form...)
	}
	return append(b, '}')
}

func (o *Output) appendJSON(b []byte, key string) []byte {
	if o == nil {
		return b
	}
	b = append(b, key...)
	b = append(b, `{"size":`...)
	b = strconv.AppendInt(b, o.Size, 10)
	b = appendOptionalString(b, `,"inline":`, o.Inline)
	b = appendFlag(b, `,"truncated":true`, o.Truncated)
	b = appendFlag(b, `,"masked":true`, o.Masked)
	b = appendOptionalString(b, `,"file":`, o.File)
	b = appendOptionalString(b, `,"digest":`, o.Digest)
	b = appendOptionalString(b, `,"times":`, o.Times)
	return append(b, '}')
}

func appendOptionalString(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(append(b, key...), s)
}

func appendOptionalInt(b []byte, key string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, key...), int64(n), 10)
}

func appendFlag(b []byte, text string, yes bool) []byte {
	if !yes {
		return b
	}
	return append(b, text...)
}

func appendOptionalTime(b []byte, key string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return appendTime(append(b, key...), t)
}

func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

// appendString writes plain ASCII text itself and uses encoding/json for everything else.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			text, _ := json.Marshal(s) // cannot fail for a string
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

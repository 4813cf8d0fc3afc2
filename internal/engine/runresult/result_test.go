package runresult

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// TestFirstFailed: the innermost step that failed first, without those whose failure did not count.
func TestFirstFailed(t *testing.T) {
	step := func(id string, s dag.Status) StepResult { return StepResult{ID: id, Status: s} }
	for name, c := range map[string]struct {
		steps     []StepResult
		tolerated []string
		want      string
	}{
		"nothing failed":    {[]StepResult{step("a", dag.Succeeded), step("b", dag.Skipped)}, nil, ""},
		"the first of two":  {[]StepResult{step("a", dag.Succeeded), step("b", dag.Failed), step("c", dag.TimedOut)}, nil, "b"},
		"tolerated":         {[]StepResult{step("a", dag.Failed), step("b", dag.TimedOut)}, []string{"a"}, "b"},
		"in a group":        {[]StepResult{step("g", dag.Failed), step("g/a", dag.Succeeded), step("g/b", dag.Failed)}, nil, "g/b"},
		"in one that holds": {[]StepResult{step("g", dag.Succeeded), step("g/b", dag.Failed), step("z", dag.Failed)}, nil, "z"},
		"not beside it":     {[]StepResult{step("g", dag.Failed), step("gh", dag.Failed)}, nil, "g"},
	} {
		if got := (&Result{Steps: c.steps, Tolerated: c.tolerated}).FirstFailed(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestErr: the error of a run is that of package context which says the same, or why the caller's context ended.
func TestErr(t *testing.T) {
	own := errors.New("the client has left")
	for _, c := range []struct {
		status dag.Status
		cause  error
		is     error // nil: none of package context
	}{
		{dag.Failed, nil, nil}, {dag.TimedOut, nil, context.DeadlineExceeded}, {dag.Cancelled, nil, context.Canceled}, {dag.Cancelled, own, own},
	} {
		r := &Result{ID: "1", Tool: "t", Status: c.status, Message: "why"}
		SetCause(r, c.cause)
		err := r.Err()
		for _, target := range []error{context.Canceled, context.DeadlineExceeded, own} {
			if errors.Is(err, target) != (target == c.is) {
				t.Errorf("%s with cause %v: errors.Is %v is %v", c.status, c.cause, target, errors.Is(err, target))
			}
		}
		if !strings.HasPrefix(err.Error(), "run 1 of t is "+c.status.String()) || !strings.HasSuffix(err.Error(), ": why") {
			t.Error(err)
		}
	}
	if err := (&Result{Status: dag.Succeeded}).Err(); err != nil {
		t.Error(err)
	}
}

// TestDuration: a run takes until its end, its last sign of life, or until it was looked at.
func TestDuration(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	for _, c := range []struct {
		ended, sign, asOf time.Time
		want              time.Duration
	}{
		{at(1), at(2), at(3), time.Second}, {time.Time{}, at(2), at(3), 2 * time.Second}, {time.Time{}, time.Time{}, at(3), 3 * time.Second},
	} {
		r := &Result{Started: began, Ended: c.ended, LastSign: c.sign, AsOf: c.asOf}
		s := &StepResult{Started: began, Ended: c.ended, LastSign: c.sign}
		SetAsOf(s, c.asOf)
		if r.Duration() != c.want || s.Duration() != c.want {
			t.Errorf("the run took %v and the step %v, want %v", r.Duration(), s.Duration(), c.want)
		}
	}
}

// TestDecode: the output of a run that succeeded is JSON.
func TestDecode(t *testing.T) {
	for output, want := range map[string]string{"{\"n\": 1}\n": "", "\ufeff{\"n\": 1}": "", "": "it printed nothing", " \n": "it printed nothing", "no": "cannot decode the run's output"} {
		var v struct{ N int }
		err := (&Result{Status: dag.Succeeded, Output: output}).Decode(&v)
		if want == "" && (err != nil || v.N != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %v", output, v, err)
		}
	}
	if err := (&Result{Status: dag.Failed, Output: "1"}).Decode(new(int)); err == nil {
		t.Error("the output of a run that failed was decoded")
	}
}

// TestBrief: a summary has the beginning of each text and says so; the result itself keeps everything.
func TestBrief(t *testing.T) {
	out := &dag.Output{Inline: "ééé", Size: 6}
	r := &Result{ID: "1", Output: "éé", Steps: []StepResult{{ID: "a", Output: "ééé", StdoutFile: "/log", stdout: out, limit: 100}}}
	b := r.Brief(3)
	if s := b.Steps[0]; b.Output != "é" || s.Output != "é" || s.StdoutFile != "" || !s.Truncated {
		t.Errorf("%+v", b)
	}
	if s := r.Steps[0]; r.Output != "éé" || s.Output != "ééé" || s.StdoutFile != "/log" || s.Truncated {
		t.Errorf("the result changed: %+v", r)
	}
	if text, err := json.Marshal(b); err != nil || !strings.Contains(string(text), `"output":"é","error":"","truncated":true`) {
		t.Errorf("%s, %v", text, err)
	}
}

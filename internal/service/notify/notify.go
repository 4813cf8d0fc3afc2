// Package notify reports to people and programs how a run ended, that a run waits for an
// answer, or that something else needs attention: it starts a command, posts to a URL, or sends an e-mail.
//
// # The model
//
// An [Outcome] is a run and the [Event] to report about it. A [Rule] says which events to
// report, and how. [Send] selects the rules for an outcome and carries them out
// concurrently, with a time limit. Several outcomes that are reported together are a digest: an
// Outcome of the last of them, with a line for each.
//
// A notification never changes the run. After a response a post is not repeated. Whether a
// notification that flowrun could not send before it was killed is sent later is up to the
// caller. A notification that could not be sent is returned as a [SendError], which the
// caller can report.
package notify

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/service/attention"
)

// Event is the subject of a notification.
type Event string

// The events. Always is valid only in rules.
const (
	Success   Event = "success"
	Failure   Event = "failure"   // the run failed or timed out, or it waits and one of its steps has failed
	Recovery  Event = "recovery"  // it succeeded after the run before it had failed
	Waiting   Event = "waiting"   // it waits for a person
	Cancelled Event = "cancelled" // a person stopped it
	Late      Event = "late"      // the run of a scheduled time had not succeeded at its deadline
	Paused    Event = "paused"    // a schedule was paused after failures in a row
	// Interrupted means that a service was killed in the run, and that no service continues it by itself.
	Interrupted Event = "interrupted"
	// Attention means that something else needs a person, see package attention.
	Attention Event = "attention"
	Always    Event = "always" // all of these
)

// defaults are the events of a rule that names none.
var defaults = []Event{Failure, Recovery, Waiting, Attention, Late, Paused}

// Of returns the event for the end of a run. before is the status of the tool's last run
// that ended, Pending if there was none. Of returns "" if nothing is to be reported, as for
// an interrupted run, which will be resumed.
func Of(now, before dag.Status) Event {
	switch now {
	case dag.Succeeded:
		if failed(before) {
			return Recovery
		}
		return Success
	case dag.Failed, dag.TimedOut:
		return Failure
	case dag.Waiting:
		return Waiting
	case dag.Cancelled:
		return Cancelled
	}
	return ""
}

func failed(s dag.Status) bool { return s == dag.Failed || s == dag.TimedOut }

// Outcome is what to report. A run that stopped with an error is Interrupted, and is
// reported as a Failure. An item that needs attention has a Result with the ids of its run and its tool, "" if it has none.
type Outcome struct {
	Event  Event
	Result *runresult.Result // contains no secret; of a scheduled time without a run it has only the tool
	Item   *attention.Item   // what needs attention; nil for other events
	// Schedule is set for Late and Paused.
	Schedule *Schedule
	// Digest has the lines of a digest, oldest first; nil for a single outcome. Item is then that of the last line.
	Digest []string
	// Earlier is how many older lines the digest no longer has.
	Earlier int
}

// maxDetail is the maximum length of a run's message in a line, in characters.
const maxDetail = 500

// Text describes the outcome in one line, or a digest in a line for each outcome.
func (o Outcome) Text() string {
	if o.Digest == nil {
		return o.Line()
	}
	lines := append([]string{o.Summary()}, o.Digest...)
	if o.Earlier > 0 {
		lines = append(lines, fmt.Sprintf("and %d earlier", o.Earlier))
	}
	return strings.Join(lines, "\n")
}

// Summary describes the outcome in a few words, for a subject.
func (o Outcome) Summary() string {
	if n := len(o.Digest) + o.Earlier; n > 0 && o.Item != nil {
		return plural.Of(n, "item") + " need attention" // never one
	} else if n > 0 {
		return plural.Of(n, "run") + " to report"
	}
	return o.headline()
}

// headline returns what Line begins with.
func (o Outcome) headline() string {
	if o.Item != nil {
		return o.Item.Headline()
	}
	if o.Schedule != nil {
		return o.Schedule.headline(o)
	}
	r := o.Result
	count := ""
	if n := notice.Count(r.Notices); n != "" { // a run that waits has no notes
		count = " (" + n + ")"
	}
	switch o.Event {
	case Recovery:
		if len(r.Notes) > 0 {
			return r.Tool + " works again: " + r.Status.With(r.Notes...)
		}
		return r.Tool + " works again"
	case Waiting:
		return r.Tool + " is waiting for an answer" + count
	case Failure:
		if r.Status == dag.Waiting {
			return r.Tool + " fails, and is waiting for an answer" + count
		}
	}
	return r.Tool + " " + r.Status.With(r.Notes...)
}

// Line describes the outcome of the last run in one line.
func (o Outcome) Line() string {
	if o.Item != nil {
		return o.Item.Text()
	}
	r, text := o.Result, o.headline()
	detail := ""
	if r.Status != dag.Succeeded || r.Reason == plan.ReasonCleanup {
		detail = r.Message
	}
	if o.Schedule != nil {
		detail = o.Schedule.Text
	}
	if words := []rune(strings.Join(strings.Fields(strings.ReplaceAll(detail, "\x00", " ")), " ")); len(words) > maxDetail {
		detail = string(words[:maxDetail]) + "..."
	} else {
		detail = string(words)
	}
	if detail != "" {
		text += ": " + detail
	}
	if r.ID == "" {
		return text
	}
	return text + " (run " + r.ID + ")"
}

// Rule selects events and says how they are reported. One of Command, Webhook and To is set.
type Rule struct {
	On      []Event  // default: failure, recovery, waiting, late and paused
	Command string   // a program and its arguments, quoted as in run:
	Webhook string   // the URL of a post; ${NAME} is a variable of Settings.Env
	To      []string // the receivers of an e-mail
	// From and Subject are those of an e-mail. Defaults: SMTP.From, and the words of Outcome.Summary.
	From, Subject string
	Slack         bool   // the post is a message for Slack
	Message       string // with {run.NAME}; default: Outcome.Text
	// Digest is the time in which at most one message is sent. Send does not know it: the caller
	// keeps the lines, and sends them together.
	Digest time.Duration
	// SecretEnv is the variable, SecretFile the path of the secret that signs a post. At
	// most one of them is set.
	SecretEnv, SecretFile string
	// Reduced starts the command with reduced privileges, like the steps of the rule's
	// tool. Contained and Enforced make the command an error, because those steps run in
	// containers, or with nothing but the tool's permissions.
	Reduced, Contained, Enforced bool
}

// Wants reports whether the rule applies to the event.
func (r Rule) Wants(e Event) bool {
	on := r.Events()
	if e == "" {
		return false
	}
	return slices.Contains(on, e) || slices.Contains(on, Always) || slices.ContainsFunc(implying(e), func(o Event) bool { return slices.Contains(on, o) })
}

// implying returns the events with which a rule wants another one, too.
func implying(e Event) []Event {
	switch e {
	case Recovery:
		return []Event{Success}
	case Interrupted:
		return []Event{Failure, Waiting}
	}
	return nil
}

// Events returns the events of the rule.
func (r Rule) Events() []Event {
	if len(r.On) == 0 {
		return defaults
	}
	return r.On
}

// String describes the rule to people. Of a URL it shows only the host, because the rest
// may be secret.
func (r Rule) String() string {
	switch {
	case r.Command != "":
		return "command " + programOf(r.Command)
	case len(r.To) > 0:
		return "e-mail to " + strings.Join(r.To, ", ")
	}
	return "webhook " + hostOf(r.Webhook)
}

// When lists the rule's events for people.
func (r Rule) When() string {
	words := make([]string, len(r.Events()))
	for i, e := range r.Events() {
		words[i] = string(e)
	}
	return strings.Join(words, ", ")
}

// Settings configures how notifications are sent.
type Settings struct {
	Env []string // environment of commands, K=V, and variables for ${NAME} in URLs
	Dir string   // working directory of commands, and base of relative paths
	// Home replaces ~ at the start of a path.
	Home string
	SMTP SMTP
}

// path makes a path of a rule absolute.
func (s Settings) path(written string) string {
	switch rest, home := strings.CutPrefix(written, "~/"); {
	case home:
		return filepath.Join(s.Home, rest)
	case !filepath.IsAbs(written):
		return filepath.Join(s.Dir, written)
	}
	return written
}

// SendError is a notification that could not be sent.
type SendError struct {
	Rule Rule
	Err  error // contains no URL and no secret
}

func (t SendError) Error() string {
	return "cannot send the notification by " + t.Rule.String() + ": " + t.Err.Error()
}

const (
	attemptTimeout = 10 * time.Second // for a command, and for each attempt of a post
	maxConcurrent  = 8                // notifications that are sent concurrently
	maxAttempts    = 3                // of a post
	sendTimeout    = time.Minute      // for all notifications of an outcome
)

// Send sends a notification by every rule that applies to the outcome. It returns those
// that could not be sent, in the order of the rules. It gives up when ctx ends, or after a
// minute in total.
func Send(ctx context.Context, s Settings, rules []Rule, o Outcome) []SendError {
	ctx, cancel := context.WithTimeoutCause(ctx, sendTimeout, fmt.Errorf("the notifications took longer than %v in total", sendTimeout))
	defer cancel()
	failures := make([]*SendError, len(rules))
	slots := make(chan struct{}, maxConcurrent)
	var all sync.WaitGroup
	for i, r := range rules {
		if !r.Wants(o.Event) {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := s.send(ctx, r, o); err != nil {
				failures[i] = &SendError{r, err}
			}
		})
	}
	all.Wait()
	var list []SendError
	for _, t := range failures {
		if t != nil {
			list = append(list, *t)
		}
	}
	return list
}

func (s Settings) send(ctx context.Context, r Rule, o Outcome) error {
	switch {
	case r.Command != "":
		return s.command(ctx, r, o)
	case len(r.To) > 0:
		return s.mail(ctx, r, o)
	}
	return s.post(ctx, r, o)
}

// variable returns the last value of a name in Env.
func (s Settings) variable(name string) (string, bool) {
	for _, kv := range slices.Backward(s.Env) {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v, true
		}
	}
	return "", false
}

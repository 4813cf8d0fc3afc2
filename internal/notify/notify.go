// Package notify tells people and programs how runs ended, or that one waits for
// somebody: it starts a command, or posts to an address.
//
// # The model
//
// An [Outcome] is what there is to tell: a run, and the [Event] that it is. A [Rule]
// says which events somebody wants to hear of, and how. [Send] picks the rules that
// want an outcome and carries them out, side by side and bounded in time.
//
// A notice never changes what it tells of. It is sent at most once: a receiver that
// answered is not asked again, and an engine that dies before it was sent does not
// make up for it later. What could not be sent comes back as a [Trouble], for those
// who can say so.
package notify

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
)

// Event is what a notice is about.
type Event string

// The events. Always is for rules only.
const (
	Success   Event = "success"
	Failure   Event = "failure"   // it failed, or took too long
	Recovery  Event = "recovery"  // it succeeded where it failed the time before
	Waiting   Event = "waiting"   // it waits for somebody
	Cancelled Event = "cancelled" // somebody stopped it
	Always    Event = "always"    // all of these
)

// defaults are the events of a rule that names none: what somebody should know.
var defaults = []Event{Failure, Recovery, Waiting}

// Of is the event that the end of a run is. before is how the last run of the tool
// that came to an end ended, Pending where there was none. "" is none: nothing is told
// of a run that was interrupted, because it is to go on.
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

// Outcome is what there is to tell. A run that broke off, because the engine could not go
// on with it, is Interrupted and told as a Failure.
type Outcome struct {
	Event  Event
	Result *flowrun.Result // holds nothing secret
}

// longestDetail is how much of what a run says of itself stands in a line, in characters.
const longestDetail = 500

// Text is the outcome in one line.
func (o Outcome) Text() string {
	r := o.Result
	text := r.Tool + " " + r.Status.With(r.Notes...)
	switch o.Event {
	case Recovery:
		text = r.Tool + " works again"
		if len(r.Notes) > 0 {
			text += ": " + r.Status.With(r.Notes...)
		}
	case Waiting:
		text = r.Tool + " is waiting for an answer"
	}
	detail := ""
	if r.Status != dag.Succeeded || r.Reason == flowrun.ReasonCleanup {
		detail = r.Message
	}
	if words := []rune(strings.Join(strings.Fields(strings.ReplaceAll(detail, "\x00", " ")), " ")); len(words) > longestDetail {
		detail = string(words[:longestDetail]) + "..."
	} else {
		detail = string(words)
	}
	if detail != "" {
		text += ": " + detail
	}
	return text + " (run " + r.ID + ")"
}

// Rule says who is told of which events. One of Command and Webhook is set.
type Rule struct {
	On      []Event // none: failure, recovery and waiting
	Command string  // a program and its arguments, in words as run: has them
	Webhook string  // an address that is posted to; ${NAME} is a variable of Settings.Env
	// SecretEnv is a variable, SecretFile a path, that holds the secret a post is
	// signed with. At most one is set.
	SecretEnv, SecretFile string
	// Reduced starts the command with reduced rights, as the steps of the tool that the
	// rule is of. Contained refuses it: those steps run in containers.
	Reduced, Contained bool
}

// Wants says whether the rule is for the event.
func (r Rule) Wants(e Event) bool {
	on := r.Events()
	if e == "" {
		return false
	}
	return slices.Contains(on, e) || slices.Contains(on, Always) || e == Recovery && slices.Contains(on, Success)
}

// Events are those of the rule.
func (r Rule) Events() []Event {
	if len(r.On) == 0 {
		return defaults
	}
	return r.On
}

// String is the rule for people: of an address the host alone, since the rest of it
// may be a secret.
func (r Rule) String() string {
	if r.Command != "" {
		return "command " + programOf(r.Command)
	}
	return "webhook " + hostOf(r.Webhook)
}

// When is the rule's events for people.
func (r Rule) When() string {
	words := make([]string, len(r.Events()))
	for i, e := range r.Events() {
		words[i] = string(e)
	}
	return strings.Join(words, ", ")
}

// Settings are how notices are sent.
type Settings struct {
	Env []string // of commands, K=V, and for ${NAME} in addresses
	Dir string   // where commands start, and relative paths count from
	// Home is what ~ stands for at the beginning of a path.
	Home string
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

// Trouble is a notice that was not sent.
type Trouble struct {
	Rule Rule
	Err  error // holds no address and no secret
}

func (t Trouble) Error() string {
	return "cannot send the notification by " + t.Rule.String() + ": " + t.Err.Error()
}

const (
	oneTry   = 10 * time.Second // for a command, and for each try of a post
	atOnce   = 8                // notices that are sent side by side
	maxTries = 3                // of a post
	longest  = time.Minute      // for all notices of an outcome
)

// Send sends a notice by every rule that wants the outcome, and answers what could not
// be sent, in the order of the rules. When ctx ends, or all of it takes more than a minute, it gives up.
func Send(ctx context.Context, s Settings, rules []Rule, o Outcome) []Trouble {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, fmt.Errorf("the notifications took longer than %v in total", longest))
	defer cancel()
	troubles := make([]*Trouble, len(rules))
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, r := range rules {
		if !r.Wants(o.Event) {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := s.send(ctx, r, o); err != nil {
				troubles[i] = &Trouble{r, err}
			}
		})
	}
	all.Wait()
	var list []Trouble
	for _, t := range troubles {
		if t != nil {
			list = append(list, *t)
		}
	}
	return list
}

func (s Settings) send(ctx context.Context, r Rule, o Outcome) error {
	if r.Command != "" {
		return s.command(ctx, r, o)
	}
	return s.post(ctx, r, o)
}

// variable is the last value that Env has for a name.
func (s Settings) variable(name string) (string, bool) {
	for _, kv := range slices.Backward(s.Env) {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v, true
		}
	}
	return "", false
}

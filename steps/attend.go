package steps

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/proc"
)

// No system says whether a process waits for typing. This is what is taken for it:
// what was typed so far has been read, and for a while nothing was printed. An answer
// that comes too early does no harm: it lies there until the step reads it, and until
// then there is no other.

const (
	// atOnce is how long a step is silent that waits for an answer nobody can give.
	atOnce = 200 * time.Millisecond
	// lookAgain is after how long a step is looked at again that was not waiting.
	lookAgain = 100 * time.Millisecond

	// A step that goes on asking after that many default responses, or ends of input,
	// will never be content.
	maxAnswers = 50
	maxEnds    = 10

	endOfInput = "\x04" // ^D, as terminals have it
	killLine   = "\x15" // ^U: what a person began to type
)

// ReasonUnanswered is the reason of a step that was stopped because it went on asking
// where nobody answers.
const ReasonUnanswered = "unanswered"

// unanswered is why such a step was stopped.
type unanswered struct{ message string }

func (u unanswered) Error() string { return u.message }

// answer renders the default response.
func (t *try) answer() (err error) {
	if t.Interactive.Default == nil {
		return nil
	}
	if t.response, err = t.Interactive.Default.Text(t.scope); err != nil {
		return inputError{fmt.Errorf("cannot use the default response: %w", err)}
	}
	if i := strings.IndexFunc(t.response, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f }); i >= 0 {
		return inputError{fmt.Errorf("cannot use the default response: it holds the control character %q, which a terminal would act upon", t.response[i])}
	}
	return nil
}

// attended waits for the process while somebody, or the default response, answers it.
func (t *try) attended(ctx context.Context, p proc.Process) (proc.Exit, bool, error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	t.alone = make(chan struct{})
	a := &attendant{try: t, giveUp: giveUp, over: make(chan struct{})}
	a.begin()
	exit, stopped, err := t.wait(ctx, p)
	a.end()
	t.tty.hangUp()
	t.gaveUp, _ = context.Cause(ctx).(unanswered)
	return exit, stopped, err
}

// attendant answers one interactive try.
type attendant struct {
	*try
	giveUp  context.CancelCauseFunc
	over    chan struct{} // closed when the step is
	working sync.WaitGroup

	given   int         // answers
	partial atomic.Bool // the person has begun a line
}

func (a *attendant) begin() {
	if a.person == nil {
		close(a.alone)
	} else {
		go a.keys() // Close of the Attachment ends it
		a.working.Go(a.sizes)
	}
	a.working.Go(a.watch)
}

func (a *attendant) end() {
	close(a.over)
	a.working.Wait()
}

// keys passes on what the person types.
func (a *attendant) keys() {
	defer close(a.alone)
	buf := make([]byte, 4<<10)
	for {
		n, err := a.person.Read(buf)
		select {
		case <-a.over:
			return
		default:
		}
		if n > 0 {
			a.partial.Store(!bytes.ContainsAny(buf[n-1:n], "\r\n"))
			a.tty.typeIn(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// sizes passes on the window's sizes.
func (a *attendant) sizes() {
	sizes := a.person.Size()
	for {
		select {
		case s, ok := <-sizes:
			if !ok {
				return
			}
			a.tty.resize(s)
		case <-a.over:
			return
		}
	}
}

// watch answers when nobody else does.
func (a *attendant) watch() {
	alone := a.alone
	for {
		patience, forEver := a.patience()
		wait := max(patience-a.tty.silence(), lookAgain)
		if forEver {
			wait = time.Hour
		}
		timer := time.NewTimer(wait)
		select {
		case <-a.over:
		case <-alone:
			alone = nil // patience has changed
		case <-timer.C:
		}
		timer.Stop()
		select {
		case <-a.over:
			return
		default:
		}
		patience, forEver = a.patience()
		if forEver || a.tty.silence() < patience || a.tty.unread() {
			continue
		}
		if !a.give() {
			return
		}
	}
}

// patience is how long both may be silent.
func (a *attendant) patience() (d time.Duration, forEver bool) {
	select {
	case <-a.alone:
		return atOnce, false
	default:
	}
	return a.Interactive.Timeout, a.Interactive.Timeout <= 0
}

// give types the default response, or ends the input. It says false when that has been
// done too often.
func (a *attendant) give() bool {
	has := a.Interactive.Default != nil
	text, most := endOfInput, maxEnds
	if has {
		text, most = a.response+"\n", maxAnswers
	}
	if a.given == most {
		a.giveUp(a.endless(has))
		return false
	}
	if a.given == 0 {
		a.announce(has)
	}
	a.given++
	if a.partial.Swap(false) {
		text = killLine + text
	}
	a.tty.typeIn([]byte(text))
	return true
}

// announce tells the person that the answer is taken from them.
func (a *attendant) announce(has bool) {
	a.ended = !has
	select {
	case <-a.alone:
		return
	default:
	}
	text := fmt.Sprintf("nobody answered within %v: the default response is taken", a.Interactive.Timeout)
	if !has {
		text = fmt.Sprintf("nobody answered within %v, and there is no default response: the input ends", a.Interactive.Timeout)
	}
	go a.tty.tell("flowrun: " + text) // which may have to wait for a slow terminal
	a.session.Notify(Notice{Code: NoticeNobody, Step: a.call.Path, Message: string(a.call.Path) + ": " + text})
}

func (a *attendant) endless(has bool) unanswered {
	if has {
		return unanswered{fmt.Sprintf("went on asking after %d default responses; give another default-response, or answer on a terminal", maxAnswers)}
	}
	return unanswered{"went on asking where nobody answers; set interactive-options.default-response, or answer on a terminal"}
}

// unaided is a hint for a step that failed after its input was ended.
const unaided = "nobody was there to answer, and there is no default-response: if it asked, it got the end of input"

// explainUnanswered says so in a failed Result.
func (t *try) explainUnanswered(r *dag.Result) {
	switch {
	case t.gaveUp.message != "":
		r.Status, r.ExitCode, r.Reason, r.Message = dag.Failed, 1, ReasonUnanswered, t.gaveUp.message
	case t.ended && r.Status == dag.Failed && r.Message == "":
		r.Message = unaided
	}
}

package terminal

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/internal/engine/notice"
)

// No system shows whether a process is waiting for input. flowrun assumes it if everything typed and
// printed so far has been read, nothing was printed for a while, and no process of the step is running. An answer
// that comes too early does little harm: it stays in the terminal until the step reads it, and no other
// answer is typed before that. But then the question counts as output of the step, because it comes
// after the answer.

const (
	// unattendedTimeout is how long a step must be silent before it is answered if no person is
	// there.
	unattendedTimeout = 200 * time.Millisecond
	// recheckInterval is the shortest time between two checks whether a step is waiting.
	recheckInterval = 100 * time.Millisecond
	// asleepInterval is the time between two checks that must both find that the step waits for input.
	// A program that is starting sleeps too, but only for moments.
	asleepInterval = 30 * time.Millisecond
	// busyTimeout is how long a step that is running must be silent before it is answered anyway: it
	// may ask for input again and again without waiting for it.
	busyTimeout = 5 * time.Second

	// A step that still asks after this many default responses, or ends of input, will never stop
	// asking.
	maxResponses = 50
	maxEnds      = 10

	endOfInput = "\x04" // ^D in terminals
	killLine   = "\x15" // ^U: deletes what a person has typed of a line
)

// ReasonUnanswered is the reason of a step that was stopped because it kept asking and nobody
// answered.
const ReasonUnanswered = "unanswered"

// unansweredError is the message of such a step.
type unansweredError struct{ message string }

func (u unansweredError) Error() string { return u.message }

// responder answers one interactive attempt.
type responder struct {
	*Dialog
	cancel  context.CancelCauseFunc
	leader  int           // of the session that has the terminal
	done    chan struct{} // closed when the step has ended
	working sync.WaitGroup

	responses   int         // number of default responses so far
	lineStarted atomic.Bool // the person has typed part of a line
}

func (a *responder) begin(prompts context.Context) {
	if a.person == nil {
		close(a.personGone)
	} else {
		go a.copyKeys() // ends when the Attachment is closed
		a.working.Go(a.copySizes)
	}
	a.working.Go(func() { a.watch(prompts) })
}

func (a *responder) stop() {
	close(a.done)
	a.working.Wait()
}

// copyKeys passes on what the person types.
func (a *responder) copyKeys() {
	defer close(a.personGone)
	buf := make([]byte, 4<<10)
	for {
		n, err := a.person.Read(buf)
		select {
		case <-a.done:
			return
		default:
		}
		if n > 0 {
			a.lineStarted.Store(!bytes.ContainsAny(buf[n-1:n], "\r\n"))
			a.tty.typeIn(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// copySizes passes on sizes of the window.
func (a *responder) copySizes() {
	sizes := a.person.Size()
	for {
		select {
		case s, ok := <-sizes:
			if !ok {
				return
			}
			a.tty.resize(s)
		case <-a.done:
			return
		}
	}
}

// watch answers the step if no person at a terminal does. ctx is that of calls to Options.Prompt.
func (a *responder) watch(ctx context.Context) {
	personGone, asleep := a.personGone, false
	for {
		timeout, forEver := a.timeout()
		wait := max(timeout-a.tty.silence(), recheckInterval)
		switch {
		case forEver:
			wait = time.Hour
		case asleep:
			wait = asleepInterval
		}
		timer := time.NewTimer(wait)
		select {
		case <-a.done:
		case <-personGone:
			personGone = nil // the timeout has changed
		case <-timer.C:
		}
		timer.Stop()
		select {
		case <-a.done:
			return
		default:
		}
		timeout, forEver = a.timeout()
		if forEver || a.tty.silence() < timeout || a.tty.inFlight() || a.tty.silence() < busyTimeout && (a.betweenLines() || isBusy(a.leader)) {
			asleep = false
			continue
		}
		if asleep = !asleep; asleep {
			continue
		}
		if !a.prompt(ctx) && !a.respond() {
			return
		}
	}
}

// timeout returns how long both the step and the person may be silent.
func (a *responder) timeout() (d time.Duration, forEver bool) {
	select {
	case <-a.personGone:
		return unattendedTimeout, false
	default:
	}
	return a.Interactive.Timeout, a.Interactive.Timeout <= 0
}

// respond types the default response, or ends the input. It returns false if it has done so too
// often.
func (a *responder) respond() bool {
	hasDefault := a.Interactive.Default != nil
	text, limit := endOfInput, maxEnds
	if hasDefault {
		text, limit = a.defaultResponse+"\n", maxResponses
	}
	if a.responses == limit {
		a.cancel(a.tooManyResponses(hasDefault))
		return false
	}
	if a.responses == 0 {
		a.announce(hasDefault)
	}
	a.responses++
	if a.lineStarted.Swap(false) {
		text = killLine + text
	}
	a.tty.typeIn([]byte(text))
	return true
}

// announce tells the person that the default response was taken instead of theirs.
func (a *responder) announce(hasDefault bool) {
	a.inputEnded = !hasDefault
	select {
	case <-a.personGone:
		return
	default:
	}
	text := fmt.Sprintf("no answer within %v: using the default response", a.Interactive.Timeout)
	if !hasDefault {
		text = fmt.Sprintf("no answer within %v, and there is no default response: closing the input", a.Interactive.Timeout)
	}
	a.tty.printNotice("flowrun: " + text)
	a.desk.Notify(notice.Notice{Code: notice.Unanswered, Step: a.step, Message: string(a.step) + ": " + text, Announced: true})
}

func (a *responder) tooManyResponses(hasDefault bool) unansweredError {
	if hasDefault {
		return unansweredError{fmt.Sprintf("still asking after %d default responses; use another default-response, or answer on a terminal", maxResponses)}
	}
	return unansweredError{"still asking although the input is closed; set interactive-options.default-response, or answer on a terminal"}
}

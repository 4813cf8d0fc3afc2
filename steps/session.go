package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/mask"
	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/procid"
)

// DefaultGrace is how long a step has between TERM and KILL unless told
// otherwise.
const DefaultGrace = 10 * time.Second

// Options are how a run's steps are run. The zero Options work.
type Options struct {
	Run    string    // the run's id
	Epoch  int       // counts the run's owners from 1; 0 is 1. By it this owner's processes are known
	Env    []string  // what steps inherit, K=V; nil: this process's environment
	LogDir string    // where output is kept, a LogFolder; "": in a private folder that Close removes
	Host   proc.Host // starts processes that carry procid.Mark(Run, Epoch); nil: this process does. Close closes it

	// Confines says that the program in which Host starts processes calls
	// confine.Main, so that steps can be confined.
	Confines bool

	Grace time.Duration   // between TERM and KILL; 0: DefaultGrace; negative: KILL at once
	Force <-chan struct{} // closing it ends every grace period; as dag.Options.Force

	// Follow, where set, is asked for a writer for each stream of each try, which
	// gets a masked copy of it as it grows; a nil writer is not followed. A writer
	// is used by one goroutine and closed by nobody; one that blocks delays the end
	// of the step it follows.
	Follow func(path dag.ID, s Streams) io.Writer
	// Console and Function, where set, hear the lines of steps that stream to them:
	// in order for each stream, one call at a time. A call that takes its time holds no
	// step up, and is waited for when the run has ended while it gets on.
	Console, Function func(Chunk)
	// Terminal, where set, is where a person answers interactive steps.
	Terminal Terminal
	// HTTP asks an address, with GET, and follows redirects: the answer is the status.
	// nil: steps that wait for an address fail.
	HTTP func(ctx context.Context, url string) (status int, err error)
	// Notify, where set, is told what people should know and no Result says. It
	// may be called by several goroutines at once.
	Notify func(Notice)
	// Trace, where set, answers TRACEPARENT and TRACESTATE for a try, "" for none. What
	// the definition sets wins. It is called from several goroutines at once.
	Trace func(path dag.ID, attempt int) (parent, state string)
}

// Streams is a set of a step's output streams.
type Streams uint8

// The streams.
const (
	Stdout Streams = 1 << iota
	Stderr
)

// NoticeCode says in one stable word what a Notice is about.
type NoticeCode string

// The codes of notices.
const (
	NoticeBackground NoticeCode = "background-ended" // processes outlived their step and were ended with the run
	NoticeEscaped    NoticeCode = "escaped"          // processes could not be ended, or may belong to the run
	NoticeOutputOpen NoticeCode = "output-open"      // a background process still prints into a step's output
	NoticeEnvFile    NoticeCode = "env-file"         // an env file can be used but looks wrong
	NoticeUnset      NoticeCode = "unset-variable"   // an environment value, or a name in environment.secrets, stands for a variable that is not set
	NoticeNotCached  NoticeCode = "not-cached"       // a step's result was not put into the cache, and why
	NoticeUnanswered NoticeCode = "unanswered"       // nobody answered an interactive step
	NoticeStream     NoticeCode = "stream"           // streamed output was not passed on
	NoticeTruncated  NoticeCode = "truncated"        // a reference reads an output that was cut at its buffer-limit
	NoticeShortage   NoticeCode = "shortage"         // a step waits to start: the system is out of descriptors, processes or memory
	NoticeUndeclared NoticeCode = "undeclared"       // a value was given for a parameter that the tool does not declare
)

// Notice is something people should know.
type Notice struct {
	Code      NoticeCode    `json:"code"`
	Step      dag.ID        `json:"step,omitempty"` // "" for the run
	Message   string        `json:"message"`
	Processes []procid.Info `json:"processes,omitempty"`
}

// maxStarting is how many tries of a session start at the same moment. The
// system forks one process at a time anyway.
const maxStarting = 4

// Session is the steps of one run. It is safe for concurrent use.
type Session struct {
	options      Options
	host         proc.Host
	mask         mask.Mask
	inherits     environ // for programs
	shells       environ // for shells: without what they would source
	programs     programs
	null         *os.File
	starting     chan struct{} // tries that are being started
	terminalLock chan struct{} // the try that has the terminal
	polling      chan struct{} // looks of Lookouts that are being taken

	mu          sync.Mutex
	private     string     // folder; "" until needed
	unusedFiles []*os.File // empty files without a name, to be used again
	temps       []string
	limits      []memoryLimit // that hold what steps left in the background
	pipes       map[*pipe]struct{}
	stopStarted time.Time // when a step was last told to stop
	stopEnded   time.Time // when one last had
	copying     sync.WaitGroup

	streamed   map[string]bool // files that output was streamed to
	relays     sync.WaitGroup
	delivering sync.Mutex   // held while Console or Function is called
	delivered  atomic.Int64 // chunks

	shortageReported atomic.Bool // people were told of a shortage
}

// Unopened is a Session for a look ahead: it masks and reads env files, and starts nothing.
func Unopened() *Session { return &Session{} }

// Open begins a run. Close must follow.
func Open(o Options) (*Session, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	switch {
	case o.Grace == 0:
		o.Grace = DefaultGrace
	case o.Grace < 0:
		o.Grace = 0
	}
	proc.FillReserve()
	null, err := proc.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open the null device: %w", err)
	}
	if o.LogDir != "" {
		if err := os.MkdirAll(o.LogDir, 0o700); err != nil {
			null.Close()
			return nil, fmt.Errorf("cannot make the log folder %q: %w", o.LogDir, err)
		}
	}
	s := &Session{options: o, host: o.Host, null: null, starting: make(chan struct{}, maxStarting), terminalLock: make(chan struct{}, 1), polling: make(chan struct{}, maxPolls), pipes: map[*pipe]struct{}{}, streamed: map[string]bool{}}
	if s.host == nil {
		s.host = proc.Open(procid.Mark(o.Run, o.Epoch))
	}
	s.inherits = newEnviron(o.Env)
	s.shells = s.inherits.without("BASH_ENV", "ENV")
	return s, nil
}

// Mask hides secrets in text.
type Mask = mask.Mask

// Replacement is printed in place of a secret.
const Replacement = mask.Replacement

// ErrShortSecret says that a secret is too short to mask.
var ErrShortSecret = mask.ErrShortSecret

// Mask is what the run keeps secret. Add to it before the first step starts.
func (s *Session) Mask() *Mask { return &s.mask }

// noteStop notes that a step is told to stop; the answer is to be called when it has.
func (s *Session) noteStop() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopStarted = time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stopEnded = time.Now()
	}
}

// minCloseGrace is what is left in the background of a stopped run may count on
// between TERM and KILL, however long the run's steps took to go.
const minCloseGrace = time.Second

// closeGrace is the grace period of what is left when the run ends. Just after steps
// were stopped it is what is left of theirs: stopping a run takes one grace period,
// not two.
func (s *Session) closeGrace() time.Duration {
	grace := s.options.Grace
	s.mu.Lock()
	told, stopped := time.Since(s.stopStarted), time.Since(s.stopEnded) // very long when nothing was stopped
	s.mu.Unlock()
	if told > grace+proc.MaxKillTime && stopped > proc.MaxKillTime { // on a busy machine stopping takes longer
		return grace
	}
	return min(grace, max(grace-told, minCloseGrace))
}

// endProcesses closes the host. Force ends the grace period here too.
func (s *Session) endProcesses(ctx context.Context) (proc.Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	var forced sync.WaitGroup
	forced.Go(func() {
		select {
		case <-s.options.Force:
			cancel()
		case <-ctx.Done():
		}
	})
	defer forced.Wait()
	defer cancel()
	return s.host.Close(ctx, s.closeGrace())
}

// Close ends what steps left running, gives back files and folders, and returns
// what people should know. When ctx is done, or Options.Force closed, it skips the
// rest of the grace period. No step may run any more.
func (s *Session) Close(ctx context.Context) ([]Notice, error) {
	report, err := s.endProcesses(ctx)
	s.removeLimits()
	var notices []Notice
	if len(report.Ended) > 0 {
		notices = append(notices, Notice{Code: NoticeBackground, Processes: report.Ended,
			Message: "ended processes that steps left in the background: " + proc.Names(report.Ended) +
				`; set "detach: true" on a step to leave them running`})
	}
	if len(report.Escaped) > 0 {
		notices = append(notices, Notice{Code: NoticeEscaped, Processes: report.Escaped,
			Message: "processes that may belong to the run are still running: " + proc.Names(report.Escaped) +
				"; end them yourself if they do"})
	}
	s.mu.Lock()
	for p := range s.pipes {
		p.abandon()
	}
	for _, f := range s.unusedFiles {
		f.Close()
	}
	s.mu.Unlock()
	s.copying.Wait()
	notices = append(notices, s.waitForListeners(ctx)...)
	err = errors.Join(err, s.null.Close())
	if s.private != "" {
		err = errors.Join(err, os.RemoveAll(s.private))
	}
	for _, dir := range s.temps {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return notices, err
}

// RemoveAtClose has a folder removed with the session, whatever becomes of the
// cleanup that should do it sooner: a run stopped by force has none.
func (s *Session) RemoveAtClose(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.temps = append(s.temps, dir)
}

// Notify tells people something, through Options.Notify.
func (s *Session) Notify(n Notice) {
	if s.options.Notify != nil {
		s.options.Notify(n)
	}
}

// folder is the run's private folder: for scripts, input, large values, and for
// output when no log folder was named.
func (s *Session) folder() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.private == "" {
		dir, err := makePrivate(s.options.Run)
		if err != nil {
			return "", err
		}
		s.private = dir
	}
	return s.private, nil
}

// logFolder is where output goes.
func (s *Session) logFolder() (dir string, err error) {
	if s.options.LogDir != "" {
		return s.options.LogDir, nil
	}
	return s.folder()
}

// secretFile writes a file that only this user can read. The caller removes it.
func (s *Session) secretFile(pattern, text string) (path string, err error) {
	dir, err := s.folder()
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, pattern) // 0600
	if err != nil {
		return "", fmt.Errorf("cannot make a file for a step: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("cannot write a file for a step: %w", err)
	}
	return f.Name(), nil
}

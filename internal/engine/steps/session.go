package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/commandline"
	"github.com/flowrun/flowrun/internal/engine/limitednet"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/output"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/remote"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/systrace"
)

// DefaultGrace is the time between TERM and KILL if Options.Grace is 0.
const DefaultGrace = 10 * time.Second

// Options configure the steps of a run. The zero Options work.
type Options struct {
	Run    string   // id of the run
	Epoch  int      // counts the owners of the run from 1; 0 means 1. It is part of the mark of the processes
	Env    []string // what steps inherit, K=V; nil: the environment of this process
	LogDir string   // where output is kept, a rundir.LogFolder; "": a private folder that Close removes
	// Recorded means that what Results have of the output is recorded, so an output that one has completely needs no log
	// file. LogDir is then made when the first log gets a name, and Close removes it if it is empty.
	Recorded bool
	Host     proc.Host // starts processes, which carry procid.Mark(Run, Epoch); nil: this process starts them. Close closes it

	// Unenforced means that steps may start although this machine cannot enforce their permissions
	// or limits.
	Unenforced bool

	// Helper is the program that makes network namespaces for steps; it contains package netns. "" is this program.
	Helper string
	// Egress serves the network namespace of steps that may reach only some hosts, until stop is called. If it is nil,
	// such steps fail.
	Egress func(limitednet.Egress) (stop func())

	Parallel int // how many steps may run at once; 0: any number

	Grace time.Duration   // time between TERM and KILL; 0: DefaultGrace; negative: KILL at once
	Force <-chan struct{} // closing it ends every grace period, like dag.Options.Force

	// Follow, if set, is called for each stream of each attempt, except interactive ones. The writer
	// that it returns gets a masked copy of the stream as it grows; nil means none. A writer is used
	// by one goroutine and is never closed. A writer that blocks delays the end of its step.
	Follow func(path dag.ID, s Streams) io.Writer
	// Console and Function, if set, receive the lines of steps that stream to them: in order for
	// each stream, one call at a time. A slow call delays no step. After the run, Close waits for
	// these calls as long as they make progress.
	Console, Function func(Chunk)
	// Progress, if set, receives how far steps are that report it, one call at a time. Without it, Console gets a line.
	Progress func(Progress)
	// Terminal, if set, lets a person answer interactive steps.
	Terminal terminal.Terminal
	// Prompt, if set, is called when an interactive step that has no Terminal seems to wait for input,
	// but not for a password. What it returns is typed as a line. After an error the attempt is
	// answered by its default response. Prompt must be safe for concurrent use, and return soon after
	// its context ends.
	Prompt func(context.Context, terminal.Prompt) (line string, err error)
	// HTTP sends a GET request, follows redirects, and returns the status. If it is nil, steps that
	// wait for a URL fail.
	HTTP func(context.Context, StatusRequest) (status int, err error)
	// Notify, if set, receives what people should know and no Result says. It must be safe for
	// concurrent use.
	Notify func(notice.Notice)
	// Trace, if set, returns TRACEPARENT and TRACESTATE for an attempt, "" for none. Variables of
	// the definition override them. It must be safe for concurrent use.
	Trace func(path dag.ID, attempt int) (parent, state string)
	// Observe, if set, receives what processes use, except those of steps with Detach. Processes wait
	// until it returns. They cannot gain rights through setuid programs. It must be safe for
	// concurrent use.
	Observe func(systrace.Access)
}

// Streams is a set of what references read of a step: its output streams and its declared outputs.
type Streams uint8

// What references read.
const (
	Stdout Streams = 1 << iota
	Stderr
	Outputs // no stream: the declared outputs
	Artifacts
)

// log returns the stream whose log files an output stream has.
func (s Streams) log() rundir.Stream {
	if s == Stderr {
		return rundir.Stderr
	}
	return rundir.Stdout
}

// maxStarting is how many attempts of a Session start at the same time. The system forks one
// process at a time anyway.
const maxStarting = 4

// Session runs the steps of one run. Safe for concurrent use.
type Session struct {
	options    Options
	host       proc.Host
	domain     procid.Domain // of the host; 0 for a preview
	mask       mask.Mask
	keeper     output.Keeper // of what steps print
	markRun    string        // these two are variables of every process, by which it is found
	markOwner  string
	inherits   commandline.Environ // for programs
	shells     commandline.Environ // for shells: without the variables that name files to source
	programs   commandline.Programs
	null       *os.File
	startSlots chan struct{}  // slots for attempts that are starting
	desk       *terminal.Desk // of interactive steps
	pollSlots  chan struct{}  // slots for polls of Pollers

	mu          sync.Mutex
	observer    *observer         // nil: nothing is observed
	private     string            // private folder; "" until it is needed
	temp        map[string]string // temporary folders of enforced steps, by their rights
	temps       []string
	ofRun       []tempFolder
	limits      []stepLimit // memory limits of steps that left something in the background
	stopStarted time.Time   // when flowrun last began to stop a step
	stopEnded   time.Time   // when a step was last stopped
	ended       sync.Once   // by End
	endError    error       // of End

	streamed   map[string]bool // files to which output was streamed
	relays     sync.WaitGroup
	delivering sync.Mutex   // held while Console, Function or Progress is called
	delivered  atomic.Int64 // number of chunks and reports
	reports    []Progress   // that wait for their receiver; with mu
	reporting  bool         // they are being delivered; with mu

	connections remote.Connections  // of steps on other machines
	networks    limitednet.Networks // of steps that may reach only some hosts

	containersSwept atomic.Bool // abandoned containers were removed

	shortageReported atomic.Bool // a notice about a shortage was sent
	limitReported    atomic.Bool // a notice about a loop was sent; see NotifyLimit
}

// Unopened returns a Session that can mask and read env files but cannot start anything. It is for
// previews.
func Unopened() *Session { return newSession(Options{}) }

func newSession(o Options) *Session {
	s := &Session{options: o, host: o.Host, startSlots: make(chan struct{}, maxStarting), pollSlots: make(chan struct{}, maxPolls), streamed: map[string]bool{}}
	s.keeper = output.Keeper{Dir: o.LogDir, Recorded: o.Recorded, Private: s.folder, Mask: &s.mask}
	return s
}

// Discard removes what a Session that was not opened has made: the folder in which the program that reads a secret file
// starts. The Session itself stays usable.
func (s *Session) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.private != "" {
		_ = os.RemoveAll(s.private) // empty but for a folder
		s.private, s.temp = "", nil
	}
}

// Open starts a Session. Close must follow.
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
	null, err := nullDevice()
	if err != nil {
		return nil, fmt.Errorf("cannot open the null device: %w", err)
	}
	if err := procid.CheckTable(); errors.Is(err, procid.ErrNotMounted) { // log files are opened by it
		return nil, fmt.Errorf("cannot start steps: %w", err)
	}
	s := newSession(o)
	if err := s.keeper.MakeFolder(); err != nil {
		return nil, err
	}
	s.null = null
	s.desk = terminal.OpenDesk(terminal.Desk{Terminal: o.Terminal, Prompt: o.Prompt, Mask: &s.mask, Notify: s.Notify})
	if s.host == nil {
		s.host = proc.Open(procid.Mark(o.Run, o.Epoch), 0)
	}
	s.domain = s.host.Domain()
	s.networks.Means, s.networks.Unenforced, s.networks.Helper, s.networks.Egress, s.networks.Refused = o.means(), o.Unenforced, o.Helper, o.Egress, s.NotifyRefused
	s.markRun, s.markOwner = procid.MarkRun+"="+o.Run, procid.MarkOwner+"="+procid.Mark(o.Run, o.Epoch)
	s.inherits = commandline.NewEnviron(o.Env)
	if _, nested := s.inherits.Lookup(outputVariable); nested { // the file belongs to the step around this run
		s.inherits = s.inherits.Without(outputVariable)
	}
	s.shells = s.inherits.Without("BASH_ENV", "ENV")
	if err := s.startObserver(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.private))
	}
	return s, nil
}

// Mask hides secrets in text.
type Mask = mask.Mask

// Replacement is printed in place of a secret.
const Replacement = mask.Replacement

// Mask returns the secrets of the run. Add to it before the first step starts.
func (s *Session) Mask() *Mask { return &s.mask }

// noteStop records that flowrun begins to stop a step. Call done when the step has been stopped.
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

// minCloseGrace is the least grace period of background processes when a stopped run ends, however
// long its steps took to stop.
const minCloseGrace = time.Second

// closeGrace returns the grace period of what is left when the run ends. If steps were just
// stopped, it is the rest of their grace period, because stopping a run should take one grace
// period and not two.
func (s *Session) closeGrace() time.Duration {
	grace := s.options.Grace
	s.mu.Lock()
	sinceStart, sinceEnd := time.Since(s.stopStarted), time.Since(s.stopEnded) // very long if no step was stopped
	s.mu.Unlock()
	if sinceStart > grace+proc.MaxKillTime && sinceEnd > proc.MaxKillTime { // stopping takes longer on a busy machine
		return grace
	}
	return min(grace, max(grace-sinceStart, minCloseGrace))
}

// endProcesses closes the host. Force ends the grace period here, too.
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

// End ends what steps left running, and makes the notices about it. Repeated calls do nothing. When ctx is done or
// Options.Force is closed, it skips the rest of the grace period. No step may be running or start any more.
func (s *Session) End(ctx context.Context) error {
	s.ended.Do(func() { s.endError = s.end(ctx) })
	return s.endError
}

func (s *Session) end(ctx context.Context) error {
	s.connections.Close()
	report, err := s.endProcesses(ctx)
	s.removeLimits()
	err = errors.Join(err, s.networks.Close())
	if len(report.Ended) > 0 {
		s.Notify(notice.Notice{Code: notice.Background, Processes: processesOf(report.Ended),
			Message: "stopped processes that steps left in the background: " + proc.Names(report.Ended) +
				`; to leave them running, set "detach: true" on the step`})
	}
	if len(report.Escaped) > 0 {
		s.Notify(notice.Notice{Code: notice.Escaped, Processes: processesOf(report.Escaped),
			Message: "processes that may belong to the run are still running: " + proc.Names(report.Escaped) +
				"; if they do, stop them yourself"})
	}
	s.keeper.Close()
	s.waitForListeners(ctx)
	return errors.Join(err, s.observer.close())
}

// Close does what End does, and removes private files and folders.
func (s *Session) Close(ctx context.Context) error {
	err := s.End(ctx)
	if s.private != "" {
		err = errors.Join(err, os.RemoveAll(s.private))
	}
	for _, dir := range s.temps {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if s.options.Recorded && s.options.LogDir != "" { // only what is empty is removed
		os.Remove(s.options.LogDir)
		os.Remove(s.runFolder())
	}
	return err
}

// processesOf describes processes in a notice.
func processesOf(list []procid.Info) []dag.Process {
	processes := make([]dag.Process, len(list))
	for i, p := range list {
		processes[i] = dag.Process{PID: p.PID, Name: p.Name, Step: dag.ID(p.Step)}
	}
	return processes
}

// RemoveAtClose makes Close remove a folder. A cleanup may remove it earlier, but a run that is
// stopped by force has none.
func (s *Session) RemoveAtClose(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.temps = append(s.temps, dir)
}

// Notify passes a Notice to Options.Notify, without secrets.
func (s *Session) Notify(n notice.Notice) {
	if s.options.Notify != nil {
		n.Message = s.mask.String(n.Message)
		s.options.Notify(n)
	}
}

// NotifyRefused sends the notice about a connection of a step that its permissions do not grant.
func (s *Session) NotifyRefused(step dag.ID, target, reason string) {
	s.Notify(notice.Notice{Code: notice.Network, Step: step, Message: fmt.Sprintf("refused to connect to %s: %s", target, reason)})
}

// folder returns the private folder of the run. It contains scripts, input and large values, and
// the output if there is no LogDir.
func (s *Session) folder() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.private == "" {
		dir, err := rundir.MakePrivate(s.options.Run, s.domain)
		if err != nil {
			return "", err
		}
		s.private = dir
	}
	return s.private, nil
}

// PrivateFolder returns a folder that only this user can read, and that Close removes.
func (s *Session) PrivateFolder() (string, error) { return s.folder() }

// artifacts returns the folder with what was kept of earlier steps of the run, which every step may read, "" if there is
// none.
func (s *Session) artifacts() string {
	state := filepath.Dir(filepath.Dir(filepath.Dir(s.options.LogDir)))
	if s.options.LogDir == "" {
		s.mu.Lock()
		state = s.private
		s.mu.Unlock()
	}
	if dir := rundir.ArtifactFolder(state, s.options.Run); isFolder(dir) {
		return permission.RealPath(dir)
	}
	return ""
}

// secretFile writes a file that only this user can read. The caller removes it.
func (s *Session) secretFile(pattern, text string) (path string, err error) {
	dir, err := s.folder()
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, pattern) // 0600
	if err != nil {
		return "", fmt.Errorf("cannot create a file for a step: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("cannot write a file for a step: %w", err)
	}
	return f.Name(), nil
}

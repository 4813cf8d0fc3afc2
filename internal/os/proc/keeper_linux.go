package proc

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// A keeper is a process that ends what the steps of this program have left when the program is
// killed. It is the same program, executed again, and waits at a pipe: when the program ends,
// however it ends, the kernel closes its end. Then the keeper calls Sweep.
//
// A program has one keeper for each domain in which it has steps. A short program has none, because
// to start one costs more than a step: it begins only when processes have run for keeperDelay, or
// when Keep asks for it.
type keeper struct {
	users   int         // Groups with processes, and callers of Keep
	timer   *time.Timer // starts it
	process *os.Process // nil until it is started
	pipe    *os.File    // our end
	ended   chan struct{}
}

// keepers are those of this process.
var keepers struct {
	sync.Mutex
	of map[procid.Domain]*keeper
}

const (
	// keeperName is argv[0] of a keeper, and argv[1] is the tag of its program in the domain.
	keeperName = "flowrun-keeper"
	// keeperDelay is how long the first process of a program runs before there is a keeper.
	keeperDelay = time.Second
	// keptGrace is how long processes may take to end after TERM.
	keptGrace = time.Second
)

// canKeep is set once this program has called KeeperMain: then executing it again starts a keeper.
var canKeep atomic.Bool

// KeeperMain does nothing in an ordinary process. If this process was started as a keeper, it is one
// and never returns. A program that calls BecomeReaper calls it before.
func KeeperMain() {
	if len(os.Args) < 2 || os.Args[0] != keeperName {
		canKeep.Store(true)
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE) // only the end of the program ends it
	_, _ = io.Copy(io.Discard, os.Stdin)
	sweepAfter(os.Args[1])
	os.Exit(0)
}

// sweepAfter ends what the program with this tag has left, once it has ended. It does so more than
// once: a process that the program had forked a moment before gets its birthmark a moment later.
func sweepAfter(tag string) {
	domain, gone := procid.ReadTag(tag)
	for end := time.Now().Add(time.Minute); !gone; domain, gone = procid.ReadTag(tag) {
		if time.Now().After(end) { // it has closed the pipe and lives: it was replaced by another program
			return
		}
		time.Sleep(minPause)
	}
	for _, pause := range []time.Duration{0, maxPause, 4 * maxPause, 20 * maxPause} {
		time.Sleep(pause)
		_, _ = Sweep(context.Background(), domain, keptGrace) // nobody is left to report an error to
	}
}

// Keep starts the keeper of a domain at once, for a program that executes steps for a long time. Call
// release when it does not start any more. If this program is not a reaper or the keeper cannot be
// started, the next program of the domain ends what is left, as without Keep.
func Keep(d procid.Domain) (release func()) { return keep(d, 0) }

// keep is Keep that starts the keeper after a delay, unless it is released before.
func keep(d procid.Domain, delay time.Duration) (release func()) {
	// What the first process of a namespace starts ends with it.
	if d == 0 || d.Birthmark() == 0 || !IsReaper() || !canKeep.Load() || os.Getpid() == 1 {
		return func() {}
	}
	keepers.Lock()
	defer keepers.Unlock()
	k := keepers.of[d]
	if k == nil {
		k = &keeper{}
		if keepers.of == nil {
			keepers.of = map[procid.Domain]*keeper{}
		}
		keepers.of[d] = k
	}
	k.users++
	switch {
	case delay == 0:
		k.start(d)
	case k.timer == nil && k.process == nil:
		k.timer = time.AfterFunc(delay, func() {
			keepers.Lock()
			defer keepers.Unlock()
			if k.users > 0 {
				k.start(d)
			}
		})
	}
	return sync.OnceFunc(func() { k.release(d) })
}

// start starts the process, unless it is running. The lock is held.
func (k *keeper) start(d procid.Domain) {
	if k.process != nil {
		return
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return
	}
	defer theirs.Close()
	pid, err := startChild(func(bool) (pid int, err error) {
		// In a session of its own it gets no signal that is for the group of this process.
		k.process, err = os.StartProcess("/proc/self/exe", []string{keeperName, d.Tag()},
			&os.ProcAttr{Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{theirs, nil, nil}, Sys: &syscall.SysProcAttr{Setsid: true}})
		if err != nil {
			return 0, err
		}
		return k.process.Pid, nil
	}, true)
	if err != nil {
		k.process = nil
		ours.Close()
		return
	}
	k.pipe, k.ended = ours, make(chan struct{})
	go func(process *os.Process, ended chan struct{}) {
		_, _ = process.Wait()
		forgetChild(pid)
		close(ended)
	}(k.process, k.ended)
}

// release ends the keeper with its last user.
func (k *keeper) release(d procid.Domain) {
	keepers.Lock()
	defer keepers.Unlock()
	if k.users--; k.users > 0 {
		return
	}
	delete(keepers.of, d)
	if k.timer != nil {
		k.timer.Stop()
	}
	if k.process != nil {
		_ = k.process.Kill()
		<-k.ended
		k.pipe.Close()
	}
}

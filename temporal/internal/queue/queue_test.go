package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// scene is a queue workflow in the test environment of the SDK, which skips time. What it grants is noted with the time.
type scene struct {
	env     *testsuite.TestWorkflowEnvironment
	began   time.Time
	granted []string
	gone    map[string]time.Time // runs that were terminated
	checks  int
}

func newScene(t *testing.T) *scene {
	s := &scene{gone: map[string]time.Time{}}
	var suite testsuite.WorkflowTestSuite
	s.env = suite.NewTestWorkflowEnvironment()
	s.env.SetTestTimeout(waittest.Limit)
	s.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: waittest.Limit})
	s.began = s.env.Now()
	s.env.RegisterWorkflowWithOptions((&Workflow{HeldAfterEnd: 15 * time.Second}).Run, workflow.RegisterOptions{Name: WorkflowType})
	s.env.RegisterActivityWithOptions(func(context.Context, []string) (map[string]time.Time, error) {
		s.checks++
		return s.gone, nil
	}, activity.RegisterOptions{Name: EndedActivity})
	s.env.OnSignalExternalWorkflow(mock.Anything, mock.Anything, "", GrantSignal, mock.Anything).Return(func(_, run, _, _ string, arg any) error {
		if _, gone := s.gone[run]; gone {
			return errors.New("the workflow has ended")
		}
		s.granted = append(s.granted, fmt.Sprintf("%s %s%s", s.since(), run, arg.(Place).Step))
		return nil
	})
	return s
}

func (s *scene) since() time.Duration { return s.env.Now().Sub(s.began).Round(time.Second) }

// at has a run send a request at a time.
func (s *scene) at(after time.Duration, r Request) {
	s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(RequestSignal, r) }, after)
}

// terminate ends a run at a time, without a word to the queue.
func (s *scene) terminate(after time.Duration, run string) {
	s.env.RegisterDelayedCallback(func() { s.gone[run] = s.env.Now() }, after)
}

// run runs the workflow to its end and compares what was granted.
func (s *scene) run(t *testing.T, want ...string) {
	t.Helper()
	s.env.ExecuteWorkflow(WorkflowType, &State{})
	if err := s.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.granted, want) {
		t.Errorf("granted:\n%s\nwant:\n%s", strings.Join(s.granted, "\n"), strings.Join(want, "\n"))
	}
}

// joins is a request for places of a run.
func joins(run string, entries ...Entry) Request { return Request{Run: run, Join: entries} }

func wants(token int, demands ...history.LockDemand) Entry {
	return Entry{Place: Place{Token: token}, Demands: demands}
}

func leaves(run string, tokens ...int) (r Request) {
	r.Run = run
	for _, n := range tokens {
		r.Leave = append(r.Leave, Place{Token: n})
	}
	return r
}

var (
	lockDB = history.LockDemand{Kind: history.DemandLock, Name: "db", Slots: 1}
	lockFS = history.LockDemand{Kind: history.DemandLock, Name: "fs", Slots: 1}
)

// TestFirstComeFirstServed: runs get a lock in the order in which they asked, when it is given back; what they ask for
// together they get together.
func TestFirstComeFirstServed(t *testing.T) {
	s := newScene(t)
	s.at(1*time.Second, joins("a", wants(1, lockDB)))
	s.at(2*time.Second, joins("b", wants(1, lockDB, lockFS)))
	s.at(3*time.Second, joins("c", wants(1, lockFS)))
	s.at(4*time.Second, joins("d", wants(1, lockDB)))
	s.at(5*time.Second, leaves("a", 1))
	s.at(7*time.Second, leaves("b", 1))
	s.at(8*time.Second, leaves("c", 1))
	s.at(9*time.Second, leaves("d", 1))
	s.run(t, "1s a", "5s b", "7s c", "7s d")
}

// TestRepeatedRequest: a request that is sent twice changes nothing, but a place that is held is granted again. One that
// is taken back waits no more.
func TestRepeatedRequest(t *testing.T) {
	s := newScene(t)
	for i := range 3 {
		s.at(time.Duration(1+i)*time.Second, joins("a", wants(1, lockDB)))
		s.at(time.Duration(1+i)*time.Second+time.Millisecond, joins("b", wants(7, lockDB)))
	}
	s.at(4*time.Second, joins("c", wants(1, lockDB)))
	s.at(5*time.Second, leaves("b", 7))
	s.at(5*time.Second, leaves("b", 7))
	s.at(6*time.Second, leaves("a", 1))
	s.at(7*time.Second, leaves("c", 1))
	s.run(t, "1s a", "2s a", "3s a", "6s c")
}

// TestTerminatedHolder: what a run holds that was terminated is free when its steps must have ended, if somebody waits. A
// terminated run that only waits keeps nobody from anything.
func TestTerminatedHolder(t *testing.T) {
	s := newScene(t)
	s.at(1*time.Second, joins("a", wants(1, lockDB)))
	s.terminate(100*time.Second, "a")
	s.at(102*time.Second, joins("b", wants(1, lockDB)))
	s.at(103*time.Second, joins("c", wants(1, lockDB)))
	s.terminate(104*time.Second, "b")
	s.at(200*time.Second, leaves("c", 1))
	s.run(t, "1s a", "1m55s c")
	if s.checks > 3 {
		t.Errorf("it asked %d times which runs have ended", s.checks)
	}
}

// TestNobodyWaits: while nobody waits, nobody is asked about the holders, and the workflow stays open until they leave.
func TestNobodyWaits(t *testing.T) {
	s := newScene(t)
	s.at(1*time.Second, joins("a", wants(1, lockDB)))
	s.at(3*time.Hour, leaves("a", 1))
	s.run(t, "1s a")
	if took := s.since(); s.checks > 0 || took < 3*time.Hour || took > 3*time.Hour+2*idleTime {
		t.Errorf("asked %d times, and ended after %s", s.checks, took)
	}
}

// TestRate: a rate of a pool limits how often its steps start, whoever else waits.
func TestRate(t *testing.T) {
	paced := history.LockDemand{Kind: history.DemandPool, Name: "api", Slots: 9, Rate: history.Rate{N: 2, Per: time.Minute}}
	s := newScene(t)
	for i := range 4 {
		s.at(time.Second, joins(fmt.Sprint("r", i), wants(1, paced)))
		s.at(5*time.Minute, leaves(fmt.Sprint("r", i), 1))
	}
	s.run(t, "1s r0", "1s r1", "31s r2", "1m1s r3")
}

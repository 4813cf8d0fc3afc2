package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/store/eventcode"
)

// Memory is a Store that lasts as long as the program, for programs that embed flowrun and
// for tests. It copies what it stores and returns, in the forms that a file has, so that
// both behave alike: numbers among the parameters of a Record come back as json.Number. An
// owner keeps its run until it closes the Ledger.
type Memory struct {
	mu    sync.Mutex
	runs  []*memoryRun // in the order in which they were created
	queue *LocalQueue
	state []StateValue // all values that were ever set, oldest first
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{queue: NewLocalQueue()} }

// memoryRun is a run and its last owner.
type memoryRun struct {
	info        RunInfo // Status is Running also while it has no owner
	record      []byte
	sourceTexts [][]byte // of the Sources
	events      [][]byte
	lastSeq     uint64    // number of the last event
	lastSign    time.Time // see RunInfo
	epoch       int
	owner       *memoryLedger // nil: no owner
	place       *LocalRun

	answers []Answer

	stateRead map[StateID]bool
	stateSeen []StateValue // what it has read of the tools in stateRead, then what it has set itself
}

// Begin implements Store. It returns an error if there is a run with this id.
func (m *Memory) Begin(ctx context.Context, r *Record) (Ledger, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	record, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("cannot record run %s: %w", r.ID, err)
	}
	run := &memoryRun{record: record, place: m.queue.Run(r.ID), info: RunInfo{ID: r.ID, Tool: r.Tool, RetryOf: r.RetryOf, Origin: r.Origin, Status: dag.Running, Started: r.Created, Labels: maps.Clone(r.Labels)}}
	for _, src := range r.Sources {
		if src.Digest != tool.DigestOf(src.Text) {
			return nil, fmt.Errorf("cannot record run %s: the digest of %s does not match its text", r.ID, src.File)
		}
		run.sourceTexts = append(run.sourceTexts, bytes.Clone(src.Text))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.find(r.ID) != nil {
		return nil, fmt.Errorf("cannot record run %s: a run with this id already exists", r.ID)
	}
	if err := m.endRetry(r); err != nil {
		return nil, err
	}
	m.runs = append(m.runs, run)
	return m.own(run), nil
}

// endRetry notes that the run which a new one retries is not retried automatically any more. It
// fails if a run that does so comes too late.
func (m *Memory) endRetry(r *Record) error {
	if r.RetryOf == "" {
		return nil
	}
	old := m.find(r.RetryOf)
	if r.Automatic && (old == nil || old.info.RetryAt.IsZero()) {
		return fmt.Errorf("cannot record run %s, which retries run %s: %w", r.ID, r.RetryOf, ErrRetried)
	}
	if old != nil {
		old.info.RetryAt = time.Time{}
	}
	return nil
}

// Claim implements Store.
func (m *Memory) Claim(_ context.Context, id string, seq uint64) (Ledger, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := m.find(id)
	switch {
	case run == nil:
		return nil, fmt.Errorf("cannot take over run %s: %w", id, ErrNoRun)
	case run.owner != nil:
		return nil, fmt.Errorf("cannot take over run %s: %w", id, ErrLive)
	case run.lastSeq != seq:
		return nil, fmt.Errorf("cannot take over run %s: %w: its last event is %d, not %d", id, ErrChanged, run.lastSeq, seq)
	}
	run.info.RetryAt = time.Time{}
	return m.own(run), nil
}

// own makes the next owner of a run.
func (m *Memory) own(run *memoryRun) *memoryLedger {
	run.epoch++
	run.owner = &memoryLedger{memory: m, run: run, epoch: run.epoch, cancelRequests: make(chan string, 1), answers: make(chan Answer, len(run.answers)+maxQueuedAnswers)}
	for _, a := range run.answers {
		run.owner.answers <- a.copied()
	}
	return run.owner
}

// find returns the run with that id, nil if there is none.
func (m *Memory) find(id string) *memoryRun {
	for _, run := range slices.Backward(m.runs) {
		if run.info.ID == id {
			return run
		}
	}
	return nil
}

// Record implements Store.
func (m *Memory) Record(_ context.Context, id string) (*Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := m.find(id)
	if run == nil {
		return nil, fmt.Errorf("cannot read run %s: %w", id, ErrNoRun)
	}
	var r Record
	if err := json.Unmarshal(run.record, &r); err != nil {
		return nil, fmt.Errorf("cannot read run %s: %w", id, err)
	}
	for i, text := range run.sourceTexts {
		r.Sources[i].Text = bytes.Clone(text)
	}
	return &r, nil
}

// Info implements Store.
func (m *Memory) Info(_ context.Context, id string) (RunInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := m.find(id)
	if run == nil {
		return RunInfo{}, fmt.Errorf("cannot read run %s: %w", id, ErrNoRun)
	}
	return m.runInfo(run), nil
}

// runInfo returns the run as it is in a list.
func (m *Memory) runInfo(r *memoryRun) RunInfo {
	info := r.info
	info.Epoch = r.epoch
	if r.owner != nil {
		info.PID = os.Getpid()
	}
	if q, waits := r.place.position(); waits {
		return info.WithQueue(q)
	}
	if info.Status == dag.Waiting {
		for _, a := range r.answers {
			info.Answered = append(info.Answered, a.Wait)
		}
		slices.Sort(info.Answered)
	}
	if info.Status == dag.Running && r.owner == nil {
		info.Status, info.Released, info.LastSign = dag.Interrupted, true, r.lastSign
	}
	return info
}

// Events implements Store.
func (m *Memory) Events(_ context.Context, id string, after uint64) ([]dag.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := m.find(id)
	if run == nil {
		return nil, fmt.Errorf("cannot read the events of run %s: %w", id, ErrNoRun)
	}
	var list []dag.Event
	for _, text := range run.events {
		var err error
		if list, err = eventcode.Decode(list, id, text); err != nil {
			return nil, fmt.Errorf("cannot read the events of run %s: %w", id, err)
		}
	}
	return slices.DeleteFunc(list, func(e dag.Event) bool { return e.Seq <= after }), nil
}

// Runs implements Store.
func (m *Memory) Runs(_ context.Context, q Query) ([]RunInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []RunInfo
	past := q.Before == ""
	for _, run := range slices.Backward(m.runs) {
		info := m.runInfo(run)
		if !past {
			past = info.ID == q.Before
			continue
		}
		if !q.Selects(info) || q.Folder != "" && !within(q.Folder, run.record) {
			continue
		}
		if q.WithParams {
			var err error
			if info.Params, err = RecordedParams(run.record); err != nil {
				return nil, fmt.Errorf("cannot read run %s: %w", info.ID, err)
			}
		}
		list = append(list, info)
		if len(list) == q.Limit {
			break
		}
	}
	return list, nil
}

// within reports whether the working directory of a recorded run is a folder or inside it.
func within(folder string, record []byte) bool {
	var r struct {
		RunEnv RecordedEnv `json:"world"`
	}
	const separator = string(filepath.Separator)
	return json.Unmarshal(record, &r) == nil && strings.HasPrefix(r.RunEnv.Workspace+separator, strings.TrimSuffix(folder, separator)+separator)
}

// Cancel implements Store.
func (m *Memory) Cancel(_ context.Context, id, reason string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := m.find(id)
	if run == nil {
		return fmt.Errorf("cannot cancel run %s: %w", id, ErrNoRun)
	}
	run.info.RetryAt = time.Time{}
	if l := run.owner; l != nil && !l.cancelRequested {
		l.cancelRequested = true
		l.cancelRequests <- reason
	}
	return nil
}

// maxQueuedAnswers is how many answers can wait for an owner to receive them.
const maxQueuedAnswers = 10_000

// Answer implements Store.
func (m *Memory) Answer(_ context.Context, id string, a Answer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := m.find(id)
	if run == nil {
		return fmt.Errorf("cannot answer run %s: %w", id, ErrNoRun)
	}
	for _, other := range run.answers {
		if other.Wait == a.Wait {
			return fmt.Errorf("cannot answer step %s of run %s: %w", a.Step, id, Answered(other))
		}
	}
	if a.At.IsZero() {
		a.At = time.Now()
	}
	a = a.copied()
	if l := run.owner; l != nil {
		select {
		case l.answers <- a.copied():
		default:
			return fmt.Errorf("cannot answer step %s of run %s: its owner does not receive answers", a.Step, id)
		}
	}
	run.answers = append(run.answers, a)
	return nil
}

// copied returns a deep copy of the answer, with the values that JSON gives back.
func (a Answer) copied() Answer {
	b, err := json.Marshal(a)
	if err == nil {
		var c Answer
		if err = json.Unmarshal(b, &c); err == nil {
			return c
		}
	}
	a.Values = nil // values that are not JSON match no form
	return a
}

// UnmarshalJSON reads an Answer without rounding the numbers of its values.
func (a *Answer) UnmarshalJSON(b []byte) error {
	type plain Answer
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*plain)(a))
}

// memoryLedger is the Ledger of one owner of a run.
type memoryLedger struct {
	memory          *Memory
	run             *memoryRun
	epoch           int
	cancelRequests  chan string
	cancelRequested bool // cancelRequests has got its reason; guarded by memory.mu

	answers chan Answer
}

func (l *memoryLedger) Epoch() int { return l.epoch }

func (l *memoryLedger) CancelRequests() <-chan string { return l.cancelRequests }

func (l *memoryLedger) Answers() <-chan Answer { return l.answers }

// Suspend implements Ledger.
func (l *memoryLedger) Suspend(message string, hold bool) error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	if l.run.owner != l {
		return fmt.Errorf("cannot mark run %s as waiting: %w", l.run.info.ID, ErrFenced)
	}
	l.run.owner, l.run.info.Status, l.run.info.Message = nil, dag.Waiting, message
	l.run.place.suspend(hold)
	return nil
}

// Lost returns nil, which is never closed: an owner keeps its run until it closes the
// ledger.
func (l *memoryLedger) Lost() <-chan struct{} { return nil }

func (l *memoryLedger) Append(_ context.Context, events []dag.Event) error {
	text := eventcode.Append(nil, l.run.info.ID, events)
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	if l.run.owner != l {
		return fmt.Errorf("cannot append to run %s: %w", l.run.info.ID, ErrFenced)
	}
	if err := l.keepState(events); err != nil {
		return err
	}
	l.run.events = append(l.run.events, text)
	for i := range events {
		l.run.applyEvent(&events[i])
	}
	return nil
}

// applyEvent changes the status of the run by an event.
func (r *memoryRun) applyEvent(e *dag.Event) {
	r.lastSeq = e.Seq
	r.info.Artifacts = r.info.Artifacts || KeepsArtifact(e)
	i := RunInfo{Artifacts: r.info.Artifacts, ID: r.info.ID, Tool: r.info.Tool, RetryOf: r.info.RetryOf, Origin: r.info.Origin, Started: r.info.Started, Labels: r.info.Labels}
	switch {
	case e.Kind == dag.RunResumed:
		i.Status = dag.Running
	case e.Kind == dag.RunFinished && e.Result != nil:
		i.Status, i.ExitCode, i.Reason, i.Message, i.Ended = e.Result.Status, e.Result.ExitCode, e.Result.Reason, e.Result.Message, e.Time
		i.Notes, i.RetryAt = e.Result.Notes, e.Due
	default:
		return
	}
	r.info = i
}

func (l *memoryLedger) Sync(context.Context) error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	if l.run.owner != l {
		return fmt.Errorf("cannot sync run %s to disk: %w", l.run.info.ID, ErrFenced)
	}
	return nil
}

func (l *memoryLedger) Close() error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	if l.run.owner == l {
		l.run.owner, l.run.lastSign = nil, time.Now()
		l.run.place.Close()
	}
	return nil
}

package waiting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// ErrNoApprover is returned by a function for WithApproval if it has nobody to ask, or if the
// person who was asked leaves the answer to others.
var ErrNoApprover = errors.New("there is nobody to ask")

// Broker delivers the questions of a run to those who can answer, and the answers to the run. As a
// dag.Sink it sees when a step asks and when it ends. It writes answers to the Store, where the
// first answer to a question wins, and reads them back from the Ledger.
type Broker struct {
	run, tool   string
	ask         func(context.Context, history.Question) (history.Answer, error) // nil: nobody is here
	store       history.Store                                                   // nil: the run is not kept
	ledger      history.Ledger
	session     *steps.Session
	AlreadyOpen []history.Question // questions that were open when the run was resumed
	notify      func(notice.Notice)

	Answers chan dag.Answer // answers for the run
	ctx     context.Context // for all goroutines; ends with the run
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu           sync.Mutex
	open         map[uint64]openQuestion   // by the number of the event that asked
	earlyAnswers map[uint64]history.Answer // answers that arrived before the event that asks their question
}

type openQuestion struct {
	history.Question
	end context.CancelFunc
}

// CanAnswer reports whether anybody can answer, now or later.
func (k *Broker) CanAnswer() bool { return k.ask != nil || k.store != nil }

// NewBroker returns the Broker of a run. ask and store may be nil; ledger is nil if the run is not
// kept. notify gets warnings. ctx says for whom the run is (history.ActorOf); its end does not matter.
func NewBroker(ctx context.Context, run, tool string, ask func(context.Context, history.Question) (history.Answer, error), store history.Store, ledger history.Ledger, session *steps.Session, notify func(notice.Notice)) *Broker {
	k := &Broker{run: run, tool: tool, ask: ask, store: store, ledger: ledger, session: session, notify: notify,
		open: map[uint64]openQuestion{}, earlyAnswers: map[uint64]history.Answer{}}
	k.ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return k
}

// Start continues the questions in AlreadyOpen and passes on answers from then on. Answers that are
// already recorded are in the channel when it returns.
func (k *Broker) Start() {
	open := k.AlreadyOpen
	var known []dag.Answer
	k.Answers = make(chan dag.Answer, 64+len(open))
	for _, q := range open {
		k.open[q.Wait] = openQuestion{q, func() {}}
	}
	if k.ledger != nil {
		known = k.recordedAnswers()
		for _, a := range known {
			k.Answers <- a
		}
		k.work.Go(k.listen)
	}
	for _, q := range open {
		if !slices.ContainsFunc(known, func(a dag.Answer) bool { return a.Wait == q.Wait }) && !q.Over(time.Now()) {
			k.addQuestion(q)
		}
	}
}

// recordedAnswers returns the answers that the ledger has already.
func (k *Broker) recordedAnswers() (list []dag.Answer) {
	for {
		select {
		case a := <-k.ledger.Answers():
			if d, ok := k.runAnswer(a); ok && len(list) < cap(k.Answers) {
				list = append(list, d)
			}
		default:
			return list
		}
	}
}

// listen passes on answers while the run lasts.
func (k *Broker) listen() {
	for {
		select {
		case a := <-k.ledger.Answers():
			if d, ok := k.runAnswer(a); ok {
				k.deliver(d)
			}
		case <-k.ctx.Done():
			return
		}
	}
}

// deliver passes an answer to the run, unless the run has ended.
func (k *Broker) deliver(a dag.Answer) {
	select {
	case k.Answers <- a:
	case <-k.ctx.Done():
	}
}

// runAnswer converts an answer for the run. ok is false if the question is not open. An answer
// whose question is not known yet is stored in earlyAnswers.
func (k *Broker) runAnswer(a history.Answer) (d dag.Answer, ok bool) {
	k.mu.Lock()
	q, ok := k.open[a.Wait]
	if !ok {
		k.earlyAnswers[a.Wait] = a
	}
	k.mu.Unlock()
	if !ok || q.Step != a.Step {
		return d, false
	}
	return dag.Answer{Node: dag.ID(q.Step), Wait: q.Wait, Result: AnswerResult(k.session, q.Question, a)}, true
}

// AnswerResult returns the result of a step that got this answer. s masks and keeps its texts.
func AnswerResult(s *steps.Session, q history.Question, a history.Answer) *dag.Result {
	said := attribution(a)
	r := &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: ReasonRejected, Message: "rejected" + said}
	if a.Approve {
		r.Status, r.ExitCode, r.Reason, r.Message = dag.Succeeded, 0, "", "approved"+said
		if err := addFormValues(s, q, a, r); err != nil {
			r = &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: fmt.Sprintf("the answer does not match the form: %v", err)}
		}
	}
	r.Message = s.Mask().String(r.Message)
	return r
}

// addFormValues checks the values of the form and makes them the output of the step.
func addFormValues(s *steps.Session, q history.Question, a history.Answer, r *dag.Result) error {
	values, err := q.Check(a.Values)
	if err != nil || q.Form == nil {
		return err
	}
	text, err := formValuesJSON(values)
	if err == nil {
		err = value.DecodeJSON(text, &r.Value)
		r.Structured = true
	}
	if err == nil {
		r.Stdout, err = s.Text(dag.ID(q.Step), 1, text)
	}
	return err
}

// attribution says who answered and when, with their comment.
func attribution(a history.Answer) string {
	text := ""
	if a.By != "" {
		text = " by " + a.By
	}
	if !a.At.IsZero() {
		text += " at " + a.At.UTC().Format(time.RFC3339)
	}
	if c := strings.TrimSpace(a.Comment); c != "" {
		text += ": " + truncatePrompt(c)
	}
	return text
}

// Emit implements dag.Sink.
func (k *Broker) Emit(e dag.Event) {
	switch e.Kind {
	case dag.StepWaiting:
		if q, ok := questionOf(k.run, k.tool, e.Node, e.Seq, e.Result); ok {
			k.addQuestion(q)
		}
	case dag.StepFinished:
		k.closeQuestion(string(e.Node))
	}
}

// addQuestion opens a question. If its answer is here already it delivers that, else it asks the
// person.
func (k *Broker) addQuestion(q history.Question) {
	ctx, end := context.WithCancel(k.ctx)
	k.mu.Lock()
	k.open[q.Wait] = openQuestion{q, end}
	a, answered := k.earlyAnswers[q.Wait]
	delete(k.earlyAnswers, q.Wait)
	k.mu.Unlock()
	if answered {
		if d, ok := k.runAnswer(a); ok {
			k.work.Go(func() { k.deliver(d) })
			return
		}
	}
	if k.ask != nil {
		k.work.Go(func() { k.askPerson(ctx, q) })
	}
}

// closeQuestion closes the question of a step that has ended.
func (k *Broker) closeQuestion(step string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for wait, q := range k.open {
		if q.Step == step {
			q.end()
			delete(k.open, wait)
		}
	}
}

// askPerson asks a person and records the answer. If nobody can answer now, the question stays
// open; if the run is not kept either, the step fails.
func (k *Broker) askPerson(ctx context.Context, q history.Question) {
	a, err := k.ask(ctx, q)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		a.Step, a.Wait = q.Step, q.Wait
		err = k.recordAnswer(ctx, a)
	}
	if err == nil || errors.Is(err, history.ErrAnswered) {
		return // the ledger delivers it
	}
	if !errors.Is(err, ErrNoApprover) {
		k.notify(notice.Notice{Code: notice.NotAsked, Step: dag.ID(q.Step), Message: k.session.Mask().String(fmt.Sprintf("cannot ask for an answer to step %s: %v", q.Step, err))})
	}
	left := dag.Answer{Node: dag.ID(q.Step), Wait: q.Wait}
	if k.store == nil { // then nobody can answer later
		left.Result = &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: terminal.ReasonUnanswered, Message: "there was no answer, and the run is not recorded, so it cannot be answered later"}
	}
	k.deliver(left)
}

// recordAnswer records an answer in the store. If the run is not kept, it delivers the answer
// directly.
func (k *Broker) recordAnswer(ctx context.Context, a history.Answer) error {
	if a.At.IsZero() {
		a.At = time.Now()
	}
	if k.store != nil {
		return k.store.Answer(ctx, k.run, a)
	}
	if d, ok := k.runAnswer(a); ok {
		k.deliver(d)
	}
	return nil
}

// Stop ends all questions and waits for the goroutines of the Broker.
func (k *Broker) Stop() {
	k.cancel()
	k.work.Wait()
}

// Questions returns the open questions in the state of a run.
func Questions(run, tool string, s *dag.State) []history.Question {
	var list []history.Question
	s.Waits(func(path dag.ID, wait uint64, r *dag.Result) {
		if q, ok := questionOf(run, tool, path, wait, r); ok {
			list = append(list, q)
		}
	})
	return list
}

// Holds reports whether the run waits for an answer until which it keeps its locks.
func Holds(s *dag.State) (holds bool) {
	s.Waits(func(_ dag.ID, _ uint64, r *dag.Result) { holds = holds || r != nil && r.Wait != nil && r.Wait.Hold })
	return holds
}

// questionOf returns the question of a waiting step, or false if the step waits for something else.
func questionOf(run, name string, path dag.ID, wait uint64, r *dag.Result) (history.Question, bool) {
	if r == nil || r.Wait == nil || r.Wait.Kind != kindApproval {
		return history.Question{}, false
	}
	q := history.Question{Run: run, Tool: name, Step: string(path), Wait: wait, Prompt: r.Wait.Prompt, Since: r.Started, Until: r.Wait.Until}
	if len(r.Wait.Form) > 0 {
		form, err := dataschema.ParseForm(r.Wait.Form)
		if err != nil { // written by a later version, whose form this one cannot check
			return history.Question{}, false
		}
		q.Form = form
	}
	return q, true
}

// formValuesJSON returns the output of an approval: the values of its form as JSON.
func formValuesJSON(values map[string]any) (string, error) {
	b, err := json.Marshal(values)
	return string(b), err
}

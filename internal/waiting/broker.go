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
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// ErrNoApprover is what a function for WithApproval answers when it has nobody to ask, or
// who was asked leaves the answer to others.
var ErrNoApprover = errors.New("nobody answers here")

// Broker brings the questions of a run to those who answer, and the answers to the run.
// As a dag.Sink it hears of questions that are asked and settled. What is answered goes
// to the Store, where the first answer to a question wins, and comes back by the Ledger.
type Broker struct {
	run, tool   string
	ask         func(context.Context, history.Question) (history.Answer, error) // nil: nobody here
	store       history.Store                                                   // nil: the run is not kept
	ledger      history.Ledger
	session     *steps.Session
	AlreadyOpen []history.Question // that were open when the run was taken up
	notify      func(steps.Notice)

	Answers chan dag.Answer // to the run
	ctx     context.Context // of all work; ends with the run
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu           sync.Mutex
	open         map[uint64]openQuestion   // by the number of the event that asked
	earlyAnswers map[uint64]history.Answer // to questions that are on record, and not told here yet
}

type openQuestion struct {
	history.Question
	end context.CancelFunc
}

// CanAnswer says whether there is somebody who could answer, now or later.
func (k *Broker) CanAnswer() bool { return k.ask != nil || k.store != nil }

// NewBroker is the Broker of a run. ask and store may be nil; ledger is nil where the run
// is not kept. notify hears of what went wrong.
func NewBroker(run, tool string, ask func(context.Context, history.Question) (history.Answer, error), store history.Store, ledger history.Ledger, session *steps.Session, notify func(steps.Notice)) *Broker {
	k := &Broker{run: run, tool: tool, ask: ask, store: store, ledger: ledger, session: session, notify: notify,
		open: map[uint64]openQuestion{}, earlyAnswers: map[uint64]history.Answer{}}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// Start goes on with the questions that are open already, and hears answers from then
// on. Those on record are in the channel when it returns.
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

// recordedAnswers are the answers that are there already.
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

// listen passes on what is answered while the run goes on.
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

// deliver hands an answer to the run, if it is still there.
func (k *Broker) deliver(a dag.Answer) {
	select {
	case k.Answers <- a:
	case <-k.ctx.Done():
	}
}

// runAnswer is what an answer means for the run; ok is false where nothing of it asks that.
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
	return dag.Answer{Node: dag.ID(q.Step), Wait: q.Wait, Result: k.result(q.Question, a)}, true
}

// result is what an answer makes of the step.
func (k *Broker) result(q history.Question, a history.Answer) *dag.Result {
	said := attribution(a)
	r := &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: ReasonRejected, Message: "rejected" + said}
	if a.Approve {
		r.Status, r.ExitCode, r.Reason, r.Message = dag.Succeeded, 0, "", "approved"+said
		if err := k.addFormValues(q, a, r); err != nil {
			r = &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: fmt.Sprintf("the answer does not fit the form: %v", err)}
		}
	}
	r.Message = k.session.Mask().String(r.Message)
	return r
}

// addFormValues makes the step's output of the form's values.
func (k *Broker) addFormValues(q history.Question, a history.Answer, r *dag.Result) error {
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
		r.Stdout, err = k.session.Text(dag.ID(q.Step), 1, text)
	}
	return err
}

// attribution is who answered, when, and what they add.
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

// addQuestion asks whoever is here.
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

// closeQuestion ends the question of a step.
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

// askPerson asks, and keeps what is answered.
func (k *Broker) askPerson(ctx context.Context, q history.Question) {
	a, err := k.ask(ctx, q)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		a.Step, a.Wait = q.Step, q.Wait
		err = k.recordAnswer(ctx, q, a)
	}
	if err == nil || errors.Is(err, history.ErrAnswered) {
		return // it comes back from there
	}
	if !errors.Is(err, ErrNoApprover) {
		k.notify(steps.Notice{Code: "not-asked", Step: dag.ID(q.Step), Message: k.session.Mask().String(fmt.Sprintf("step %s could not be answered here: %v", q.Step, err))})
	}
	left := dag.Answer{Node: dag.ID(q.Step), Wait: q.Wait}
	if k.store == nil { // then nobody ever will
		left.Result = &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: steps.ReasonUnanswered, Message: "nobody answered, and the run is not kept, so that nobody could answer later"}
	}
	k.deliver(left)
}

// recordAnswer records an answer; where the run is not kept, it goes to the run.
func (k *Broker) recordAnswer(ctx context.Context, q history.Question, a history.Answer) error {
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

// Stop is the end of the run: nobody is asked any more.
func (k *Broker) Stop() {
	k.cancel()
	k.work.Wait()
}

// Questions are those of a state.
func Questions(run, tool string, s *dag.State) []history.Question {
	var list []history.Question
	s.Waits(func(path dag.ID, wait uint64, r *dag.Result) {
		if q, ok := questionOf(run, tool, path, wait, r); ok {
			list = append(list, q)
		}
	})
	return list
}

// questionOf is what a step asks that waits.
func questionOf(run, name string, path dag.ID, wait uint64, r *dag.Result) (history.Question, bool) {
	if r == nil || r.Wait == nil || r.Wait.Kind != kindApproval {
		return history.Question{}, false
	}
	q := history.Question{Run: run, Tool: name, Step: string(path), Wait: wait, Prompt: r.Wait.Prompt, Since: r.Started, Until: r.Wait.Until}
	if len(r.Wait.Form) > 0 {
		form, err := tool.ParseForm(r.Wait.Form)
		if err != nil { // of a later version: it takes what this one cannot check
			return history.Question{}, false
		}
		q.Form = form
	}
	return q, true
}

// formValuesJSON is the output of an approval: the values of its form as JSON.
func formValuesJSON(values map[string]any) (string, error) {
	b, err := json.Marshal(values)
	return string(b), err
}

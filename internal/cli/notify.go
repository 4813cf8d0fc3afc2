package cli

import (
	"context"
	"errors"
	"os"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/home"
	"github.com/flowrun/flowrun/internal/notice"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/tool"
)

// auditNotify is the action of the audit list for a notice that could not be sent.
const auditNotify = "notify"

// ended is a run that has come to an end, or to rest, as notices see it.
type ended struct {
	res  *flowrun.Result
	plan *flowrun.Plan
	past *flowrun.Past // where it stood before it was taken up; nil for a new run
	err  error         // why the engine could not bring it to its end; nil where it could
}

// rulesOf are the notifications of a plan's tool, where there is one, and of the settings in
// force. Those of
// tools that it uses inside do not count.
func rulesOf(p *flowrun.Plan, c *config.Config) (list []notice.Rule) {
	if p != nil {
		security := p.Definition.Security
		for _, n := range p.Definition.Notify {
			list = append(list, notice.Rule{On: events(n.On), Command: written(n.Command), Webhook: written(n.Webhook),
				SecretEnv: written(n.SecretEnv), SecretFile: written(n.SecretFile),
				Reduced: security.ExecutionPrivilege == "reduced", Contained: security.Isolation == "container"})
		}
	}
	for _, n := range c.Notifications() {
		if !n.Ignored {
			list = append(list, notice.Rule{On: events(n.On), Command: n.Command, Webhook: n.Webhook, SecretEnv: n.SecretEnv, SecretFile: n.SecretFile})
		}
	}
	return list
}

func events(words []string) (list []notice.Event) {
	for _, w := range words {
		list = append(list, notice.Event(w))
	}
	return list
}

func written(t *tool.Text) string {
	if t == nil {
		return ""
	}
	return t.S
}

// notifier sends notices for the flowrun command, and tells and notes what could not be
// sent.
type notifier struct {
	store    *sqlite.Store // nil: no history
	settings *config.Config
	dir      string // what paths in rules count from; "" is the working directory
	say      func(trouble string)
}

// notify tells those who want to know how a run ended. It changes nothing of the run. An
// interrupt ends it. dir is where paths in rules count from.
func (env *Env) notify(ctx context.Context, sig *signals, s *sqlite.Store, e ended, f consentFlags, dir string) {
	ctx, stop := sig.unlessAgain(ctx)
	defer stop()
	n := notifier{store: s, settings: f.settings, dir: dir, say: func(string) {}}
	if speaks(f.progress) || f.progress == "quiet" {
		n.say = func(trouble string) { env.say("%s", trouble) }
	}
	n.tell(ctx, e)
}

func (n notifier) tell(ctx context.Context, e ended) {
	rules := rulesOf(e.plan, n.settings)
	if len(rules) == 0 {
		return
	}
	o := notice.Outcome{Event: notice.Of(e.res.Status, e.before(n.store)), Result: e.res}
	if e.brokeOff() {
		o.Event = notice.Failure
		res := *e.res
		res.Message = e.err.Error()
		o.Result = &res
	}
	for _, t := range notice.Send(ctx, n.how(), rules, o) {
		trouble := console.Visible(t.Error())
		n.say(trouble)
		if n.store == nil {
			continue
		}
		if err := n.store.Audit(context.WithoutCancel(ctx), auditNotify, e.res.ID, trouble); err != nil {
			n.say(err.Error())
		}
	}
}

// brokeOff reports whether the engine could not go on, as on a full disk. A run that
// another engine has taken over goes on there.
func (e ended) brokeOff() bool {
	return e.err != nil && e.res.Status == dag.Interrupted && !errors.Is(e.err, flowrun.ErrFenced) && !errors.Is(e.err, dag.ErrReleased)
}

func (n notifier) how() notice.Settings {
	s := notice.Settings{Env: os.Environ(), Dir: n.dir}
	if s.Dir == "" {
		s.Dir, _ = os.Getwd() // without one, relative paths fail by themselves
	}
	s.Home, _ = home.Dir()
	return s
}

// before is how the last run of the tool that came to an end ended, this one in its
// earlier life included.
func (e ended) before(s *sqlite.Store) dag.Status {
	if e.past != nil {
		if st := e.past.Result().Status; st == dag.Failed || st == dag.TimedOut {
			return st
		}
	}
	if s == nil {
		return dag.Pending
	}
	list, err := s.Runs(context.Background(), flowrun.Query{Tool: e.res.Tool, Status: []dag.Status{dag.Succeeded, dag.Failed, dag.TimedOut}, Limit: 2})
	if err != nil {
		return dag.Pending // then a recovery is told as a success
	}
	for _, r := range list {
		if r.ID != e.res.ID {
			return r.Status
		}
	}
	return dag.Pending
}

// noticeJSON is a notification in a dry run.
type noticeJSON struct {
	By string         `json:"by"`
	On []notice.Event `json:"on"`
}

func noticesJSON(rules []notice.Rule) (list []noticeJSON) {
	for _, r := range rules {
		list = append(list, noticeJSON{r.String(), r.Events()})
	}
	return list
}

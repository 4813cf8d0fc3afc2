package launch

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/notifyrule"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/notify"
)

// auditNotifyFailed is the action in the audit log for a notification that could not be sent.
const auditNotifyFailed = "notify"

// RunEnd describes a run that has ended, or is waiting or interrupted, for notifications.
type RunEnd struct {
	Result  *runresult.Result
	Plan    *engine.Plan
	Resumed *engine.RecordedRun // state of the run before it was resumed; nil for a new run
	Err     error               // why the engine could not finish the run, or nil
}

// NotificationRules returns the notifications of the plan's tool and of the settings in force. p
// may be nil. enforced means that the permissions of the tool are enforced. Notifications of nested tools do not count.
func NotificationRules(p *engine.Plan, c *config.Config, enforced bool) (list []notify.Rule) {
	if p != nil {
		security := p.Definition.Security
		for _, n := range p.Definition.Notify {
			r := ruleOf(n.Rule())
			r.Reduced, r.Contained, r.Enforced = security.ExecutionPrivilege == "reduced", security.Isolation == "container", enforced
			list = append(list, r)
		}
	}
	for _, n := range c.Notifications() {
		if !n.Ignored {
			list = append(list, ruleOf(n.Rule))
		}
	}
	return list
}

func ruleOf(r notifyrule.Rule) notify.Rule {
	to := notify.Rule{Command: r.Command, Webhook: r.Webhook, To: r.To, From: r.From, Subject: r.Subject, Slack: r.Format == "slack",
		Message: r.Message, Digest: r.Digest, SecretEnv: r.SecretEnv, SecretFile: r.SecretFile}
	for _, w := range r.On {
		to.On = append(to.On, notify.Event(w))
	}
	return to
}

// Notifier sends notifications. It reports those that could not be sent, and records them in the
// audit log.
type Notifier struct {
	Store    ui.History // nil if there is no history
	Settings *config.Config
	Dir      string // relative paths in rules start here; "" is the working directory
	Report   func(trouble string)
}

// Notify sends the notifications of a run that has ended. Errors do not change the result of the
// run, and an interrupt ends the sending. Relative paths in rules start at dir.
func Notify(ctx context.Context, env *ui.Env, sig *ui.Signals, s ui.History, e RunEnd, f ConsentFlags, dir string) {
	ctx, stop := sig.ContextAfterRun(ctx)
	defer stop()
	n := Notifier{Store: s, Settings: f.Settings, Dir: dir, Report: func(string) {}}
	if ui.Verbose(f.Progress) || f.Progress == "quiet" {
		n.Report = func(trouble string) { env.Notef("%s", trouble) }
	}
	n.Notify(ctx, e)
}

// Notify sends the notifications that the rules demand for the end of a run.
func (n Notifier) Notify(ctx context.Context, e RunEnd) {
	rules := NotificationRules(e.Plan, n.Settings, e.Result.Enforced)
	if len(rules) == 0 {
		return
	}
	for _, o := range e.outcomes(e.previousStatus(n.Store)) {
		n.sendAll(ctx, slices.Clone(rules), o)
		rules = slices.DeleteFunc(rules, func(r notify.Rule) bool { return r.Wants(o.Event) })
	}
	if e.Result.Status == dag.Waiting && n.Store != nil && ctx.Err() == nil {
		n.markWaiting(ctx, e.Result.ID)
	}
}

// NotifySchedule sends the notifications about a schedule. p is the plan of its tool; nil if it has none now.
func (n Notifier) NotifySchedule(ctx context.Context, p *engine.Plan, o notify.Outcome) {
	if o.Result.ID != "" {
		o.Result = n.resultOf(ctx, o.Result)
	}
	if rules := NotificationRules(p, n.Settings, o.Result.Enforced); len(rules) > 0 {
		n.sendAll(ctx, rules, o)
	}
}

// outcomes returns the outcomes to notify of; each rule gets the first that it wants. before is how the previous run ended.
func (e RunEnd) outcomes(before dag.Status) []notify.Outcome {
	o := notify.Outcome{Event: notify.Of(e.Result.Status, before), Result: e.Result}
	if e.engineFailed() {
		o.Event = notify.Failure
		res := *e.Result
		res.Message = e.Err.Error()
		o.Result = &res
	}
	switch fails := e.failsAnew(); {
	case o.Event == notify.Waiting && fails:
		failure := o
		failure.Event = notify.Failure
		return []notify.Outcome{o, failure}
	case o.Event == notify.Failure && !e.Result.RetryAt.IsZero():
		return nil // the end of its last attempt is reported
	case o.Event == notify.Failure && !fails && e.Resumed != nil && e.Resumed.Info.Status == dag.Waiting:
		return nil // it was reported when the run began to wait
	}
	return []notify.Outcome{o}
}

// failsAnew reports whether a step has failed that had not before the run was resumed.
func (e RunEnd) failsAnew() bool {
	before := 0
	if e.Resumed != nil {
		before = failedSteps(e.Resumed.Result())
	}
	return failedSteps(e.Result) > before
}

// failedSteps counts the steps whose failure is not tolerated.
func failedSteps(r *runresult.Result) (n int) {
	for _, s := range r.Steps {
		if (s.Status == dag.Failed || s.Status == dag.TimedOut) && !slices.Contains(r.Tolerated, s.ID) {
			n++
		}
	}
	return n
}

// sendAll sends the notifications of an outcome, those of a digest when that is due.
func (n Notifier) sendAll(ctx context.Context, rules []notify.Rule, o notify.Outcome) {
	n.send(ctx, n.withoutDigests(ctx, rules, o), o)
}

// send sends notifications, and reports whether all could be sent.
func (n Notifier) send(ctx context.Context, rules []notify.Rule, o notify.Outcome) bool {
	failed := notify.Send(ctx, n.settings(), rules, o)
	for _, t := range failed {
		trouble := console.Visible(t.Error())
		n.Report(trouble)
		if n.Store == nil {
			continue
		}
		if err := n.Store.Audit().Add(context.WithoutCancel(ctx), auditNotifyFailed, o.Result.ID, trouble); err != nil {
			n.Report(err.Error())
		}
	}
	return len(failed) == 0
}

// engineFailed reports whether the engine could not continue, for example because the disk was
// full. It returns false if another engine has taken over the run and continues it.
func (e RunEnd) engineFailed() bool {
	return e.Err != nil && e.Result.Status == dag.Interrupted && !errors.Is(e.Err, history.ErrFenced) && !errors.Is(e.Err, dag.ErrReleased)
}

func (n Notifier) settings() notify.Settings {
	c := n.Settings
	s := notify.Settings{Env: os.Environ(), Dir: n.Dir, SMTP: notify.SMTP{Host: c.Word("smtp.host"), Port: int(c.Number("smtp.port")), TLS: c.Word("smtp.tls"),
		From: c.Word("smtp.from"), User: c.Word("smtp.user"), PasswordEnv: c.Word("smtp.password-env"), PasswordFile: c.Word("smtp.password-file"), CAFile: c.Word("smtp.ca-file")}}
	if s.Dir == "" {
		s.Dir, _ = os.Getwd() // on failure, relative paths fail where they are used
	}
	s.Home, _ = home.Dir()
	return s
}

// previousStatus returns how the previous run of the tool ended. For a resumed run, an earlier
// failure of the same run counts. The runs that this one retries automatically do not, because nobody
// was notified of their end.
func (e RunEnd) previousStatus(s history.Store) dag.Status {
	if e.Resumed != nil {
		if st := e.Resumed.Result().Status; st == dag.Failed || st == dag.TimedOut {
			return st
		}
	}
	if s == nil {
		return dag.Pending
	}
	attempts := attemptsBefore(s, e.Result)
	list, err := s.Runs(context.Background(), history.Query{Tool: e.Result.Tool, Status: []dag.Status{dag.Succeeded, dag.Failed, dag.TimedOut}, Limit: len(attempts) + 2})
	if err != nil {
		return dag.Pending // a recovery is then reported as a success
	}
	for _, r := range list {
		if r.ID != e.Result.ID && !slices.Contains(attempts, r.ID) {
			return r.Status
		}
	}
	return dag.Pending
}

// attemptsBefore returns the runs that a run retries automatically.
func attemptsBefore(s history.Store, run *runresult.Result) (ids []string) {
	for id, more := run.ID, run.Attempt > 1; more; {
		r, err := s.Record(context.Background(), id)
		if more = err == nil && r.Automatic; more {
			id = r.RetryOf
			ids = append(ids, id)
		}
	}
	return ids
}

// NotificationJSON is a notification in the JSON document of a dry run. Command is the program with its arguments, "" for an
// address, and for the tool's own notifications, which the document has in its tools.
type NotificationJSON struct {
	By      string         `json:"by"`
	Command string         `json:"command,omitempty"`
	On      []notify.Event `json:"on"`
}

// NotificationsJSON converts rules for the JSON document of a dry run. The first rules are own ones of the tool.
func NotificationsJSON(rules []notify.Rule, own int) (list []NotificationJSON) {
	for i, r := range rules {
		one := NotificationJSON{By: r.String(), On: r.Events()}
		if i >= own {
			one.Command = r.Command
		}
		list = append(list, one)
	}
	return list
}

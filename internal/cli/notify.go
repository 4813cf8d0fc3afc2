package cli

import (
	"context"
	"os"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
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
}

// rulesOf are the notifications of a plan's tool and of the settings in force. Those of
// tools that it uses inside do not count.
func rulesOf(p *flowrun.Plan, f runFlags) (list []notice.Rule) {
	for _, n := range p.Definition.Notify {
		list = append(list, notice.Rule{On: events(n.On), Command: written(n.Command), Webhook: written(n.Webhook),
			SecretEnv: written(n.SecretEnv), SecretFile: written(n.SecretFile)})
	}
	for _, n := range f.settings.Notifications() {
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

// notify tells those who want to know how a run ended. It changes nothing of the run;
// what could not be sent is told, and noted in the audit list. An interrupt ends it.
func (a *app) notify(ctx context.Context, sig *signals, s *sqlite.Store, e ended, f runFlags) {
	rules := rulesOf(e.plan, f)
	if len(rules) == 0 || f.watch { // who watches sees how it ends
		return
	}
	o := notice.Outcome{Event: notice.Of(e.res.Status, e.before(s)), Result: e.res, Detail: e.waitsFor()}
	own, stop := sig.unlessAgain(ctx)
	defer stop()
	for _, t := range notice.Send(own, noticeSettings(f), rules, o) {
		if speaks(f.progress) || f.progress == "quiet" {
			a.say("%s", console.Visible(t.Error()))
		}
		if s == nil {
			continue
		}
		if err := s.Audit(context.WithoutCancel(ctx), auditNotify, e.res.ID, t.Error()); err != nil {
			a.say("%v", err)
		}
	}
}

func noticeSettings(f runFlags) notice.Settings {
	set := notice.Settings{Env: os.Environ(), Dir: f.dir}
	if set.Dir == "" {
		set.Dir, _ = os.Getwd() // without one, relative paths fail by themselves
	}
	set.Home, _ = os.UserHomeDir()
	return set
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

// waitsFor names the steps that wait for somebody.
func (e ended) waitsFor() string {
	if e.res.Status != dag.Waiting {
		return ""
	}
	var list []string
	for _, s := range e.res.Steps {
		if s.Status == dag.Waiting {
			list = append(list, strings.TrimSuffix("step "+s.ID+": "+s.Message, ": "))
		}
	}
	return strings.Join(list, "; ")
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

package launch

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service/notify"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// digestRule is a notification that is sent together with others, in a form that a later process can
// carry out. Notifications that are equal in everything are one digest, whatever their tools.
type digestRule struct {
	Dir  string      `json:"dir"`
	Rule notify.Rule `json:"rule"`
}

// withoutDigests returns the rules that are to be sent now. For the others it keeps a line in the
// history, and sends what is due. Without a history every rule is sent now.
func (n Notifier) withoutDigests(ctx context.Context, rules []notify.Rule, o notify.Outcome) []notify.Rule {
	if n.Store == nil {
		return rules
	}
	return slices.DeleteFunc(rules, func(r notify.Rule) bool {
		if r.Digest == 0 || !r.Wants(o.Event) {
			return false
		}
		r.On = nil // the lines are those that it wants
		key, err := json.Marshal(digestRule{n.settings().Dir, r})
		if err == nil {
			err = n.Store.Digests().Add(context.WithoutCancel(ctx), string(key), o.Result.ID, string(o.Event), digestLine(r, o))
		}
		if err != nil {
			n.Report(err.Error())
			return false // rather a message too many
		}
		n.sendDigest(ctx, string(key))
		return true
	})
}

// digestLine returns the line of a run in a digest: the text of the rule if it has one.
func digestLine(r notify.Rule, o notify.Outcome) string {
	return o.Ended() + " " + r.Text(o)
}

// SendDigests sends all digests that are due. A service calls it from time to time, because the last
// failure of an hour may not be followed by another one.
func (n Notifier) SendDigests(ctx context.Context) {
	rules, err := n.Store.Digests().Rules(ctx)
	if err != nil {
		n.Report(err.Error())
	}
	for _, key := range rules {
		n.sendDigest(ctx, key)
	}
}

// sendDigest sends one digest, if it is due.
func (n Notifier) sendDigest(ctx context.Context, key string) {
	var d digestRule
	if err := json.Unmarshal([]byte(key), &d); err != nil {
		n.Report(err.Error())
		return
	}
	due, err := n.Store.Digests().Due(ctx, key, d.Rule.Digest, time.Now())
	if err != nil {
		n.Report(err.Error())
	}
	if due == nil {
		return
	}
	o := notify.Outcome{Event: notify.Event(due.Event), Result: n.reported(ctx, due), Digest: due.Lines, Earlier: due.Earlier}
	d.Rule.On, d.Rule.Message, n.Dir = []notify.Event{notify.Always}, "", d.Dir
	if !n.send(ctx, []notify.Rule{d.Rule}, o) {
		return
	}
	if err := n.Store.Digests().Drop(context.WithoutCancel(ctx), due); err != nil {
		n.Report(err.Error())
	}
}

// reported returns the last run of a digest. If it was removed since, only its id is known.
func (n Notifier) reported(ctx context.Context, d *sqlite.Digest) *runresult.Result {
	return n.resultOf(ctx, &runresult.Result{ID: d.Run})
}

// resultOf returns what the history knows of a run without its steps. If it does not know the run, it returns
// known, which has the id.
func (n Notifier) resultOf(ctx context.Context, known *runresult.Result) *runresult.Result {
	i, err := n.Store.Info(ctx, known.ID)
	if err != nil {
		return known
	}
	return &runresult.Result{ID: i.ID, Tool: i.Tool, Origin: i.Origin, Status: i.Status, ExitCode: i.ExitCode, Reason: i.Reason, Message: i.Message, Notes: i.Notes,
		Started: i.Started, Ended: i.Ended, LastSign: i.LastSign, AsOf: time.Now()}
}

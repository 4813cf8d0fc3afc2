package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/notify"
)

// auditAttention is the action in the audit log for an item that somebody was notified of. The entry is made afterwards: a
// service that is killed before it has sent a notification leaves it to the next one.
const auditAttention = "attention"

// oldItem is the age from which items are reported together. A service that starts after a long time, or for the first time
// with an old history, would otherwise send a message for each of them.
const oldItem = 24 * time.Hour

// maxTogether is how many items are listed in one message; of more, the newest.
const maxTogether = 100

// Needed is an item that needs attention, with what its notifications need.
type Needed struct {
	Item attention.Item
	Past *engine.RecordedRun // its run, nil if it has none
	Plan *engine.Plan        // its tool, nil if it is not known
	Dir  string              // relative paths in rules start here; "" is the working directory
}

// NotifyOf sends the notifications about items, oldest first. Each item is reported once, also if another process, or an earlier
// one, should do it too. Items that are older than a day are reported together.
func (n Notifier) NotifyOf(ctx context.Context, list []Needed) {
	var old []Needed
	for _, x := range list {
		if since := x.Item.Since; !since.IsZero() && time.Since(since) > oldItem {
			old = append(old, x)
			continue
		}
		n.once(ctx, []Needed{x}, func([]Needed) { n.at(x).notifyOne(ctx, x) })
	}
	if len(old) > 0 {
		n.once(ctx, old, func(fresh []Needed) { n.together(ctx, fresh) })
	}
}

// at returns a Notifier for the rules of an item, which reports its run.
func (n Notifier) at(x Needed) Notifier {
	n.Dir = x.Dir
	if report := n.Report; x.Item.Run != "" {
		n.Report = func(trouble string) { report(trouble + " (run " + x.Item.Run + ")") }
	}
	return n
}

// once calls send with those of the items that nobody was notified of and that a rule wants. No other process does so at the
// same time.
func (n Notifier) once(ctx context.Context, list []Needed, send func(fresh []Needed)) {
	list = slices.DeleteFunc(list, func(x Needed) bool {
		_, rules := n.outcomeOf(x)
		return len(rules) == 0
	})
	if len(list) == 0 {
		return
	}
	unlock, err := lockNotifications()
	if err != nil {
		n.Report(err.Error()) // rather a message too many
	} else {
		defer unlock()
	}
	fresh := slices.DeleteFunc(list, func(x Needed) bool { return n.wasSent(ctx, x) })
	if len(fresh) == 0 {
		return
	}
	send(fresh)
	if ctx.Err() != nil {
		return // the process is about to end: the next one sends them
	}
	for _, x := range fresh {
		if _, err := n.Store.Audit().AddOnce(ctx, auditAttention, x.Item.Run, x.key()); err != nil {
			n.Report(err.Error())
		}
	}
}

// lockNotifications waits until this process alone sends notifications of what needs attention.
func lockNotifications() (unlock func(), err error) {
	dir, err := ui.StateDir()
	if err != nil {
		return nil, err
	}
	return atomicfile.Lock(filepath.Join(dir, "notify.lock"))
}

func (n Notifier) wasSent(ctx context.Context, x Needed) bool {
	sent, err := n.Store.Audit().Has(ctx, auditAttention, x.Item.Run, x.key())
	if err != nil {
		n.Report(err.Error()) // rather a message too many
	}
	return sent
}

// key identifies what is sent about an item. The process in which a run begins to wait sends that itself, see markWaiting.
func (x Needed) key() string {
	if x.Item.Kind == attention.Waiting && x.Past != nil {
		return waitingKey(x.Past.Info.Epoch)
	}
	return x.Item.Key()
}

func waitingKey(epoch int) string { return fmt.Sprintf("%s, owner %d", attention.Waiting, epoch) }

// markWaiting notes that the notification of a waiting run was sent.
func (n Notifier) markWaiting(ctx context.Context, run string) {
	ctx = context.WithoutCancel(ctx)
	info, err := n.Store.Info(ctx, run)
	if err == nil {
		_, err = n.Store.Audit().AddOnce(ctx, auditAttention, run, waitingKey(info.Epoch))
	}
	if err != nil {
		n.Report(err.Error())
	}
}

// outcomeOf returns what to report about an item, and the rules that want it.
func (n Notifier) outcomeOf(x Needed) (notify.Outcome, []notify.Rule) {
	o := notify.Outcome{Event: notify.Attention, Item: &x.Item, Result: &runresult.Result{Tool: x.Item.Tool}}
	switch x.Item.Kind {
	case attention.Interrupted:
		o.Event = notify.Interrupted
	case attention.Waiting:
		o.Event = notify.Waiting
	}
	plan := x.Plan
	if x.Past != nil {
		o.Result, plan = x.Past.Result(), x.Past.Plan
	}
	rules := NotificationRules(plan, n.Settings, o.Result.Enforced)
	return o, slices.DeleteFunc(rules, func(r notify.Rule) bool { return !r.Wants(o.Event) })
}

// notifyOne sends the notifications about one item.
func (n Notifier) notifyOne(ctx context.Context, x Needed) {
	if x.Item.Kind == attention.Waiting && x.Past != nil {
		n.Notify(ctx, RunEnd{Result: x.Past.Result(), Plan: x.Past.Plan})
		return
	}
	o, rules := n.outcomeOf(x)
	n.sendAll(ctx, rules, o)
}

// together sends one message by each rule, with a line for each item that the rule wants.
func (n Notifier) together(ctx context.Context, list []Needed) {
	type message struct {
		digestRule
		notify.Outcome
	}
	messages := map[string]*message{}
	var order []string
	for _, x := range list {
		o, rules := n.outcomeOf(x)
		for _, r := range rules {
			rule := digestRule{n.at(x).settings().Dir, r}
			key, err := json.Marshal(rule)
			if err != nil {
				n.Report(err.Error())
				continue
			}
			m := messages[string(key)]
			if m == nil {
				m = &message{digestRule: rule}
				messages[string(key)] = m
				order = append(order, string(key))
			}
			lines := append(m.Digest, x.Item.Since.Local().Format("2006-01-02 15:04")+" "+r.Text(o))
			m.Outcome, m.Digest = o, lines
		}
	}
	for _, key := range order {
		m := messages[key]
		n.Dir = m.Dir
		if len(m.Digest) == 1 {
			m.Digest = nil
		} else {
			m.Rule.Message, m.Rule.On = "", []notify.Event{notify.Always}
		}
		if m.Earlier = max(0, len(m.Digest)-maxTogether); m.Earlier > 0 {
			m.Digest = m.Digest[m.Earlier:]
		}
		n.send(ctx, []notify.Rule{m.Rule}, m.Outcome)
	}
}

package tool

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/notifyrule"
)

// Notify is one entry of notify: a command, a webhook or an e-mail for when a run ends or waits. One of Command, Webhook
// and Email is set.
type Notify struct {
	Pos                   Pos
	On                    []string // of NotifyEvents; empty = failure, recovery, waiting, attention, late and paused
	Command               *Text
	Webhook               *Text
	Email                 *Email
	Format                string        // of a webhook, one of NotifyFormats; empty = flowrun
	Message               *Text         // the message, with {run.NAME}; nil = flowrun's own
	Digest                time.Duration // at most one message in this time; 0 = one for each run
	SecretEnv, SecretFile *Text         // for a webhook, at most one
}

// Email is the e-mail of a Notify.
type Email struct {
	To            []Text
	From, Subject *Text
}

// Rule returns the values of the notification without their positions.
func (n *Notify) Rule() notifyrule.Rule {
	r := notifyrule.Rule{On: n.On, Command: textOf(n.Command), Webhook: textOf(n.Webhook), Format: n.Format, Message: textOf(n.Message), Digest: n.Digest,
		SecretEnv: textOf(n.SecretEnv), SecretFile: textOf(n.SecretFile)}
	if n.Email != nil {
		r.Email, r.From, r.Subject = true, textOf(n.Email.From), textOf(n.Email.Subject)
		for _, to := range n.Email.To {
			r.To = append(r.To, to.S)
		}
	}
	return r
}

func textOf(t *Text) string {
	if t == nil {
		return ""
	}
	return t.S
}

func checkNotify(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	r := into.(*Notify).Rule()
	for key, value := range map[string]*string{"command": &r.Command, "webhook": &r.Webhook} {
		if keytable.ValueOf(content, key) != nil && *value == "" {
			return // reported as a value of the wrong type
		}
	}
	email := keytable.ValueOf(content, "email")
	r.Email = email != nil
	if r.Email && keytable.Deref(email).Kind != yaml.MappingNode {
		return // the same
	}
	for _, p := range r.Problems() {
		in := content
		key, nested := strings.CutPrefix(p.Key, "email.")
		if nested {
			in = keytable.Deref(email).Content
		}
		switch at := keytable.ValueOf(in, key); {
		case at == nil:
			d.Fail(n, "bad-notification", p.Message, p.Hint)
		case p.AtKey:
			d.FailKey(keytable.KeyOf(in, key), "bad-notification", p.Message, p.Hint)
		default:
			d.Fail(at, p.Code(), p.Message, p.Hint)
		}
	}
}

package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/notifyrule"
)

// Notification is an entry of the section notifications.
type Notification struct {
	Name   string
	Origin Origin // of its first value
	// Ignored reports that it comes from a project that is not trusted.
	Ignored bool

	notifyrule.Rule
}

// Notifications returns the notifications of all layers, the weakest layer first. A layer
// never replaces a notification of another one, even with the same name.
func (c *Config) Notifications() []Notification {
	if c == nil {
		return nil
	}
	return notifications(c.Values)
}

func notifications(values []Value) (list []Notification) {
	for _, v := range values {
		rest, ok := strings.CutPrefix(v.Key, "notifications.")
		cut := strings.LastIndexByte(rest, '.')
		if !ok || cut < 0 {
			continue
		}
		name, key := rest[:cut], rest[cut+1:]
		if of, email := strings.CutSuffix(name, ".email"); email && slices.Contains([]string{"to", "from", "subject"}, key) {
			name, key = of, "email."+key
		}
		i := slices.IndexFunc(list, func(n Notification) bool { return n.Name == name && n.Origin.same(v.Origin) })
		if i < 0 {
			i = len(list)
			list = append(list, Notification{Name: name, Origin: v.Origin, Ignored: v.Ignored})
		}
		n, text := &list[i], v.Text()
		n.Email = n.Email || strings.HasPrefix(key, "email.")
		switch key {
		case "on":
			n.On = append(n.On, text)
		case "command":
			n.Command = text
		case "webhook":
			n.Webhook = text
		case "email.to":
			n.To = append(n.To, text)
		case "email.from":
			n.From = text
		case "email.subject":
			n.Subject = text
		case "format":
			n.Format = text
		case "message":
			n.Message = text
		case "digest":
			n.Digest, _ = v.Value.(time.Duration)
		case "secret-env":
			n.SecretEnv = text
		case "secret-file":
			n.SecretFile = text
		}
	}
	return list
}

func (l *loader) checkNotifications() {
	for _, n := range notifications(l.values) {
		for _, p := range n.Problems() {
			l.report(n.Origin.Pos, "bad-notification", fmt.Sprintf("notification %q: %s", n.Name, strings.Replace(p.Message, "the notification has", "it has", 1)), p.Hint)
		}
	}
}

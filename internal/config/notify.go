package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/tool"
)

// Notification is an entry of the section notifications. Either Command or Webhook is set.
type Notification struct {
	Name   string
	Origin Origin // of its first value
	// Ignored reports that it comes from a project that is not trusted.
	Ignored bool

	On                                      []string // of tool.NotifyEvents
	Command, Webhook, SecretEnv, SecretFile string
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
		i := slices.IndexFunc(list, func(n Notification) bool { return n.Name == name && n.Origin.same(v.Origin) })
		if i < 0 {
			i = len(list)
			list = append(list, Notification{Name: name, Origin: v.Origin, Ignored: v.Ignored})
		}
		n, text := &list[i], v.Text()
		switch key {
		case "on":
			n.On = append(n.On, text)
		case "command":
			n.Command = text
		case "webhook":
			n.Webhook = text
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
		wrong := func(hint, format string, args ...any) {
			l.report(n.Origin.Pos, "bad-notification", fmt.Sprintf("notification %q: ", n.Name)+fmt.Sprintf(format, args...), hint)
		}
		for _, word := range n.On {
			if !slices.Contains(tool.NotifyEvents(), word) {
				wrong("use one of: "+strings.Join(tool.NotifyEvents(), ", "), "unknown event %q", word)
			}
		}
		switch {
		case n.Command == "" && n.Webhook == "":
			wrong("add one of: command, webhook", "it has no command and no webhook")
		case n.Command != "" && n.Webhook != "":
			wrong("write a notification for each", "it has a command and a webhook")
		case n.Webhook == "" && n.SecretEnv+n.SecretFile != "":
			wrong("remove it", "a secret has no effect without a webhook")
		case n.SecretEnv != "" && n.SecretFile != "":
			wrong("keep one of secret-env, secret-file", "the secret has more than one source")
		}
		if err := tool.CheckWebhook(n.Webhook); err != nil && n.Webhook != "" {
			wrong("write https://HOST/PATH; for secret parts, use environment variables: ${NAME}", "%v", err)
		}
	}
}

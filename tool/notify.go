package tool

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/diagnostic"
	"github.com/flowrun/flowrun/internal/keytable"
)

// NotifyEvents returns the values that a notification's on may have.
func NotifyEvents() []string {
	return []string{"failure", "recovery", "success", "waiting", "cancelled", "always"}
}

// Notify is one entry of notify: a command or a webhook that is called when a run ends or waits. Either Command or
// Webhook is set.
type Notify struct {
	Pos                   Pos
	On                    []string // of NotifyEvents; empty = failure, recovery and waiting
	Command               *Text
	Webhook               *Text
	SecretEnv, SecretFile *Text // for a webhook, at most one
}

func checkNotify(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	v := into.(*Notify)
	switch {
	case keytable.ValueOf(content, "command") == nil && keytable.ValueOf(content, "webhook") == nil:
		d.Fail(n, "bad-notification", "the notification has no command and no webhook", "add one of: command, webhook")
	case v.Command != nil && v.Webhook != nil:
		d.FailKey(keytable.KeyOf(content, "webhook"), "bad-notification", "the notification has a command and a webhook", "write a notification for each")
	}
	for _, key := range []string{"secret-env", "secret-file"} {
		if at := keytable.KeyOf(content, key); at != nil && keytable.KeyOf(content, "webhook") == nil {
			d.FailKey(at, "bad-notification", key+" has no effect without a webhook", "remove it")
		}
	}
	if v.SecretEnv != nil && v.SecretFile != nil {
		d.FailKey(keytable.KeyOf(content, "secret-file"), "bad-notification", "the secret has more than one source", "keep one of secret-env, secret-file")
	}
	if v.SecretEnv != nil && !variableName().MatchString(v.SecretEnv.S) {
		reportAt(d, v.SecretEnv.Pos, Error, "bad-name", "", diagnostic.Quote(v.SecretEnv.S)+" cannot be the name of an environment variable", "use letters, digits and '_', not beginning with a digit")
	}
	if v.Webhook != nil {
		if err := CheckWebhook(v.Webhook.S); err != nil {
			reportAt(d, v.Webhook.Pos, Error, "bad-notification", "", fmt.Sprint(err), "write https://HOST/PATH; for secret parts, use environment variables: ${NAME}")
		}
	}
}

// CheckWebhook checks the URL of a webhook. A URL with variables, ${NAME}, is incomplete and passes. The error contains
// no part of the URL, which may be secret.
func CheckWebhook(address string) error {
	if strings.Contains(address, "${") {
		return nil
	}
	switch u, err := url.Parse(address); {
	case err != nil: // err contains the whole URL
		return errors.New("the URL of the webhook is invalid")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return errors.New("the URL of the webhook must begin with http:// or https:// and a host")
	}
	return nil
}

// Package notifyrule says what a notification may be: a command, a webhook or an e-mail for when runs end, as plain values.
// Definitions and settings both have such rules; each finds their problems with [Rule.Problems] and says itself where they are.
// Package notify sends what a rule asks for.
package notifyrule

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Rule is a notification as plain values, from a definition or from settings.
type Rule struct {
	On                    []string // of Events
	Command, Webhook      string
	Email                 bool     // it is an e-mail
	To                    []string // of an e-mail
	From, Subject         string   // of an e-mail
	Format                string   // of a webhook
	Message               string
	Digest                time.Duration
	SecretEnv, SecretFile string // of a webhook
}

// Problem is something wrong with a Rule.
type Problem struct {
	Key           string // such as webhook or email.to
	AtKey         bool   // the key should not be there; otherwise its value is wrong, or it is missing
	Message, Hint string
	name          bool
}

// Code returns the code of the problem as a diagnostic of a definition.
func (p Problem) Code() string {
	if p.name {
		return "bad-name"
	}
	return "bad-notification"
}

// Problems returns everything that is wrong with the rule.
func (r Rule) Problems() (list []Problem) {
	add := func(p Problem) { list = append(list, p) }
	check := func(key string, err error, hint string) {
		if err != nil {
			add(Problem{Key: key, Message: err.Error(), Hint: hint})
		}
	}
	var ways, keys []string
	for _, w := range []struct {
		key, name string
		set       bool
	}{{"command", "a command", r.Command != ""}, {"webhook", "a webhook", r.Webhook != ""}, {"email", "an e-mail", r.Email}} {
		if w.set {
			ways, keys = append(ways, w.name), append(keys, w.key)
		}
	}
	switch len(ways) {
	case 0:
		add(Problem{Key: "command", Message: "the notification has no command, no webhook and no e-mail", Hint: "add one of: command, webhook, email"})
	case 1:
	default:
		add(Problem{Key: keys[1], AtKey: true, Message: "the notification has " + strings.Join(ways, " and "), Hint: "write a notification for each"})
	}
	if r.Webhook == "" {
		for _, k := range [][2]string{{"secret-env", r.SecretEnv}, {"secret-file", r.SecretFile}, {"format", r.Format}} {
			if k[1] != "" {
				add(Problem{Key: k[0], AtKey: true, Message: k[0] + " has no effect without a webhook", Hint: "remove it"})
			}
		}
	} else {
		check("webhook", CheckWebhook(r.Webhook), "write https://HOST/PATH; for secret parts, use environment variables: ${NAME}")
	}
	if r.SecretEnv != "" && r.SecretFile != "" {
		add(Problem{Key: "secret-file", AtKey: true, Message: "the secret has more than one source", Hint: "keep one of secret-env, secret-file"})
	}
	if r.SecretEnv != "" && !value.IsVariableName(r.SecretEnv) {
		add(Problem{Key: "secret-env", Message: diagnostic.Quote(r.SecretEnv) + " cannot be the name of an environment variable", Hint: "use letters, digits and '_', not beginning with a digit", name: true})
	}
	for _, word := range r.On {
		if !slices.Contains(Events(), word) {
			add(Problem{Key: "on", Message: fmt.Sprintf("unknown event %q", word), Hint: "use one of: " + strings.Join(Events(), ", ")})
		}
	}
	if r.Format != "" && !slices.Contains(Formats(), r.Format) {
		add(Problem{Key: "format", Message: fmt.Sprintf("unknown format %q", r.Format), Hint: "use one of: " + strings.Join(Formats(), ", ")})
	}
	if r.Email && len(r.To) == 0 {
		add(Problem{Key: "email", AtKey: true, Message: "the e-mail has no receiver", Hint: "add to: [name@example.com]"})
	}
	for _, to := range r.To {
		check("email.to", CheckAddress(to), addressHint)
	}
	if r.From != "" {
		check("email.from", CheckAddress(r.From), addressHint)
	}
	if strings.ContainsAny(r.Subject, "\r\n") {
		check("email.subject", errors.New("the subject has more than one line"), "write it on one line; message can have more")
	}
	check("email.subject", checkMessage(r.Subject), messageHint())
	check("message", checkMessage(r.Message), messageHint())
	switch {
	case r.Digest == 0:
	case r.Command != "":
		add(Problem{Key: "digest", AtKey: true, Message: "digest has no effect on a command", Hint: "remove it"})
	case r.Digest < MinDigest:
		add(Problem{Key: "digest", Message: "a digest is at least a minute", Hint: "write a longer time, such as 1h"})
	}
	return list
}

const addressHint = "write name@example.com, or 'Name <name@example.com>'"

// CheckAddress checks the address of an e-mail.
func CheckAddress(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%s has a control character", diagnostic.Quote(s))
	}
	if _, err := mail.ParseAddress(s); err != nil {
		return fmt.Errorf("%s is not the address of an e-mail", diagnostic.Quote(s))
	}
	return nil
}

func messageHint() string { return "{run.NAME} can be: " + strings.Join(Fields(), ", ") }

// checkMessage checks the text of a notification. Braces that do not begin with {run. are text.
func checkMessage(s string) error {
	for rest := s; ; {
		_, after, found := strings.Cut(rest, "{run.")
		if !found {
			return nil
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return errors.New("a reference {run.NAME} has no closing brace")
		}
		if !slices.Contains(Fields(), name) {
			return fmt.Errorf("{run.%s} does not exist", name)
		}
		rest = tail
	}
}

// Events returns the values that a notification's on may have.
func Events() []string {
	return []string{"failure", "recovery", "success", "waiting", "interrupted", "attention", "cancelled", "late", "paused", "always"}
}

// Formats returns the values of a webhook's format.
func Formats() []string { return []string{"flowrun", "slack"} }

// Fields returns what {run.NAME} can name in the text and the subject of a notification.
func Fields() []string {
	return []string{"id", "tool", "status", "event", "exit-code", "message", "summary", "host", "started", "duration"}
}

// MinDigest is the shortest digest of a notification.
const MinDigest = time.Minute

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

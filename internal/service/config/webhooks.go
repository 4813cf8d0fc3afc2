package config

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Webhook lets an external caller start one tool.
type Webhook struct {
	Name   string
	Tool   string
	Secret []byte
	Scheme string // Token or HMAC
	// Header is the name of the header with the proof: the secret itself, or the signature
	// of the body.
	Header string
	// BodyParam is the parameter that receives the whole body, "" for none.
	BodyParam string
	// Params maps parameters to the JSON Pointers (RFC 6901) of their values.
	Params map[string]string
	// DeliveryHeader is the name of the header with an id that the caller repeats when it
	// sends a delivery again, "" for none.
	DeliveryHeader string
}

// The schemes by which the caller of a webhook authenticates.
const (
	Token = "token"
	HMAC  = "hmac-sha256"
)

// shortestSecret is the minimum length of a webhook's secret, in bytes.
const shortestSecret = 8

var (
	webhookNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })
	headerNames  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") })
)

// checkWebhooks reports problems of webhooks that the table cannot express.
func (l *loader) checkWebhooks() {
	type owner struct{ layer, name string }
	seen := map[owner]map[string]Value{}
	var order []owner
	for _, v := range l.values {
		keys := strings.SplitN(v.Key, ".", 3)
		if keys[0] != webhooks.Key || len(keys) < 3 {
			continue
		}
		o := owner{v.Origin.Pos.File, keys[1]}
		if seen[o] == nil {
			seen[o] = map[string]Value{}
			order = append(order, o)
		}
		seen[o][keys[2]] = v
		l.checkWebhookValue(keys[2], v)
	}
	for _, o := range order {
		l.checkWebhook(o.name, seen[o])
	}
}

func (l *loader) checkWebhookValue(key string, v Value) {
	text, _ := v.Value.(string)
	switch {
	case (key == "header" || key == "delivery-header") && !headerNames().MatchString(text):
		l.report(v.Origin.Pos, "bad-webhook", fmt.Sprintf("%q is not a valid header name", text), "write one such as X-Flowrun-Token")
	case strings.HasPrefix(key, "params.") && text != "" && !strings.HasPrefix(text, "/"):
		l.report(v.Origin.Pos, "bad-webhook", fmt.Sprintf("%q is not a JSON Pointer", text), "for the key name inside repository, write /repository/name")
	}
}

func (l *loader) checkWebhook(name string, set map[string]Value) {
	first := slices.MinFunc(slices.Collect(maps.Values(set)), func(a, b Value) int { return a.Origin.Pos.Line - b.Origin.Pos.Line })
	at := first.Origin.Pos
	_, env := set["secret-env"]
	_, file := set["secret-file"]
	_, named := set["tool"]
	switch {
	case !webhookNames().MatchString(name):
		l.report(at, "bad-webhook", fmt.Sprintf("invalid webhook name %q: the name is part of a URL", name), "use letters, digits, - and _")
	case !named:
		l.report(at, "bad-webhook", fmt.Sprintf("the webhook %s has no tool", name), "name the tool to start: tool: deploy")
	case env == file:
		l.report(at, "bad-webhook", fmt.Sprintf("the webhook %s needs either secret-env or secret-file", name), "name the variable or the file with the secret shared with the caller")
	}
}

// Webhooks returns the webhooks that apply, sorted by name, with their secrets. The error
// lists all secrets that cannot be read, without their values.
func (c *Config) Webhooks(getenv func(string) string) ([]Webhook, error) {
	byName := map[string]*Webhook{}
	var missing []string
	for _, v := range c.Get(webhooks.Key) {
		keys := strings.SplitN(v.Key, ".", 3)
		if len(keys) < 3 {
			continue
		}
		h := byName[keys[1]]
		if h == nil {
			h = &Webhook{Name: keys[1], Scheme: Token, Params: map[string]string{}}
			byName[h.Name] = h
		}
		text, _ := v.Value.(string)
		param, isParam := strings.CutPrefix(keys[2], "params.")
		switch {
		case isParam:
			h.Params[param] = text
		case keys[2] == "tool":
			h.Tool = text
		case keys[2] == "scheme":
			h.Scheme = text
		case keys[2] == "header":
			h.Header = text
		case keys[2] == "body-param":
			h.BodyParam = text
		case keys[2] == "delivery-header":
			h.DeliveryHeader = text
		default: // secret-env or secret-file
			secret, err := secretOf(keys[2], text, v.Origin.Pos, getenv)
			if err != nil {
				missing = append(missing, fmt.Sprintf("webhook %s (%s): %v", h.Name, v.Origin, err))
			}
			h.Secret = secret
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("cannot serve webhooks:\n  %s", strings.Join(missing, "\n  "))
	}
	var list []Webhook
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		list = append(list, byName[name].withDefaults())
	}
	return list, nil
}

// withDefaults sets the defaults of the scheme. For signatures they are those of GitHub.
func (h *Webhook) withDefaults() Webhook {
	header, delivery := "X-Flowrun-Token", ""
	if h.Scheme == HMAC {
		header, delivery = "X-Hub-Signature-256", "X-GitHub-Delivery"
	}
	if h.Header == "" {
		h.Header = header
	}
	if h.DeliveryHeader == "" {
		h.DeliveryHeader = delivery
	}
	return *h
}

func secretOf(key, name string, at tool.Pos, getenv func(string) string) ([]byte, error) {
	secret := []byte(getenv(name))
	from := "the variable " + name
	if key == "secret-file" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(at.File), name)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read its secret: %w", err)
		}
		secret, from = bytes.TrimRight(b, "\r\n"), "the file "+name
	}
	switch {
	case len(secret) == 0:
		return nil, fmt.Errorf("%s contains no secret", from)
	case len(secret) < shortestSecret:
		return nil, fmt.Errorf("the secret in %s has fewer than %d characters and can be guessed", from, shortestSecret)
	}
	return secret, nil
}

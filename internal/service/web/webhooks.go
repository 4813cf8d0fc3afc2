package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/users"
)

// webhookHandlers answer requests to webhooks.
type webhookHandlers struct {
	hooks    map[string]config.Webhook
	starter  starter
	bodies   *bodyReader
	places   places
	throttle *throttle
	log      *slog.Logger
}

func (hs webhookHandlers) routes() []route {
	return []route{
		{method: "POST", path: "/hooks/{name}", id: "webhook", summary: "Start the tool of a webhook", auth: openToAll, anyBody: true,
			doc:     "The caller authenticates as the webhook's configuration requires: with a token in a header or a signature of the body. A repeated delivery returns the run that the first one started; with other parameters it is rejected (409).",
			headers: []param{trace},
			answers: []answer{accepted, {200, "A ping by GitHub. No run is started.", "", "ping"}}, handle: hs.hook},
	}
}

// hooksByName returns an error for a webhook without a secret.
func hooksByName(list []config.Webhook) (map[string]config.Webhook, error) {
	hooks := map[string]config.Webhook{}
	for _, h := range list {
		if len(h.Secret) == 0 {
			return nil, fmt.Errorf("webhook %s has no secret, so anybody could call it", h.Name)
		}
		hooks[h.Name] = h
	}
	return hooks, nil
}

// errHook does not reveal whether the proof is wrong or missing, or the webhook does not
// exist.
var errHook = refuse(401, "unauthorized", "the webhook's token or signature is missing or wrong", "configure the same secret on both sides")

// hook starts the tool of a webhook. The caller's data become parameters and are validated
// like those of any caller.
func (hs webhookHandlers) hook(w http.ResponseWriter, r *http.Request) error {
	h, ok := hs.hooks[r.PathValue("name")]
	if !ok {
		h = hs.decoy(r.PathValue("name"))
	}
	body, err := hs.verifiedBody(w, r, h)
	if err == errHook { // also without a proof: its header depends on the webhook
		hs.throttle.delay(r)
	}
	if err != nil {
		return err
	}
	if h.Scheme == config.HMAC && r.Header.Get("X-GitHub-Event") == "ping" { // GitHub sends a ping when a webhook is set up; it starts nothing
		return writeJSON(w, 200, map[string]string{"ping": "ok"})
	}
	q := service.Request{Tool: h.Tool, Origin: "webhook:" + h.Name, Unlisted: true, Parent: traceparent(r)}
	if q.Params, err = hookParams(h, r, body); err != nil {
		hs.starter.Failed(r.Context(), q, err)
		return err
	}
	if delivery := r.Header.Get(h.DeliveryHeader); h.DeliveryHeader != "" && delivery != "" {
		q.ID = derivedID("webhook", h.Name, delivery)
	}
	err = hs.starter.start(w, r, q, h.DeliveryHeader)
	if err != nil {
		hs.log.Warn("webhook did not start a run", "webhook", h.Name, "tool", h.Tool, "error", service.Loggable(err))
	}
	return err
}

// decoy returns a webhook in place of one that does not exist. It requires the same kind of
// proof as an existing one and accepts none, so that names of webhooks cannot be found by
// guessing. A name has the same decoy as long as the set of webhooks does not change.
func (hs webhookHandlers) decoy(name string) config.Webhook {
	names := slices.Sorted(maps.Keys(hs.hooks))
	key := sha256.New()
	for _, n := range names {
		key.Write(hs.hooks[n].Secret)
	}
	mac := hmac.New(sha256.New, key.Sum(nil))
	mac.Write([]byte(name))
	sum := mac.Sum(nil)
	h := hs.hooks[names[binary.BigEndian.Uint64(sum)%uint64(len(names))]]
	h.Secret = sum
	return h
}

// verifiedBody reads the body of a request and verifies that the sender knows the webhook's
// secret. The body is also read if the proof is wrong or missing: otherwise the answer to a large body
// would tell strangers which webhooks exist.
func (hs webhookHandlers) verifiedBody(w http.ResponseWriter, r *http.Request, h config.Webhook) ([]byte, error) {
	given, sender := r.Header.Values(h.Header), users.Caller{Identity: users.IdentityOfWebhook(h.Name), Role: users.Operator}
	if h.Scheme == config.Token && len(given) == 1 && isSecret(h, given[0]) {
		if err := hs.places.take(r, sender, false); err != nil {
			return nil, err
		}
		return hs.bodies.read(w, r)
	}
	body, err := hs.bodies.readUnauthenticated(w, r)
	if err != nil {
		return nil, err
	}
	if h.Scheme == config.Token || len(given) != 1 || !isSignature(h, given[0], body) {
		return nil, errHook
	}
	return body, hs.places.take(r, sender, false)
}

// isSecret reports whether a text is the secret of a webhook.
func isSecret(h config.Webhook, text string) bool {
	want, got := sha256.Sum256(h.Secret), sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// isSignature reports whether a text is the signature of a body with the secret of a webhook.
func isSignature(h config.Webhook, text string, body []byte) bool {
	got, err := hex.DecodeString(strings.TrimPrefix(text, "sha256="))
	mac := hmac.New(sha256.New, h.Secret)
	mac.Write(body)
	return err == nil && hmac.Equal(got, mac.Sum(nil))
}

// hookParams returns the parameters that a webhook takes from a body. A pointer that finds
// nothing sets no parameter.
func hookParams(h config.Webhook, r *http.Request, body []byte) (map[string]any, error) {
	params := map[string]any{}
	doc := body
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind == "application/x-www-form-urlencoded" {
		if form, err := url.ParseQuery(string(body)); err == nil && form.Has("payload") { // the other format of GitHub
			doc = []byte(form.Get("payload"))
		}
	}
	if h.BodyParam != "" {
		if !utf8.Valid(doc) {
			return nil, refuse(400, "broken-body", "the body is not UTF-8 text", "")
		}
		params[h.BodyParam] = string(doc)
	}
	if len(h.Params) == 0 {
		return params, nil
	}
	v, err := decode(doc)
	if err != nil {
		return nil, err
	}
	for name, pointer := range h.Params {
		if found, ok := resolvePointer(v, pointer); ok {
			params[name] = found
		}
	}
	return params, nil
}

// resolvePointer resolves a JSON Pointer (RFC 6901).
func resolvePointer(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	for _, word := range strings.Split(pointer, "/")[1:] {
		word = strings.NewReplacer("~1", "/", "~0", "~").Replace(word)
		switch in := v.(type) {
		case map[string]any:
			inside, ok := in[word]
			if !ok {
				return nil, false
			}
			v = inside
		case []any:
			i, err := strconv.Atoi(word)
			if err != nil || i < 0 || i >= len(in) || fmt.Sprint(i) != word {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, v != nil
}

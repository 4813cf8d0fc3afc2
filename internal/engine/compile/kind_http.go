package compile

import (
	"strings"

	"github.com/flowrun/flowrun/internal/engine/httpstep"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/requesturl"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// httpKind compiles steps that send a request.
type httpKind struct{}

func (httpKind) traits() traits { return traits{} }

func (httpKind) compile(c *stepCompiler, s *plan.Step) {
	c.reportKeysOfCommands("a step that sends a request", "use the keys of http", "the response")
	h := c.step.Body.(*tool.HTTP)
	r := &httpstep.Runner{Def: h, Limit: c.step.Output.BufferLimit}
	s.Runner, s.OwnWork = r, plan.WorkInRequest
	for _, one := range []struct {
		at  *tool.Text
		key string
		to  **expr.Template
	}{{&h.URL, "url", &r.URL}, {h.Body, "body", &r.Body}, {h.File, "file", &r.File}, {h.SaveAs, "save-as", &r.SaveAs}, {h.Proxy, "proxy", &r.Proxy},
		{h.Bearer, "auth.bearer", &r.Bearer}, {h.CA, "tls.ca", &r.CA}, {h.Cert, "tls.cert", &r.Cert}, {h.Key, "tls.key", &r.Key}} {
		*one.to = c.text(one.at, "http."+one.key, expr.Plain)
	}
	if h.Basic != nil {
		r.User = c.text(&h.Basic.User, "http.auth.basic.user", expr.Plain)
		r.Password = c.text(&h.Basic.Password, "http.auth.basic.password", expr.Plain)
	}
	r.Headers, r.Query, r.Form = fields(c.stepTexts, h.Headers, "http.headers"), fields(c.stepTexts, h.Query, "http.query"), fields(c.stepTexts, h.Form, "http.form")
	if h.JSON != nil {
		t := c.value(*h.JSON, "http.json")
		r.JSON = &t
	}
	checkAddress(c.stepTexts, h.URL, r)
	checkProxy(c.stepTexts, h.Proxy, r.Proxy)
	warnPlainSecret(c.stepTexts, h.Bearer, "auth.bearer", r.Bearer)
	if h.Basic != nil {
		warnPlainSecret(c.stepTexts, &h.Basic.Password, "auth.basic.password", r.Password)
	}
}

// checkProxy reports the address of a proxy that is known and not valid.
func checkProxy(c *stepTexts, at *tool.Text, t *expr.Template) {
	if err := checkKnown(t, func(text string) error { _, err := httpstep.ParseProxy(text); return err }); err != nil {
		why, hint, _ := strings.Cut(err.Error(), "; ")
		c.problem(*at, "http.proxy", "bad-address", tool.Error, why, hint)
	}
}

// warnPlainSecret warns about a token or a password in the definition, where everybody can read it.
func warnPlainSecret(c *stepTexts, at *tool.Text, key string, t *expr.Template) {
	if t != nil && t.Static() && at.S != "" && !refuseShortSecret(c, *at, "http."+key, t) {
		c.problem(*at, "http."+key, "unknown-secret", tool.Warning, "the secret is in the definition, where everybody who can read it has it", "pass it as a secret, such as {env.TOKEN}")
	}
}

// fields compiles a mapping of names to texts.
func fields(c *stepTexts, entries []tool.Entry, key string) (list []httpstep.Field) {
	for _, e := range entries {
		if t := c.text(e.Value.Text, key+"."+e.Key, expr.Plain); t != nil {
			list = append(list, httpstep.Field{Name: e.Key, Value: t})
		}
	}
	return list
}

// checkAddress checks a URL that is known, and who chooses the host of one that is not.
func checkAddress(c *stepTexts, at tool.Text, r *httpstep.Runner) {
	if r.URL == nil || at.Pos.Line == 0 { // there is none: the decoder has reported it
		return
	}
	if !r.URL.Static() {
		r.HostChosen = hostChosen(c, at, "http.url", "request", r.URL.AuthorityRefs())
		return
	}
	err := checkKnown(r.URL, func(text string) error {
		u, err := requesturl.Parse(text)
		if err == nil {
			err = httpstep.CheckAddress(u)
		}
		if err == nil {
			warnNotPermitted(c, at, "http.url", u.Hostname())
		}
		return err
	})
	if err != nil {
		c.problem(at, "http.url", "bad-address", tool.Error, err.Error(), "")
	}
}

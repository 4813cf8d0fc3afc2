package compile

import (
	"fmt"
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
	c.reportInertKeys("a step that sends a request", "use the keys of http", "output.buffer-limit", "artifacts")
	if list := c.step.Artifacts; len(list) > 0 {
		c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Error, Pos: list[0].Pos, Path: c.key("artifacts"), Message: "artifacts has no effect on a step that sends a request",
			Hint: "save the response with save-as, and add artifacts to a step with a command that runs after it"})
	}
	h := c.step.Body.(*tool.HTTP)
	r := &httpstep.Runner{Def: h, Limit: c.step.Output.BufferLimit}
	s.Runner, s.OwnWork = r, plan.WorkInRequest
	for _, one := range []struct {
		at  *tool.Text
		key string
		to  **expr.Template
	}{{&h.URL, "url", &r.URL}, {h.Body, "body", &r.Body}, {h.File, "file", &r.File}, {h.SaveAs, "save-as", &r.SaveAs}, {h.Proxy, "proxy", &r.Proxy},
		{h.Bearer, "auth.bearer", &r.Bearer}, {h.CA, "tls.ca", &r.CA}, {h.Cert, "tls.cert", &r.Cert}, {h.Key, "tls.key", &r.Key}} {
		*one.to = c.text(one.at, "http."+one.key, expr.Plain, c.names)
	}
	if h.Basic != nil {
		r.User = c.text(&h.Basic.User, "http.auth.basic.user", expr.Plain, c.names)
		r.Password = c.text(&h.Basic.Password, "http.auth.basic.password", expr.Plain, c.names)
	}
	r.Headers, r.Query, r.Form = c.fields(h.Headers, "http.headers"), c.fields(h.Query, "http.query"), c.fields(h.Form, "http.form")
	if h.JSON != nil {
		t := c.valueTemplate(*h.JSON, c.key("http.json"), c.names, c.addReferences)
		r.JSON = &t
	}
	c.checkAddress(h.URL, r)
	c.checkProxy(h.Proxy, r.Proxy)
	c.warnPlainSecret(h.Bearer, "auth.bearer", r.Bearer)
	if h.Basic != nil {
		c.warnPlainSecret(&h.Basic.Password, "auth.basic.password", r.Password)
	}
}

// checkProxy reports the address of a proxy that is known and not valid.
func (c *stepCompiler) checkProxy(at *tool.Text, t *expr.Template) {
	if t == nil || !t.Static() {
		return
	}
	text, err := t.Text(nil)
	if err == nil {
		_, err = httpstep.ParseProxy(text)
	}
	if err != nil {
		why, hint, _ := strings.Cut(err.Error(), "; ")
		c.httpProblem(*at, "proxy", "bad-address", tool.Error, why, hint)
	}
}

// warnPlainSecret warns about a token or a password in the definition, where everybody can read it.
func (c *stepCompiler) warnPlainSecret(at *tool.Text, key string, t *expr.Template) {
	if t != nil && t.Static() && at.S != "" && !c.refuseShortSecret(*at, "http."+key, t) {
		c.httpProblem(*at, key, "unknown-secret", tool.Warning, "the secret is in the definition, where everybody who can read it has it", "pass it as a secret, such as {env.TOKEN}")
	}
}

func (c *stepCompiler) httpProblem(at tool.Text, key, code string, severity tool.Severity, message, hint string) {
	c.report(tool.Diagnostic{Code: code, Severity: severity, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: c.key("http." + key), Message: message, Hint: hint})
}

// fields compiles a mapping of names to texts.
func (c *stepCompiler) fields(entries []tool.Entry, key string) (list []httpstep.Field) {
	for _, e := range entries {
		if t := c.text(e.Value.Text, key+"."+e.Key, expr.Plain, c.names); t != nil {
			list = append(list, httpstep.Field{Name: e.Key, Value: t})
		}
	}
	return list
}

// checkAddress checks a URL that is known, and who chooses the host of one that is not.
func (c *stepCompiler) checkAddress(at tool.Text, r *httpstep.Runner) {
	if r.URL == nil || at.Pos.Line == 0 { // there is none: the decoder has reported it
		return
	}
	if r.URL.Static() {
		text, err := r.URL.Text(nil)
		if err == nil {
			u, bad := requesturl.Parse(text)
			if err = bad; err == nil {
				err = httpstep.CheckAddress(u)
			}
			if err == nil {
				c.warnNotPermitted(at, "http.url", u.Hostname())
			}
		}
		if err != nil {
			c.report(tool.Diagnostic{Code: "bad-address", Severity: tool.Error, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: c.key("http.url"), Message: err.Error()})
		}
		return
	}
	for _, ref := range r.URL.AuthorityRefs() {
		if !c.names.callerDecides(c.plan.Definition, ref) {
			continue
		}
		r.HostChosen = true
		if c.allowsHosts() {
			return
		}
		c.report(tool.Diagnostic{Code: "bad-address", Severity: tool.Error, Pos: at.At(ref.Off), Len: ref.Len, Path: c.key("http.url"),
			Message: fmt.Sprintf("%s chooses the host of the request, but required-permissions allows no host", ref),
			Hint:    "write the host as fixed text, or add network:external:HOST to security.required-permissions; network allows every host"})
		return
	}
}

package tool

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// HTTP is a request of a step of kind http, and what is expected of the response.
type HTTP struct {
	Pos       Pos
	Method    string // "" = GET, or POST if there is a body
	URL       Text
	Headers   []Entry
	Query     []Entry // added to the URL
	JSON      *Value  // at most one of JSON, Form, Body and File is set
	Form      []Entry // nil: none
	Body      *Text
	File      *Text // path of a file with the body
	Bearer    *Text
	Basic     *HTTPLogin
	Status    []int              // expected statuses; empty = 200 to 299
	Schema    *dataschema.Schema // of the body of the response
	SaveAs    *Text              // path of a file for the body of the response
	Redirects *int               // how many are followed; nil = 10
	Proxy     *Text              // URL; nil = that of the environment
	CA        *Text              // paths of files in PEM format
	Cert, Key *Text

	schema []Entry // the value of expect.schema
}

// HTTPLogin is a user with a password.
type HTTPLogin struct{ User, Password Text }

// Outputs returns the outputs that every step of kind http has.
func (*HTTP) Outputs() []*DeclaredOutput {
	return []*DeclaredOutput{{Name: "status", Type: "integer"}, {Name: "headers", Type: "object"}}
}

// Saved returns the path of the file for the body of the response, nil for none.
func (h *HTTP) Saved() *Text { return h.SaveAs }

// MethodOrDefault returns the method of the request.
func (h *HTTP) MethodOrDefault() string {
	switch {
	case h.Method != "":
		return h.Method
	case h.JSON != nil, h.Form != nil, h.Body != nil, h.File != nil:
		return "POST"
	}
	return "GET"
}

// Idempotent reports whether the method says that a second request has the same effect as one.
func (h *HTTP) Idempotent() bool {
	m := h.MethodOrDefault()
	return m != "POST" && m != "PATCH"
}

// httpField returns the field http. Its objects are made when it is: most programs never ask for them.
func httpField() keytable.Field {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	login := keytable.NewObject("basic", "A user with a password.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Text("user", "", "Name of the user.", func(l *HTTPLogin, v Text) { l.User = v }).AsRequired(),
			keytable.Text("password", "", "Password, such as {env.PASSWORD}.", func(l *HTTPLogin, v Text) { l.Password = v }).AsRequired(),
		}
	}).WithCheck(checkHTTPLogin)
	auth := keytable.NewObject("auth", "How the request proves who sends it.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Text("bearer", "", "Token for the header Authorization: Bearer, such as {env.TOKEN}.", func(h *HTTP, v Text) { h.Bearer = &v }),
			keytable.Nested("basic", "", login, "User and password for the header Authorization: Basic.", func(h *HTTP) *HTTPLogin {
				h.Basic = &HTTPLogin{}
				return h.Basic
			}),
		}
	}).WithCheck(checkHTTPAuth)
	expect := keytable.NewObject("expect", "What the response must be. Otherwise the step fails.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Integers("status", "", 100, 599, "Expected statuses. Default: 200 to 299.", func(h *HTTP, v []int) { h.Status = v }),
			schemaField(),
		}
	})
	secure := keytable.NewObject("tls", "Certificates, as paths of files in PEM format.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Text("ca", "", "Certificates that sign that of the server, in place of those of the system.", func(h *HTTP, v Text) { h.CA = &v }),
			keytable.Text("cert", "", "Certificate of the client. It needs key.", func(h *HTTP, v Text) { h.Cert = &v }),
			keytable.Text("key", "", "Private key of the client. It needs cert.", func(h *HTTP, v Text) { h.Key = &v }),
		}
	}).WithCheck(checkHTTPTLS)
	self := func(h *HTTP) *HTTP { return h }
	request := keytable.NewObject("http", "A request, and what is expected of the response.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Text("url", "", "Address. Values in its path and query are escaped.", func(h *HTTP, v Text) { h.URL = v }).AsRequired(),
			keytable.Choice("method", "", methods, "Method. Default: GET, or POST if the request has a body.", func(h *HTTP, v string) { h.Method = v }),
			keytable.TextMap("headers", "", "Headers, by name.", func(h *HTTP, v []Entry) { h.Headers = v }),
			keytable.TextMap("query", "", "Parameters to add to the URL, by name.", func(h *HTTP, v []Entry) { h.Query = v }),
			keytable.AnyValue("json", "", "Body: a value that is sent as JSON. A text that is one placeholder keeps the type of its value.", func(h *HTTP, v Value) { h.JSON = &v }),
			keytable.TextMap("form", "", "Body: fields of a form, by name.", func(h *HTTP, v []Entry) { h.Form = v }),
			keytable.Text("body", "", "Body: a text.", func(h *HTTP, v Text) { h.Body = &v }),
			keytable.Text("file", "", "Body: the content of this file.", func(h *HTTP, v Text) { h.File = &v }),
			keytable.Nested("auth", "", auth, "How the request proves who sends it.", self),
			keytable.Nested("expect", "", expect, "What the response must be. Otherwise the step fails.", self),
			keytable.Text("save-as", "", "File for the body of the response, which is then not the output of the step.", func(h *HTTP, v Text) { h.SaveAs = &v }),
			keytable.Integer("redirects", "", 0, 20, "How many redirects are followed. With 0, a redirect is the response.", func(h *HTTP, v int) { h.Redirects = &v }).WithDefault("10"),
			keytable.Text("proxy", "", "URL of the proxy. Default: that of HTTP_PROXY, HTTPS_PROXY and NO_PROXY.", func(h *HTTP, v Text) { h.Proxy = &v }),
			keytable.Nested("tls", "", secure, "Certificates, as paths of files in PEM format.", self),
		}
	}).WithCheck(checkHTTP)
	return keytable.Nested(string(Request), "", request, "Sends an HTTP request. The body of the response is the output of the step. See http.md.", bodyOf[HTTP]).AsBody()
}

// schemaField returns the field for the schema of a response.
func schemaField() keytable.Field {
	f := keytable.ValueMap("schema", "", "JSON Schema of the body of the response.", func(h *HTTP, v []Entry) { h.schema = v })
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		h := into.(*HTTP)
		if read(d, into, n); h.schema == nil {
			return
		}
		all := Value{Pos: d.Pos(n), Map: h.schema}
		var err error
		if h.Schema, err = dataschema.Parse(all.JSON()); err == nil {
			return
		}
		for _, p := range dataschema.Problems(err) {
			at, part := positionIn(all, p.Path)
			reportAt(d, at, Error, "bad-schema", part, p.Message, "write a JSON Schema, such as {type: object, required: [id]}")
		}
	}
	return f
}

// checkHTTPAuth checks that there is exactly one way to prove who sends the request.
func checkHTTPAuth(d *keytable.Decoder, _ any, n *yaml.Node, content []*yaml.Node) {
	bearer, basic := keytable.KeyOf(content, "bearer"), keytable.KeyOf(content, "basic")
	switch {
	case bearer == nil && basic == nil:
		d.Fail(n, "no-body", "auth is empty", "add bearer or basic")
	case bearer != nil && basic != nil:
		d.FailKey(basic, "two-bodies", "auth has both bearer and basic", "keep one of the two")
	}
}

// checkHTTPLogin checks that there are both a user and a password.
func checkHTTPLogin(d *keytable.Decoder, _ any, n *yaml.Node, content []*yaml.Node) {
	for _, key := range []string{"user", "password"} {
		if keytable.KeyOf(content, key) == nil {
			d.Fail(n, "no-body", "auth.basic has no "+key, "add "+key)
		}
	}
}

func checkHTTP(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	h := into.(*HTTP)
	h.Pos = d.Pos(n)
	if keytable.KeyOf(content, "url") == nil {
		d.Fail(n, "bad-address", "the request has no url", "add url, such as https://example.com/path")
	}
	var bodies []*yaml.Node
	for _, key := range []string{"json", "form", "body", "file"} {
		if at := keytable.KeyOf(content, key); at != nil {
			bodies = append(bodies, at)
		}
	}
	slices.SortFunc(bodies, func(a, b *yaml.Node) int { return a.Line - b.Line })
	for _, second := range bodies[min(1, len(bodies)):] {
		d.FailKey(second, "two-bodies", "a request can only have one body, but there are "+bodies[0].Value+" and "+second.Value, "keep one of the two")
	}
	if len(bodies) > 0 && (h.Method == "GET" || h.Method == "HEAD") {
		d.FailKey(bodies[0], "no-effect", "a request with the method "+h.Method+" has no body", "write method: POST, or use query")
	}
	if at := keytable.KeyOf(content, "save-as"); at != nil && h.Schema != nil {
		d.FailKey(at, "no-effect", "a response that is saved cannot be checked against expect.schema", "remove save-as or schema")
	}
	seen := map[string]bool{}
	for _, e := range h.Headers {
		name := strings.ToLower(e.Key)
		switch {
		case !validHeader(name):
			d.Report(Diagnostic{Code: "bad-name", Severity: Error, Pos: e.Pos, Path: d.Path.String() + ".headers", Message: "invalid name of a header: " + diagnostic.Quote(e.Key), Hint: "use letters, digits and '-'"})
		case slices.Contains([]string{"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "proxy-authorization"}, name):
			d.Report(Diagnostic{Code: "no-effect", Severity: Error, Pos: e.Pos, Len: len(e.Key), Path: d.Path.String() + ".headers", Message: "flowrun itself sets the header " + e.Key, Hint: "remove it"})
		case name == "authorization" && (h.Bearer != nil || h.Basic != nil):
			d.Report(Diagnostic{Code: "no-effect", Severity: Error, Pos: e.Pos, Len: len(e.Key), Path: d.Path.String() + ".headers", Message: "auth sets the header " + e.Key, Hint: "remove the header, or auth"})
		case seen[name]:
			d.Report(Diagnostic{Code: "duplicate-key", Severity: Error, Pos: e.Pos, Len: len(e.Key), Path: d.Path.String() + ".headers", Message: "the header " + e.Key + " is there twice", Hint: "upper and lower case are the same; join the values with a comma"})
		}
		seen[name] = true
	}
}

// validHeader reports whether a text in lower case can be the name of a header.
func validHeader(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

func checkHTTPTLS(d *keytable.Decoder, _ any, _ *yaml.Node, content []*yaml.Node) {
	cert, key := keytable.KeyOf(content, "cert"), keytable.KeyOf(content, "key")
	switch {
	case cert != nil && key == nil:
		d.FailKey(cert, "no-effect", "cert has no effect without key", "add key, the file with the private key")
	case key != nil && cert == nil:
		d.FailKey(key, "no-effect", "key has no effect without cert", "add cert, the file with the certificate")
	}
}

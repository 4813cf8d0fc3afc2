package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/yosida95/uritemplate/v3"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// defaultMIME is the media type of output for which the definition names none.
const defaultMIME = "text/plain"

// isTemplate reports whether an address has parts that the client chooses.
func isTemplate(uri string) bool { return strings.Contains(uri, "{") }

// addResource offers the output of a tool under the address in its definition. The tool itself is described by t.
func (s *Server) addResource(t *mcp.Tool, o offer) {
	template, err := uritemplate.New(o.uri)
	if err != nil { // never: package tool has checked it
		s.config.Log.Warn("resource is not offered", "tool", o.tool, "reason", err.Error())
		return
	}
	read := s.outputReader(o, template)
	if isTemplate(o.uri) {
		s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: o.uri, Name: t.Name, Title: t.Title, Description: t.Description, MIMEType: o.mime}, read)
	} else {
		s.sdk.AddResource(&mcp.Resource{URI: o.uri, Name: t.Name, Title: t.Title, Description: t.Description, MIMEType: o.mime}, read)
	}
}

// outputReader returns the handler of a tool's resource: it runs the tool with the parts of the address as parameters,
// and its output is the content.
func (s *Server) outputReader(o offer, template *uritemplate.Template) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		arguments, err := json.Marshal(addressParts(template, req.Params.URI))
		if err != nil {
			return nil, err
		}
		out := &binaryOutput{}
		answer, question := s.call(ctx, o.tool, string(arguments), request{session: req.Session, client: req.ClientCapabilities(),
			state: req.Params.RequestState, answers: req.Params.InputResponses, token: req.Params.GetProgressToken(), stdout: out})
		switch {
		case question != nil:
			return &mcp.ReadResourceResult{RequestState: question.state, InputRequests: question.requests()}, nil
		case answer.Error != nil:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: answer.Content.Text()}
		}
		parts, err := out.parts(answer.Content, o.mime)
		if err != nil {
			return nil, err
		}
		r := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{}}
		for _, p := range parts {
			r.Contents = append(r.Contents, contentsOf(req.Params.URI, o.mime, p))
		}
		return r, nil
	}
}

// binaryOutput keeps the output of a run as it was printed: in the result of the run, what is not text is replaced.
type binaryOutput struct {
	bytes.Buffer     // as much as the result of the run would have
	size         int // of the whole output
}

// Write implements io.Writer.
func (b *binaryOutput) Write(p []byte) (int, error) {
	b.size += len(p)
	b.Buffer.Write(p[:min(len(p), steps.DefaultLimit-b.Len())])
	return len(p), nil
}

// parts returns the output as one part if it is binary, otherwise the parts of the content. A text can be cut, but other
// data would be damaged.
func (b *binaryOutput) parts(c *gostep.Content, mime string) ([]gostep.Part, error) {
	switch data := b.Bytes(); {
	case utf8.Valid(data[:wholeRunes(data)]):
		return c.Parts, nil
	case b.size > steps.DefaultLimit:
		return nil, fmt.Errorf("the output is binary and has %d bytes, more than the %d MB that a resource can have; "+
			"write it to a file and print where that is, or let the address choose a smaller part", b.size, steps.DefaultLimit/1_000_000)
	}
	return []gostep.Part{{MIME: mime, Data: b.Bytes()}}, nil
}

// addressParts returns the parts of an address that the client has chosen, by the names of the parameters.
func addressParts(template *uritemplate.Template, uri string) map[string]string {
	parts := map[string]string{}
	for name, v := range template.Match(uri) {
		parts[name] = strings.Join(v.V, ",") // without a comma it is a list of one
	}
	return parts
}

// contentsOf translates a part of an output. Only text can be encoded as text; mime is the type of a part that has none
// of its own.
func contentsOf(uri, mime string, p gostep.Part) *mcp.ResourceContents {
	c := &mcp.ResourceContents{URI: uri, MIMEType: mime}
	data := []byte(p.Text)
	if p.MIME != "" {
		c.MIMEType, data = p.MIME, p.Data
	}
	if utf8.Valid(data) {
		c.Text = string(data)
	} else {
		c.Blob = data
	}
	return c
}

// resource sets the address under which the output of a tool can be read, if it has one.
func (o *offer) resource(p *engine.Plan) {
	if r := p.Definition.Resource; r != nil {
		o.uri, o.mime, o.source = r.URI.S, cmp.Or(r.MIME, defaultMIME), digestsOf(p)
	}
}

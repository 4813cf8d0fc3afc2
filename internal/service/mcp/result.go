package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/registry"
)

// resultOf translates an Answer. The content is what the model reads. What only a person
// should see, such as how to allow a refused call, is left out: a model could act on it.
//
// schema says that clients know a schema of the tool's output. Structured content is then only what
// matches it: some clients check that of an error too, and drop the whole result.
func (s *Server) resultOf(a *registry.Answer, schema bool) *mcp.CallToolResult {
	r := &mcp.CallToolResult{IsError: a.Error != nil, Content: contentOf(a.Content), Meta: metaOf(a)}
	text := a.Content.Text()
	large := len(text) > maxResult && a.Run != "" && s.config.Store != nil
	if large {
		r.Content = linkTo(a.Run, text)
	}
	for _, warning := range a.Warnings {
		r.Content = append(r.Content, &mcp.TextContent{Text: "Warning: " + warning})
	}
	object, isObject := a.Object()
	switch {
	case a.Error != nil && schema:
		r.Meta["flowrun/error"] = errorDocument(a)
	case a.Error != nil:
		r.StructuredContent = errorDocument(a)
	case isObject && (schema || !large):
		r.StructuredContent = object
	}
	return r
}

const (
	// maxResult is the size from which on a result is a resource that the client can read in
	// parts, in bytes.
	maxResult = 1 << 20
	// maxBeginning is how much of such a result is part of the answer, in bytes.
	maxBeginning = 16 << 10
)

// linkTo returns the content for a large result: its beginning, and where the whole is.
func linkTo(run, text string) []mcp.Content {
	uri := runsURI + "/" + run + "/output"
	beginning := text[:wholeRunes([]byte(text[:maxBeginning]))]
	return []mcp.Content{
		&mcp.TextContent{Text: fmt.Sprintf("The output has %d bytes. It begins:\n%s\n[cut; read the resource %s for all of it]", len(text), beginning, uri)},
		&mcp.ResourceLink{URI: uri, Name: "output", MIMEType: "text/plain", Size: new(int64(len(text)))},
	}
}

// contentOf translates the parts of a result.
func contentOf(c *gostep.Content) []mcp.Content {
	list := []mcp.Content{}
	for _, p := range c.Parts {
		switch {
		case p.MIME == "":
			list = append(list, &mcp.TextContent{Text: p.Text})
		case strings.HasPrefix(p.MIME, "image/"):
			list = append(list, &mcp.ImageContent{MIMEType: p.MIME, Data: p.Data})
		case strings.HasPrefix(p.MIME, "audio/"):
			list = append(list, &mcp.AudioContent{MIMEType: p.MIME, Data: p.Data})
		default:
			list = append(list, &mcp.EmbeddedResource{Resource: contentsOf("flowrun:result", "", p)})
		}
	}
	return list
}

// errorDocument returns the document of flowrun call, without the content, which the result
// itself has, and without what only a person should see.
func errorDocument(a *registry.Answer) any {
	text, err := json.Marshal(a)
	var doc map[string]any
	if err != nil || decode(text, &doc) != nil {
		return map[string]any{"execution_status": a.Status, "error": a.Error}
	}
	delete(doc, "llmContent")
	delete(doc, "returnDisplay")
	return doc
}

// decode reads JSON and keeps the digits of numbers.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// metaOf returns what a client can use besides the result: the id of the run, and how the
// arguments were repaired.
func metaOf(a *registry.Answer) mcp.Meta {
	m := mcp.Meta{}
	if a.Run != "" {
		m["flowrun/run"] = a.Run
	}
	if a.Repaired {
		m["flowrun/repairs"] = a.Repairs
	}
	if len(a.Coercions) > 0 {
		m["flowrun/coercions"] = a.Coercions
	}
	if len(a.Warnings) > 0 {
		m["flowrun/warnings"] = a.Warnings
	}
	return m
}

package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// step returns the step that calls a tool of the server.
func (r *remote) step(name string) gostep.StepFunc {
	return func(ctx context.Context, in *gostep.StepInput) (any, error) {
		res, err := r.call(ctx, name, in)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("MCP server %s: %w", r.config.Name, err)
		}
		content, err := outputOf(res)
		if err != nil {
			return nil, err
		}
		return content, nil
	}
}

// outputOf returns the output of a step that got this result. The error is why the step fails.
func outputOf(res *mcp.CallToolResult) (*gostep.Content, error) {
	content := contentFrom(res)
	if res.IsError {
		return nil, errors.New(plainText(failureOf(res, content), maxProblem))
	}
	return content, nil
}

// call calls a tool. It is never called twice, except if the server says that it has not run.
func (r *remote) call(ctx context.Context, name string, in *gostep.StepInput) (*mcp.CallToolResult, error) {
	if r.config.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.config.Timeout, fmt.Errorf("it did not answer within %v; the outcome of the call is unknown", r.config.Timeout))
		defer cancel()
	}
	defer r.sampling.begin()()
	defer r.questions.begin()()
	token, end := r.progress.begin(in.Progress)
	defer end()
	for again := false; ; again = true {
		l, err := r.connected(ctx)
		if err != nil {
			return nil, err
		}
		params := &mcp.CallToolParams{Name: name, Arguments: in.Params}
		params.SetProgressToken(token)
		res, err := l.session.CallTool(ctx, params)
		if err == nil {
			return res, nil
		}
		if errors.Is(err, mcp.ErrSessionMissing) && !again {
			r.drop(l)
			continue
		}
		return nil, l.unknown(ctx, err)
	}
}

// unknown returns the error of a call without a result. If the server has not answered, nobody
// knows whether the call had an effect.
func (l *link) unknown(ctx context.Context, err error) error {
	explained := l.explain(ctx, err)
	if _, refused := errors.AsType[*signInError](err); refused || answerIn(err) != nil || ctx.Err() != nil {
		return explained
	}
	return fmt.Errorf("the connection was lost during the call, so its outcome is unknown; it is not repeated: %w", explained)
}

// contentFrom translates a result. Structured content takes the place of the texts, which describe
// it, unless they are JSON themselves, or all that it contains.
func contentFrom(res *mcp.CallToolResult) *gostep.Content {
	c := &gostep.Content{}
	texts, isJSON := []string{}, false
	for _, block := range res.Content {
		p := partFrom(block)
		if p.MIME == "" {
			texts, isJSON = append(texts, p.Text), isJSON || isDocument(p.Text)
			p.Text = line(p.Text)
		}
		c.Parts = append(c.Parts, p)
	}
	if data, err := json.Marshal(res.StructuredContent); err == nil && res.StructuredContent != nil && !res.IsError && !isJSON && !wraps(res.StructuredContent, strings.Join(texts, "")) {
		parts := []gostep.Part{{Text: string(data)}}
		for _, p := range c.Parts {
			if p.MIME != "" {
				parts = append(parts, p)
			}
		}
		c.Parts = parts
		if len(texts) > 0 {
			c.Display = plainText(strings.Join(texts, "\n"), maxProblem)
		}
	}
	if n := len(c.Parts); n == 1 && c.Parts[0].MIME == "" {
		c.Parts[0].Text = strings.TrimSuffix(c.Parts[0].Text, "\n")
	}
	return c
}

// failureOf returns why a call failed: the texts, and the structured content that says more.
func failureOf(res *mcp.CallToolResult, content *gostep.Content) string {
	text := strings.TrimSpace(content.Text())
	data, err := json.Marshal(res.StructuredContent)
	if err != nil || res.StructuredContent == nil || isDocument(text) || wraps(res.StructuredContent, text) {
		return text
	}
	return strings.TrimSpace(text + "\n" + string(data))
}

// wraps reports whether structured content is only an object around a text. Libraries for servers make
// such objects of results that are not structured.
func wraps(structured any, text string) bool {
	object, ok := structured.(map[string]any)
	if !ok || len(object) != 1 {
		return false
	}
	for _, v := range object {
		if s, ok := v.(string); ok {
			return s == text
		}
		written, err := json.Marshal(v)
		return err == nil && string(written) == text
	}
	return false
}

// isDocument reports whether a text is a JSON object or list.
func isDocument(text string) bool {
	text = strings.TrimSpace(text)
	return (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text))
}

// line returns a text that ends with a line end, so that texts do not run together.
func line(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// partFrom translates one block of a result.
func partFrom(block mcp.Content) gostep.Part {
	switch b := block.(type) {
	case *mcp.TextContent:
		return gostep.Part{Text: b.Text}
	case *mcp.ImageContent:
		return data(b.MIMEType, b.Data)
	case *mcp.AudioContent:
		return data(b.MIMEType, b.Data)
	case *mcp.ResourceLink:
		return gostep.Part{Text: fmt.Sprintf("[resource %s: %s]", plainText(b.Name, maxTitle), plainText(b.URI, maxTitle))}
	case *mcp.EmbeddedResource:
		switch {
		case b.Resource == nil:
			return gostep.Part{}
		case b.Resource.Blob != nil:
			return data(b.Resource.MIMEType, b.Resource.Blob)
		}
		return gostep.Part{Text: b.Resource.Text}
	}
	return gostep.Part{Text: "[content of an unknown kind]"}
}

// data returns a part with data. A media type that is not valid is replaced by that of any data.
func data(kind string, content []byte) gostep.Part {
	if parsed, _, err := mime.ParseMediaType(kind); err != nil || !strings.Contains(parsed, "/") {
		kind = "application/octet-stream"
	}
	return gostep.Part{MIME: kind, Data: content}
}

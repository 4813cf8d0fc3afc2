package gostep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Content is the result of a tool that tells a model and a person different things, or that is more than text. A
// StepFunc may return one.
type Content struct {
	Parts   []Part // for the model
	Display any    // for a person: Markdown as a string, or a *FileDiff; nil means the text of Parts
}

// Part is one piece of Content: a text, or data of a media type, such as an image or a sound.
type Part struct {
	Text string
	MIME string // media type of Data; "" for a text
	Data []byte
}

// FileDiff shows what a tool changes in a file.
type FileDiff struct {
	FileName string  `json:"fileName"`
	FileDiff string  `json:"fileDiff"`        // in the format of diff -u
	Original *string `json:"originalContent"` // null for a new file
	New      string  `json:"newContent"`
}

// TextContent returns Content with one text. display is what a person sees instead; "" shows the same text.
func TextContent(text, display string) *Content {
	c := &Content{Parts: []Part{{Text: text}}}
	if display != "" {
		c.Display = display
	}
	return c
}

// Text returns the content as text alone, which is a step's output. A part that is not text is replaced by its type
// and size.
func (c *Content) Text() string {
	var b strings.Builder
	for _, p := range c.Parts {
		if p.MIME != "" {
			p.Text = fmt.Sprintf("[%s, %d bytes]\n", p.MIME, len(p.Data))
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// MarshalJSON writes llmContent, a text or a list of texts and parts, and returnDisplay.
func (c *Content) MarshalJSON() ([]byte, error) {
	type inline struct {
		MIME string `json:"mimeType"`
		Data []byte `json:"data"` // base64
	}
	type part struct {
		Inline *inline `json:"inlineData"`
	}
	var out struct {
		Content any `json:"llmContent"`
		Display any `json:"returnDisplay"`
	}
	list := make([]any, 0, len(c.Parts))
	for _, p := range c.Parts {
		if p.MIME != "" {
			list = append(list, part{&inline{p.MIME, p.Data}})
		} else {
			list = append(list, p.Text)
		}
	}
	out.Content, out.Display = list, c.Display
	if len(c.Parts) == 1 && c.Parts[0].MIME == "" {
		out.Content = c.Parts[0].Text
	}
	if out.Display == nil {
		out.Display = c.Text()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(out)
	return b.Bytes(), err
}

// masked returns a copy with secrets masked in its texts.
func (c *Content) masked(m *mask.Mask) *Content {
	out := &Content{Display: c.Display}
	for _, p := range c.Parts {
		p.Text = m.String(p.Text)
		if strings.HasPrefix(p.MIME, "text/") { // masking would corrupt other types
			p.Data = []byte(m.String(string(p.Data)))
		}
		out.Parts = append(out.Parts, p)
	}
	switch d := c.Display.(type) {
	case string:
		out.Display = m.String(d)
	case *FileDiff:
		out.Display = MaskDiff(d, m)
	case nil:
	default:
		out.Display = maskedJSON(m, d)
	}
	return out
}

// MaskDiff returns a copy of d with secrets masked.
func MaskDiff(d *FileDiff, m *mask.Mask) *FileDiff {
	hidden := *d
	hidden.FileName, hidden.FileDiff, hidden.New = m.String(d.FileName), m.String(d.FileDiff), m.String(d.New)
	if d.Original != nil {
		original := m.String(*d.Original)
		hidden.Original = &original
	}
	return &hidden
}

// maskedJSON returns a value in its JSON form, with secrets masked; nil if it cannot be encoded.
func maskedJSON(m *mask.Mask, v any) any {
	b, err := json.Marshal(v)
	var read any
	if err != nil || value.DecodeJSON(string(b), &read) != nil {
		return nil
	}
	return m.Value(read)
}

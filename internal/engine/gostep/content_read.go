package gostep

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// ReadContent parses the output of a tool as content, if it is a JSON object with llmContent: a text, a part, or a
// list of these. In this way any kind of tool can return more than text. For all other output it returns nil.
func ReadContent(text string) *Content {
	text = strings.TrimSpace(diagnostic.WithoutMark(text))
	if !strings.HasPrefix(text, "{") || !strings.Contains(text, `"llmContent"`) {
		return nil
	}
	var doc struct {
		Content json.RawMessage `json:"llmContent"`
		Display json.RawMessage `json:"returnDisplay"`
	}
	if value.DecodeJSON(text, &doc) != nil || doc.Content == nil {
		return nil
	}
	return &Content{Parts: readParts(doc.Content), Display: readDisplay(doc.Display)}
}

func readParts(raw json.RawMessage) []Part {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	parts := make([]Part, 0, len(list))
	for _, one := range list {
		if string(one) != "null" {
			parts = append(parts, readPart(one))
		}
	}
	return parts
}

// readPart reads one part. A part of an unknown kind is passed on as its JSON text.
func readPart(raw json.RawMessage) Part {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return Part{Text: text}
	}
	var part struct {
		Text   *string `json:"text"`
		Inline *struct {
			MIME string `json:"mimeType"`
			Data []byte `json:"data"`
		} `json:"inlineData"`
	}
	switch err := json.Unmarshal(raw, &part); {
	case err == nil && part.Inline != nil && part.Inline.MIME != "":
		return Part{MIME: part.Inline.MIME, Data: part.Inline.Data}
	case err == nil && part.Text != nil:
		return Part{Text: *part.Text}
	}
	return Part{Text: string(raw)}
}

// readDisplay reads what a person sees: Markdown, a *FileDiff, or any other value unchanged.
func readDisplay(raw json.RawMessage) any {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var diff struct {
		FileDiff
		Has *string `json:"fileDiff"`
	}
	if json.Unmarshal(raw, &diff) == nil && diff.Has != nil {
		diff.FileDiff.FileDiff = *diff.Has
		return &diff.FileDiff
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return nil
	}
	return json.RawMessage(compact.Bytes())
}

package web

import (
	"encoding/json"
	"net/http"

	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/catalog"
	"github.com/flowrun/flowrun/library"
)

// editorHandlers answer requests of editors of definitions.
type editorHandlers struct {
	editor  Editor
	starter starter
	bodies  *bodyReader
}

func (h editorHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/tools/{name}/source", id: "getSource", summary: "Read the definition of a tool",
			answers: []answer{{200, "The text, and whether the caller can change it.", "", "source"}}, handle: h.readSource},
		{method: "PUT", path: "/api/v1/tools/{name}/source", id: "putSource", summary: "Replace the definition of a tool",
			doc:  "The text replaces the file as a whole, or not at all: it must be valid, and the file must still have the digest that you read (409 otherwise). Runs in progress keep the version that they started with.",
			body: "edited", answers: []answer{{200, "The saved definition.", "", "source"}}, handle: h.writeSource},
		{method: "POST", path: "/api/v1/validate", id: "validate", summary: "Check the text of a definition",
			doc:  "With `tool`, the text is checked in the place of that tool; otherwise as a new tool. With `params`, the response has a dry run of a valid text. Nothing is changed.",
			body: "text", answers: []answer{{200, "What is wrong with it.", "", "validated"}}, handle: h.validate},
	}
}

var errMayNotEdit = refuse(403, "may-not-edit", "you cannot change definitions", "this needs the role admin, a token that is valid for all tools, and a service without --read-only")

// sourceDoc is the text of a definition as editors see it.
type sourceDoc struct {
	Name     string `json:"name"`
	Scope    string `json:"scope"`
	Kind     string `json:"kind"`
	File     string `json:"file"`
	Text     string `json:"text"`
	Digest   string `json:"digest"`
	ReadOnly string `json:"read_only,omitempty"` // why it cannot be changed

	Diagnostics json.RawMessage `json:"diagnostics"`
}

// diagnosticsOf returns the list in the document flowrun/diagnostics.v1.
func diagnosticsOf(found tool.Diagnostics) (json.RawMessage, error) {
	var doc struct {
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	text, err := diagnostic.Reported(found).MarshalDocument()
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	return doc.Diagnostics, err
}

func writeSourceDoc(w http.ResponseWriter, r *http.Request, s *catalog.Source, found tool.Diagnostics) (err error) {
	doc := sourceDoc{Name: s.Name, Scope: s.Scope, Kind: s.Kind, File: s.File, Text: string(s.Text), Digest: s.Digest, ReadOnly: s.ReadOnly}
	if doc.ReadOnly == "" && !callerFrom(r).mayEdit() {
		doc.ReadOnly = errMayNotEdit.Message
	}
	if doc.Diagnostics, err = diagnosticsOf(found); err != nil {
		return err
	}
	return writeJSON(w, 200, doc)
}

func (h editorHandlers) readSource(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if !callerFrom(r).mayUse(name) {
		return &library.NotFoundError{Name: name}
	}
	s, err := h.editor.Source(name)
	if err != nil {
		return err
	}
	var found tool.Diagnostics
	if s.File != "" {
		if _, found, err = h.editor.Check(name, "", s.Text); err != nil {
			return err
		}
	}
	return writeSourceDoc(w, r, s, found)
}

func (h editorHandlers) writeSource(w http.ResponseWriter, r *http.Request) error {
	var text, digest string
	err := h.bodies.readFields(w, r, bodyField{"text", &text}, bodyField{"digest", &digest})
	switch {
	case err != nil:
		return err
	case !callerFrom(r).mayEdit():
		return errMayNotEdit
	case text == "" || digest == "":
		return refuse(400, "no-text", "the fields text and digest are required", `send {"text": "...", "digest": "sha256:..."}`)
	}
	s, err := h.editor.Save(r.PathValue("name"), digest, []byte(text))
	if err != nil {
		return err
	}
	return writeSourceDoc(w, r, s, s.Warnings) // its new name may not be known yet
}

func (h editorHandlers) validate(w http.ResponseWriter, r *http.Request) error {
	var text, name, kind string
	var params map[string]any
	err := h.bodies.readFields(w, r, bodyField{"text", &text}, bodyField{"tool", &name}, bodyField{"kind", &kind}, bodyField{"params", &params})
	switch {
	case err != nil:
		return err
	case !callerFrom(r).mayEdit():
		return errMayNotEdit
	}
	plan, found, err := h.editor.Check(name, kind, []byte(text))
	if err != nil {
		return err
	}
	var doc struct {
		Valid       bool             `json:"valid"`
		Diagnostics json.RawMessage  `json:"diagnostics"`
		Graph       *graphDoc        `json:"graph,omitempty"`
		Plan        *preview.Preview `json:"plan,omitempty"`
	}
	doc.Valid = found.Err() == nil
	if doc.Diagnostics, err = diagnosticsOf(found); err != nil {
		return err
	}
	if plan != nil {
		g := graphOf(plan)
		doc.Graph = &g
	}
	if plan != nil && params != nil {
		if doc.Plan, err = h.starter.preview(r, plan, params); err != nil {
			return err
		}
	}
	return writeJSON(w, 200, doc)
}

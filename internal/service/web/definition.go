package web

import "net/http"

// definitionFile is the text of one definition.
type definitionFile struct {
	Name   string `json:"name"`
	Scope  string `json:"scope"`
	Digest string `json:"digest"`
	Text   string `json:"text"`
}

func (h *runHandlers) definition(w http.ResponseWriter, r *http.Request) error {
	past, err := h.runs.RecordedRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	files := []definitionFile{}
	for _, d := range past.Definitions() {
		files = append(files, definitionFile{d.Name, string(d.Scope), d.Digest, string(d.Text)})
	}
	return writeJSON(w, 200, map[string][]definitionFile{"files": files})
}

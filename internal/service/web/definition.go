package web

import (
	"net/http"
	"path"
	"strings"
)

// definitionFile is the text of one definition. Its name has no folders of the machine.
type definitionFile struct {
	Name  string `json:"name"`
	Scope string `json:"scope"`
	Text  string `json:"text"`
}

func (h *runHandlers) definition(w http.ResponseWriter, r *http.Request) error {
	past, err := h.runs.RecordedRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	files := []definitionFile{}
	for _, s := range past.Record.Sources {
		files = append(files, definitionFile{path.Base(strings.ReplaceAll(s.File, `\`, "/")), string(s.Scope), string(s.Text)})
	}
	return writeJSON(w, 200, map[string][]definitionFile{"files": files})
}

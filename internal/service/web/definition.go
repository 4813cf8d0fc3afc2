package web

import (
	"net/http"
	"path"
	"strings"
)

var definitionRoute = route{method: "GET", path: "/api/v1/runs/{id}/definition", id: "getDefinition", summary: "Show the definitions that a run used",
	doc:     "These are the texts as they were when the run started, with secrets masked. The first one is that of the run's tool, the others are of the tools that it uses.",
	answers: []answer{{200, "The definitions.", "", "definition"}}, handle: (*server).definition}

// definitionFile is the text of one definition. Its name has no folders of the machine.
type definitionFile struct {
	Name  string `json:"name"`
	Scope string `json:"scope"`
	Text  string `json:"text"`
}

func (d *server) definition(w http.ResponseWriter, r *http.Request) error {
	id, err := runID(r)
	if err != nil {
		return err
	}
	past, err := d.RecordedRun(r.Context(), id)
	if err != nil {
		return err
	}
	files := []definitionFile{}
	for _, s := range past.Record.Sources {
		files = append(files, definitionFile{path.Base(strings.ReplaceAll(s.File, `\`, "/")), string(s.Scope), string(s.Text)})
	}
	return writeJSON(w, 200, struct {
		Files []definitionFile `json:"files"`
	}{files})
}

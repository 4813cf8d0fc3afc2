package web

import (
	"archive/zip"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
)

// artifactPolicy lets a browser show an artifact, also in a frame of the pages of the service, without scripts and without
// requests to anywhere: it may be any HTML.
const artifactPolicy = "default-src 'none'; sandbox; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

const (
	anyType = "*/*"
	asZip   = "application/zip"
)

// artifactHandlers answer requests for the artifacts of runs.
type artifactHandlers struct{ runs Runs }

func (h artifactHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/runs/{id}/artifacts", id: "runArtifacts", summary: "List the artifacts of a run",
			answers: []answer{{200, "The artifacts that its steps have kept so far.", "", "artifacts"}}, handle: h.runArtifacts},
		{method: "GET", path: "/api/v1/runs/{id}/artifact-archive", id: "downloadArtifacts", summary: "Read all artifacts of a run as a zip archive",
			answers: []answer{{200, "The archive, with a folder for each step.", asZip, ""}}, handle: h.downloadAll},
		{method: "GET", path: "/api/v1/runs/{id}/artifact-files", id: "artifactFiles", summary: "List the files of an artifact",
			query:   artifactQuery,
			answers: []answer{{200, "Its files, folders and links.", "", "artifact-files"}}, handle: h.artifactFiles},
		{method: "GET", path: "/api/v1/runs/{id}/artifact", id: "readArtifact", summary: "Read a file of an artifact",
			doc: "Its type is that of the name. Browsers show it without running scripts. Without `file`, an artifact of several files is a zip archive of them.",
			query: append([]param{
				{name: "file", kind: "string", doc: "The path of the file in the artifact. Default: its only file, if the artifact is a file."},
				{name: "download", kind: "string", doc: "With 1, browsers save the response as a file.", enum: []string{"0", "1"}}}, artifactQuery...),
			answers: []answer{{200, "The content of the file.", anyType, ""}}, handle: h.readArtifact},
	}
}

var artifactQuery = []param{
	{name: "step", kind: "string", doc: "The path of the step."},
	{name: "name", kind: "string", doc: "The name of the artifact."},
}

// artifactJSON is an artifact without its path on the machine of the service.
type artifactJSON struct {
	runresult.KeptArtifact
	Path  string `json:"path,omitempty"`
	Paths string `json:"paths,omitempty"`
}

func (h artifactHandlers) runArtifacts(w http.ResponseWriter, r *http.Request) error {
	list, err := h.artifacts(r)
	if err != nil {
		return err
	}
	out := []artifactJSON{}
	for _, a := range list {
		out = append(out, artifactJSON{KeptArtifact: a})
	}
	return writeJSON(w, 200, map[string][]artifactJSON{"artifacts": out})
}

func (h artifactHandlers) downloadAll(w http.ResponseWriter, r *http.Request) error {
	list, err := h.artifacts(r)
	if err != nil {
		return err
	}
	return writeAll(w, r.PathValue("id"), list)
}

// artifacts returns the artifacts of the run that a request names.
func (h artifactHandlers) artifacts(r *http.Request) ([]runresult.KeptArtifact, error) {
	past, err := h.runs.RecordedRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return past.Result().Artifacts(), nil
}

// openArtifact opens the artifact that a request names.
func (h artifactHandlers) openArtifact(r *http.Request) (*artifact.Content, error) {
	list, err := h.artifacts(r)
	if err != nil {
		return nil, err
	}
	in := r.URL.Query()
	at := slices.IndexFunc(list, func(a runresult.KeptArtifact) bool { return a.Step == in.Get("step") && a.Name == in.Get("name") })
	if at < 0 {
		return nil, refuse(404, "unknown-artifact", "the run has no such artifact", "GET /api/v1/runs/{id}/artifacts lists the artifacts")
	}
	return openKept(list[at])
}

func openKept(a runresult.KeptArtifact) (*artifact.Content, error) {
	c, err := artifact.Open(a.Artifact)
	if err != nil {
		return nil, &problem{status: 410, cause: err, Code: "artifact-gone", Message: fmt.Sprintf("the artifact %s of %s is no longer there", a.Name, a.Step), Hint: "run the step again"}
	}
	return c, nil
}

func (h artifactHandlers) artifactFiles(w http.ResponseWriter, r *http.Request) error {
	c, err := h.openArtifact(r)
	if err != nil {
		return err
	}
	defer c.Close()
	return writeJSON(w, 200, map[string][]artifact.File{"files": c.Files})
}

func (h artifactHandlers) readArtifact(w http.ResponseWriter, r *http.Request) error {
	c, err := h.openArtifact(r)
	if err != nil {
		return err
	}
	defer c.Close()
	in := r.URL.Query()
	name := rawtext.Decode(in.Get("file"))
	switch {
	case name == "" && c.Single:
		name = c.Files[0].Path
	case name == "":
		return writeZip(w, c.Name, func(z *zip.Writer) error { return addFiles(z, "", c) })
	}
	file, f, err := c.File(name)
	if err != nil {
		return &problem{status: 404, cause: err, Code: "unknown-artifact", Message: "the artifact has no such file", Hint: "GET /api/v1/runs/{id}/artifact-files lists the files"}
	}
	defer file.Close()
	disposition := "inline"
	if in.Get("download") == "1" {
		disposition = "attachment"
	}
	header := w.Header()
	header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": path.Base(name)}))
	header.Set("Content-Security-Policy", artifactPolicy)
	header.Set("Content-Type", mediaOf(name))
	header.Set("ETag", strconv.Quote(f.Digest))
	http.ServeContent(w, r, "", time.Time{}, file)
	return nil
}

// mediaOf returns the media type of a file that browsers may show: what could be dangerous is so only in the sandbox.
func mediaOf(name string) string {
	switch media := mime.TypeByExtension(path.Ext(name)); {
	case strings.HasPrefix(media, "text/html"), strings.HasPrefix(media, "image/"), media == "application/json", media == "application/pdf":
		return media
	case strings.HasPrefix(media, "text/"), slices.Contains([]string{".log", ".txt", ".md", ".yaml", ".yml", ".xml", ".toml"}, path.Ext(name)):
		return asText
	}
	return "application/octet-stream"
}

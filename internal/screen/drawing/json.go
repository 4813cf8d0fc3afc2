package drawing

import (
	"encoding/json"
	"io"

	"github.com/flowrun/flowrun/dag"
)

// graphSchema is the name of the document that Draw writes as json. Fields may be added to it, never
// removed.
const graphSchema = "flowrun/graph.v1"

// boxJSON is one step in that document.
type boxJSON struct {
	ID         string      `json:"id"`
	Kind       string      `json:"kind"`
	Upstream   []string    `json:"upstream"`
	Condition  string      `json:"condition,omitempty"`
	Note       string      `json:"note,omitempty"`
	Status     *dag.Status `json:"status,omitempty"` // only of a run
	DurationMS int64       `json:"duration_ms,omitempty"`
	Steps      []boxJSON   `json:"steps,omitempty"`
}

func drawJSON(w io.Writer, boxes []Box, run bool) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Schema string    `json:"schema"`
		Steps  []boxJSON `json:"steps"`
	}{graphSchema, boxesJSON(boxes, run)})
}

func boxesJSON(boxes []Box, run bool) []boxJSON {
	list := make([]boxJSON, len(boxes))
	for i, b := range boxes {
		list[i] = boxJSON{ID: b.ID, Kind: b.Kind, Upstream: append([]string{}, b.After...), Condition: b.Condition, Note: b.Note,
			DurationMS: b.Duration.Milliseconds(), Steps: boxesJSON(b.Inside, run)}
		if run {
			list[i].Status = &b.Status
		}
	}
	return list
}

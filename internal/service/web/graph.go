package web

import (
	"net/http"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/screen/drawing"
	"github.com/flowrun/flowrun/internal/screen/layout"
)

// graphHandlers answer requests for the graphs of tools and runs.
type graphHandlers struct {
	tools   Tools
	runs    Runs
	encoded encodedDocs[engine.Plan]
}

func (h *graphHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/tools/{name}/graph", id: "toolGraph", summary: "Show the graph of a tool's steps, with places for a drawing",
			answers: []answer{{200, "The graph.", "", "graph"}}, handle: h.toolGraph},
		{method: "GET", path: "/api/v1/runs/{id}/graph", id: "runGraph", summary: "Show the graph of a run's steps, with places for a drawing",
			doc:     "It is made of the definitions that the run was started with, and does not change while the run continues. The items of a loop are one node.",
			answers: []answer{{200, "The graph.", "", "graph"}}, handle: h.runGraph},
	}
}

// graphDoc is a graph with places.
type graphDoc struct {
	Width  int         `json:"width"`
	Height int         `json:"height"`
	Nodes  []graphNode `json:"nodes"`
	Edges  []graphEdge `json:"edges"`
}

type graphNode struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Kind      string `json:"kind,omitempty"`
	Condition string `json:"condition,omitempty"`
	Note      string `json:"note,omitempty"`
	Loop      bool   `json:"loop,omitempty"`
	Parent    string `json:"parent,omitempty"`
	Steps     int    `json:"steps,omitempty"`
	Join      bool   `json:"join,omitempty"`
	X         int    `json:"x"`
	Y         int    `json:"y"`
	W         int    `json:"w"`
	H         int    `json:"h"`
}

type graphEdge struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Points []int  `json:"points"`
}

func (h *graphHandlers) toolGraph(w http.ResponseWriter, r *http.Request) error {
	p, err := planFor(h.tools, r)
	if err != nil {
		return err
	}
	return h.writeGraph(w, p)
}

func (h *graphHandlers) runGraph(w http.ResponseWriter, r *http.Request) error {
	p, err := h.runs.RecordedRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return h.writeGraph(w, p.Plan)
}

func (h *graphHandlers) writeGraph(w http.ResponseWriter, p *engine.Plan) error {
	doc, err := h.encoded.of(p, func() ([]byte, error) { return encodeJSON(graphOf(p)) })
	if err != nil {
		return err
	}
	return writeDocument(w, 200, doc)
}

// maxGraphBytes bounds the encoded graphs that are kept: every page of a run requests the graph, and to place a
// thousand steps takes longer than anything else in the answer.
const maxGraphBytes = 8 << 20

// graphOf returns the graph of a plan.
func graphOf(p *engine.Plan) graphDoc {
	boxes, g := drawing.Place(drawing.Boxes(p))
	doc := graphDoc{Width: g.W, Height: g.H, Nodes: []graphNode{}, Edges: []graphEdge{}}
	doc.add(boxes, g, "")
	return doc
}

// add adds boxes, and those inside them, to the document.
func (doc *graphDoc) add(boxes []drawing.Box, g *layout.Graph, parent string) {
	for _, e := range g.Edges {
		points := make([]int, 0, 2*len(e.Points))
		for _, p := range e.Points {
			points = append(points, p.X, p.Y)
		}
		doc.Edges = append(doc.Edges, graphEdge{boxes[e.From].ID, boxes[e.To].ID, points})
	}
	for i, b := range boxes {
		n := g.Nodes[i]
		doc.Nodes = append(doc.Nodes, graphNode{ID: b.ID, Name: b.Name, Kind: b.Kind, Condition: b.Condition, Note: b.Note, Loop: b.Loop, Parent: parent,
			Steps: countSteps(b.Inside), Join: b.Join, X: n.X, Y: n.Y, W: n.W, H: n.H})
		if n.Inside != nil {
			doc.add(b.Inside, n.Inside, b.ID)
		}
	}
}

// countSteps returns how many of the boxes are steps.
func countSteps(boxes []drawing.Box) (n int) {
	for _, b := range boxes {
		if !b.Join {
			n++
		}
	}
	return n
}

package web

import (
	"net/http"

	"github.com/flowrun/flowrun/internal/service/attention"
)

// attentionHandlers answer requests for what needs a person.
type attentionHandlers struct{ items func() []attention.Item }

func (h attentionHandlers) routes() []route {
	return []route{{method: "GET", path: "/api/v1/attention", id: "listAttention", summary: "List what needs a person",
		doc:     "Runs that wait for an answer or that no service continues, scheduled times that were missed, definitions that cannot run, and others; the newest first.",
		answers: []answer{{200, "The items whose tools the caller may use. Those that concern the machine as a whole are for callers who may use all tools.", "", "attention"}}, handle: h.list}}
}

func (h attentionHandlers) list(w http.ResponseWriter, r *http.Request) error {
	c, list := callerFrom(r), []attention.Item{}
	for _, i := range h.items() {
		if i.Tool == "" && c.allTools() || i.Tool != "" && c.mayUse(i.Tool) {
			list = append(list, i)
		}
	}
	return writeJSON(w, 200, map[string][]attention.Item{"attention": list})
}

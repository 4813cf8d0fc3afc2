package web

import (
	"net/http"

	"github.com/flowrun/flowrun/internal/observe/rundocs"
)

func (h toolHandlers) toolState(w http.ResponseWriter, r *http.Request) error {
	p, err := planFor(h.tools, r)
	if err != nil {
		return err
	}
	current, err := h.history.State(r.Context(), p.StateID())
	if err != nil {
		return err
	}
	return writeJSON(w, 200, rundocs.StateOf(rundocs.WithDefaults(p.StateDefaults(), current)))
}

package web

import (
	"net/http"

	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/library"
)

func (d *server) toolState(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if !callerFrom(r).mayUse(name) {
		return &library.NotFoundError{Name: name}
	}
	p, err := d.Plan(r.Context(), name)
	if err != nil {
		return err
	}
	current, err := d.State(r.Context(), p.StateID())
	if err != nil {
		return err
	}
	return writeJSON(w, 200, rundocs.StateOf(rundocs.WithDefaults(p.StateDefaults(), current)))
}

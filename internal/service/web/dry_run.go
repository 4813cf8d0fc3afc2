package web

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/preview"
)

// maxPreview limits the time of a dry run, which binds parameters and so may run transforms.
const maxPreview = 30 * time.Second

func (h toolHandlers) dryRun(w http.ResponseWriter, r *http.Request) error {
	var params map[string]any
	if err := h.bodies.readFields(w, r, bodyField{"params", &params}); err != nil {
		return err
	}
	p, err := planFor(h.tools, r)
	if err != nil {
		return err
	}
	v, err := h.starter.preview(r, p, params)
	if err != nil {
		return err
	}
	return writeJSON(w, 200, v)
}

// preview returns what a run of a plan would do, without folders of the machine.
func (s starter) preview(r *http.Request, p *engine.Plan, params map[string]any) (*preview.Preview, error) {
	ctx, cancel := context.WithTimeout(r.Context(), maxPreview)
	defer cancel()
	v, err := s.Preview(ctx, p, params)
	if err != nil {
		return nil, err
	}
	for i, t := range v.Tools {
		if t.File != "" {
			v.Tools[i].File = filepath.Base(t.File)
		}
	}
	return v, nil
}

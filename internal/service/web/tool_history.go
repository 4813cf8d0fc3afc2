package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/observe/runstats"
	"github.com/flowrun/flowrun/library"
)

func (h toolHandlers) toolStats(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if !callerFrom(r).mayUse(name) {
		return &library.NotFoundError{Name: name}
	}
	limit, err := statsNumber(r, "limit", 30)
	if err != nil {
		return err
	}
	recent, err := statsNumber(r, "recent", runstats.DefaultRecent)
	if err != nil {
		return err
	}
	runs, err := h.history.Runs(r.Context(), history.Query{Tool: name, Status: runstats.Statuses(), Limit: limit})
	if err != nil {
		return err
	}
	s, err := runstats.Of(r.Context(), name, runs, recent, h.history.Events)
	if err != nil {
		return err
	}
	if p, err := h.tools.Plan(name); err == nil {
		s.History.Sort(stepOrder(p, ""))
	}
	return writeJSON(w, 200, s)
}

// statsNumber returns a query parameter that is a number of runs, or a default.
func statsNumber(r *http.Request, name string, otherwise int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 100 {
		return 0, refuse(400, "wrong-query", "the query parameter "+name+" is not a whole number from 1 to 100", "")
	}
	return n, nil
}

// stepOrder returns the paths of a plan's steps so that each follows the steps that it waits for,
// and the steps inside it follow it.
func stepOrder(p *engine.Plan, prefix string) []string {
	depths := map[string]int{}
	var depth func(step string) int
	depth = func(step string) int {
		if n, known := depths[step]; known {
			return n
		}
		n := 0
		for _, up := range p.Upstream(step) {
			n = max(n, depth(up)+1)
		}
		depths[step] = n
		return n
	}
	steps := p.Steps()
	slices.SortStableFunc(steps, func(a, b string) int { return cmp.Compare(depth(a), depth(b)) })
	var order []string
	for _, step := range steps {
		order = append(order, prefix+step)
		if inner := p.Nested(step); inner != nil {
			order = append(order, stepOrder(inner, prefix+step+"/")...)
		}
	}
	return order
}

package web

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/service"
)

// scheduleHandlers answer requests about schedules.
type scheduleHandlers struct {
	schedules service.Schedules
	starter   starter
	bodies    *bodyReader
}

func (h scheduleHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/schedules", id: "listSchedules", summary: "List the schedules",
			answers: []answer{{200, "The schedules.", "", "schedules"}}, handle: h.listSchedules},
		{method: "GET", path: "/api/v1/schedules/{name}/times", id: "scheduleTimes", summary: "List scheduled times of a schedule, past and future",
			doc: "The times after `from` and not after `to`, oldest first, at most `limit`. A past time has what happened then; one without was missed, or is before the schedule was added.",
			query: []param{{name: "from", kind: "string", doc: "A time, RFC 3339. Default: now."}, {name: "to", kind: "string", doc: "A time, RFC 3339. Default: no end."},
				{name: "limit", kind: "integer", doc: "How many times, 1 to 1000. Default: 10."}},
			answers: []answer{{200, "The times.", "", "times"}}, handle: h.scheduleTimes},
		{method: "POST", path: "/api/v1/schedules/{name}/run", id: "runSchedule", summary: "Start the tool of a schedule now, with its parameters",
			doc:  "The run does not count as one of the schedule.",
			body: "nothing", answers: []answer{accepted}, handle: h.runSchedule},
		{method: "POST", path: "/api/v1/schedules/{name}/pause", id: "pauseSchedule", summary: "Pause a schedule",
			body: "nothing", answers: []answer{{200, "The schedule is paused.", "", "paused"}}, handle: func(w http.ResponseWriter, r *http.Request) error { return h.pause(w, r, true) }},
		{method: "POST", path: "/api/v1/schedules/{name}/resume", id: "resumeSchedule", summary: "Resume a paused schedule",
			body: "nothing", answers: []answer{{200, "The schedule is active again.", "", "paused"}}, handle: func(w http.ResponseWriter, r *http.Request) error { return h.pause(w, r, false) }},
	}
}

// listed returns the schedules whose tools the caller may use.
func (h scheduleHandlers) listed(r *http.Request) ([]service.Schedule, error) {
	found, err := h.schedules.Schedules(r.Context())
	list := []service.Schedule{}
	for _, s := range found {
		if callerFrom(r).mayUse(s.Tool) {
			list = append(list, s)
		}
	}
	return list, err
}

// schedule returns the schedule that a request names.
func (h scheduleHandlers) schedule(r *http.Request) (service.Schedule, error) {
	list, err := h.listed(r)
	for _, s := range list {
		if s.Name == r.PathValue("name") {
			return s, err
		}
	}
	if err == nil {
		err = outcome.ErrNoSchedule
	}
	return service.Schedule{}, err
}

func (h scheduleHandlers) listSchedules(w http.ResponseWriter, r *http.Request) error {
	list, err := h.listed(r)
	if err != nil {
		return err
	}
	return writeJSON(w, 200, map[string][]service.Schedule{"schedules": list})
}

func (h scheduleHandlers) scheduleTimes(w http.ResponseWriter, r *http.Request) error {
	s, err := h.schedule(r)
	if err != nil {
		return err
	}
	in := r.URL.Query()
	from, to, limit := time.Now(), time.Time{}, 10
	if err := cmp.Or(queryTime(in, "from", &from), queryTime(in, "to", &to)); err != nil {
		return err
	}
	if text := in.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > 1000 {
			return refuse(400, "wrong-query", "the query parameter limit is not a whole number from 1 to 1000", "")
		}
	}
	times, err := h.schedules.Times(r.Context(), s.Name, from, to, limit)
	if err != nil {
		return err
	}
	return writeJSON(w, 200, struct {
		Name     string                  `json:"name"`
		Timezone string                  `json:"timezone,omitempty"`
		Times    []service.ScheduledTime `json:"times"`
	}{s.Name, s.Timezone, times})
}

func (h scheduleHandlers) runSchedule(w http.ResponseWriter, r *http.Request) error {
	if err := h.bodies.readFields(w, r); err != nil {
		return err
	}
	s, err := h.schedule(r)
	if err != nil {
		return err
	}
	// A schedule may run tools that callers cannot start with parameters of their own.
	return h.starter.start(w, r, service.Request{Tool: s.Tool, Params: s.Params, Origin: "api", Unlisted: true}, "")
}

func (h scheduleHandlers) pause(w http.ResponseWriter, r *http.Request, paused bool) error {
	if err := h.bodies.readFields(w, r); err != nil {
		return err
	}
	s, err := h.schedule(r)
	if err != nil {
		return err
	}
	if err := h.schedules.Pause(context.WithoutCancel(r.Context()), s.Name, paused); err != nil {
		return err
	}
	return writeJSON(w, 200, map[string]any{"name": s.Name, "paused": paused})
}

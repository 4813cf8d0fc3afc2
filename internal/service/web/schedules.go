package web

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/lang/tool"
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
		{method: "POST", path: "/api/v1/schedules/{name}/backfill", id: "backfill", summary: "Start runs for past scheduled times that had none",
			doc: "Runs start oldest first, at most `max_parallel` active at once, each time at most once. The response has all times in the range. " +
				"The runs have the origin `backfill:NAME`. If the service stops, the next one continues, unless the backfill was stopped.",
			body: "backfill", answers: []answer{{202, "The backfill is running, unless it was a dry run.", "", "backfilled"}}, handle: h.backfill},
		{method: "DELETE", path: "/api/v1/schedules/{name}/backfill", id: "stopBackfill", summary: "Stop a backfill",
			doc:     "It starts no more runs. Active runs continue.",
			answers: []answer{{200, "Whether one was running.", "", "stopped"}}, handle: h.stopBackfill},
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
	zone, err := cron.LoadZone(s.Timezone)
	if err != nil { // events have none
		zone = time.Local
	}
	params := make(map[string]any, len(s.Params))
	for name, v := range s.Params {
		params[name] = tool.FillSchedule(v, time.Now().In(zone))
	}
	return h.starter.start(w, r, service.Request{Tool: s.Tool, Params: params, Origin: "api", Unlisted: true}, "")
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

func (h scheduleHandlers) backfill(w http.ResponseWriter, r *http.Request) error {
	var from, to time.Time
	parallel, preview := 1, false
	if err := h.bodies.readFields(w, r, bodyField{"from", &from}, bodyField{"to", &to}, bodyField{"max_parallel", &parallel}, bodyField{"dry_run", &preview}); err != nil {
		return err
	}
	switch {
	case from.IsZero() || to.IsZero():
		return refuse(400, "no-range", "the field from or to is missing", `send {"from": "2026-09-01T00:00:00Z", "to": "2026-10-01T00:00:00Z"}`)
	case parallel < 1:
		return refuse(400, "wrong-type", "the field max_parallel is not a number of at least 1", "")
	}
	s, err := h.schedule(r)
	if err != nil {
		return err
	}
	times, err := h.schedules.Backfill(r.Context(), s.Name, from, to, parallel, preview)
	if err != nil {
		return err
	}
	return writeJSON(w, 202, map[string]any{"name": s.Name, "times": append([]service.BackfillTime{}, times...)})
}

func (h scheduleHandlers) stopBackfill(w http.ResponseWriter, r *http.Request) error {
	s, err := h.schedule(r)
	if err != nil {
		return err
	}
	stopped, err := h.schedules.StopBackfill(r.Context(), s.Name)
	if err != nil {
		return err
	}
	return writeJSON(w, 200, map[string]any{"name": s.Name, "stopped": stopped})
}

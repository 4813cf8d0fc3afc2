package web

import (
	"net/http"
	"time"

	"github.com/flowrun/flowrun/internal/funcschema"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/tool"
)

var toolRoutes = []route{
	{method: "GET", path: "/api/v1/tools", id: "listTools", summary: "List the tools that can be run",
		answers: []answer{{200, "The tools, by name.", "", "tools"}}, handle: (*server).listTools},
	{method: "GET", path: "/api/v1/tools/{name}", id: "getTool", summary: "Show a tool and its parameters",
		answers: []answer{{200, "The tool.", "", "tool"}}, handle: (*server).showTool},
}

var scheduleRoutes = []route{
	{method: "GET", path: "/api/v1/schedules", id: "listSchedules", summary: "List the schedules",
		answers: []answer{{200, "The schedules.", "", "schedules"}}, handle: (*server).listSchedules},
	{method: "POST", path: "/api/v1/schedules/{name}/pause", id: "pauseSchedule", summary: "Pause a schedule",
		body: "nothing", answers: []answer{{200, "The schedule is paused.", "", "paused"}}, handle: func(d *server, w http.ResponseWriter, r *http.Request) error { return d.pause(w, r, true) }},
	{method: "POST", path: "/api/v1/schedules/{name}/resume", id: "resumeSchedule", summary: "Resume a paused schedule",
		body: "nothing", answers: []answer{{200, "The schedule is active again.", "", "paused"}}, handle: func(d *server, w http.ResponseWriter, r *http.Request) error { return d.pause(w, r, false) }},
}

// listedTool is one entry of the list of tools.
type listedTool struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Scope       string   `json:"scope,omitempty"`
	Tags        []string `json:"tags"`
	Broken      bool     `json:"broken,omitempty"`
}

func (d *server) listTools(w http.ResponseWriter, r *http.Request) error {
	found, err := d.Tools(r.Context())
	if err != nil {
		return err
	}
	tools := []listedTool{}
	for _, t := range found {
		if callerFrom(r).mayUse(t.Name) {
			tools = append(tools, listedTool{t.Name, t.Description, t.Scope, nonNil(t.Tags), t.Broken != ""})
		}
	}
	return writeJSON(w, 200, struct {
		Tools []listedTool `json:"tools"`
	}{tools})
}

// nonNil returns a list that is never null in JSON.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (d *server) showTool(w http.ResponseWriter, r *http.Request) error {
	if name := r.PathValue("name"); !callerFrom(r).mayUse(name) {
		return &tool.NotFoundError{Name: name}
	}
	p, err := d.Plan(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	declared, found := funcschema.Of(p.Definition, p.Secret, funcschema.JSONSchema)
	if err := found.Err(); err != nil {
		return err
	}
	return writeJSON(w, 200, struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Tags        []string `json:"tags"`
		Parameters  any      `json:"parameters"`
	}{p.Name(), p.Definition.Description, nonNil(p.Definition.Tags), declared.Parameters})
}

// listedSchedule is one entry of the list of schedules, as in flowrun schedule list -o
// json.
type listedSchedule struct {
	Name     string    `json:"name"`
	Tool     string    `json:"tool"`
	Cron     string    `json:"cron"`
	Timezone string    `json:"timezone,omitempty"`
	Next     time.Time `json:"next,omitzero"`
	Paused   bool      `json:"paused"`
	Source   string    `json:"source"`
}

func (d *server) listSchedules(w http.ResponseWriter, r *http.Request) error {
	found, err := d.Schedules.Schedules(r.Context())
	if err != nil {
		return err
	}
	list := []listedSchedule{}
	for _, s := range found {
		if callerFrom(r).mayUse(s.Tool) {
			list = append(list, listedSchedule(s))
		}
	}
	return writeJSON(w, 200, struct {
		Schedules []listedSchedule `json:"schedules"`
	}{list})
}

func (d *server) pause(w http.ResponseWriter, r *http.Request, paused bool) error {
	if _, err := d.readObject(w, r); err != nil {
		return err
	}
	name := r.PathValue("name")
	if err := d.mayPause(r, name); err != nil {
		return err
	}
	if err := d.Schedules.Pause(r.Context(), name, paused); err != nil {
		return err
	}
	return writeJSON(w, 200, struct {
		Name   string `json:"name"`
		Paused bool   `json:"paused"`
	}{name, paused})
}

// mayPause rejects a caller whose token is not valid for the schedule's tool, with the
// error of an unknown schedule.
func (d *server) mayPause(r *http.Request, name string) error {
	c := callerFrom(r)
	if c.allTools() {
		return nil
	}
	found, err := d.Schedules.Schedules(r.Context())
	if err != nil {
		return err
	}
	for _, s := range found {
		if s.Name == name && c.mayUse(s.Tool) {
			return nil
		}
	}
	return service.ErrNoSchedule
}

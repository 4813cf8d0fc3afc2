package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/funcschema"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/internal/service/catalog"
	"github.com/flowrun/flowrun/internal/service/tooltest"
	"github.com/flowrun/flowrun/library"
)

// toolHandlers answer requests about tools.
type toolHandlers struct {
	tools    Tools
	starter  starter
	history  History
	bodies   *bodyReader
	stateDir string
}

func (h toolHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/tools", id: "listTools", summary: "List the tools that can be run",
			query:   []param{{name: "recent", kind: "integer", doc: "How many of the newest runs to list for each tool, 1 to 100. Default: none."}},
			answers: []answer{{200, "The tools, by name.", "", "tools"}}, handle: h.listTools},
		{method: "GET", path: "/api/v1/tools/{name}", id: "getTool", summary: "Show a tool and its parameters",
			answers: []answer{{200, "The tool.", "", "tool"}}, handle: h.showTool},
		{method: "GET", path: "/api/v1/tools/{name}/function", id: "getFunction", summary: "Show a tool as models see it",
			query:   []param{{name: "format", kind: "string", doc: "The form of the declaration. Default: mcp.", enum: funcschema.Formats()}},
			answers: []answer{{200, "The declaration of the function.", "", "function"}}, handle: h.showFunction},
		{method: "POST", path: "/api/v1/tools/{name}/dry-run", id: "dryRun", summary: "Show what a run would do, without starting anything",
			body: "params", answers: []answer{{200, "The steps with their commands. Secrets are shown as ***.", "", "plan"}}, handle: h.dryRun},
		{method: "GET", path: "/api/v1/tools/{name}/stats", id: "toolStats", summary: "Show success rates, durations and how each step ended",
			doc: "The runs of the tool that have ended, newest first, at most `limit`.",
			query: []param{
				{name: "limit", kind: "integer", doc: "How many runs, 1 to 100. Default: 30."},
				{name: "recent", kind: "integer", doc: "How many of the newest runs are compared with those before, 1 to 100. Default: 10."}},
			answers: []answer{{200, "The statistics.", "", "stats"}}, handle: h.toolStats},
		{method: "GET", path: "/api/v1/tools/{name}/state", id: "toolState", summary: "Show the values that a tool keeps between its runs",
			doc:     "The values that the next run reads: what runs and people have set, else the defaults.",
			answers: []answer{{200, "The values.", "", "state"}}, handle: h.toolState},
	}
}

// listedTool is one entry of the list of tools.
type listedTool struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Scope       string   `json:"scope,omitempty"`
	Kind        string   `json:"kind"`
	Category    string   `json:"category,omitempty"`
	Version     string   `json:"version,omitempty"`
	Tags        []string `json:"tags"`
	Risk        string   `json:"risk"` // what it may do at most: read, write, run or high
	BaseTool    string   `json:"base_tool,omitempty"`
	Deprecated  bool     `json:"deprecated,omitempty"`
	Broken      bool     `json:"broken,omitempty"`

	Recent []recentRun `json:"recent,omitempty"` // newest first, if they were asked for
}

// recentRun is a run of a tool in the list of tools.
type recentRun struct {
	ID      string     `json:"id"`
	Status  dag.Status `json:"status"`
	Started time.Time  `json:"started"`
}

func (h toolHandlers) listTools(w http.ResponseWriter, r *http.Request) error {
	recent, err := statsNumber(r, "recent", 0)
	if err != nil {
		return err
	}
	list := h.listed(r)
	for i := range list {
		if recent == 0 {
			break
		}
		runs, err := h.history.Runs(r.Context(), history.Query{Tool: list[i].Name, Limit: recent})
		if err != nil {
			return err
		}
		for _, run := range runs {
			list[i].Recent = append(list[i].Recent, recentRun{run.ID, run.Status, run.Started})
		}
	}
	return writeJSON(w, 200, map[string][]listedTool{"tools": list})
}

// listed returns the tools that the caller may use.
func (h toolHandlers) listed(r *http.Request) []listedTool {
	found := h.tools.Tools()
	byName := map[string]catalog.Tool{}
	for _, t := range found {
		byName[t.Name] = t
	}
	tools := []listedTool{}
	for _, t := range found {
		if !callerFrom(r).mayUse(t.Name) {
			continue
		}
		risk := policy.Tool{Tags: t.Tags}
		if base, known := byName[t.BaseTool]; known {
			risk.Base = &policy.Tool{Tags: base.Tags}
			if len(t.Tags) == 0 { // an alias without tags has the tags of its base tool
				risk.Tags = base.Tags
			}
		}
		level, _, _ := strings.Cut(risk.Risk(), " ")
		tools = append(tools, listedTool{Name: t.Name, Description: t.Description, Scope: t.Scope, Kind: t.Kind, Category: t.Category, Version: t.Version,
			Tags: nonNil(t.Tags), Risk: level, BaseTool: t.BaseTool, Deprecated: t.Deprecated, Broken: t.Broken != ""})
	}
	return tools
}

// nonNil returns a list that is never null in JSON.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// planFor compiles the tool that a request names, if its caller may use it.
func planFor(tools Tools, r *http.Request) (*engine.Plan, error) {
	name := r.PathValue("name")
	if !callerFrom(r).mayUse(name) {
		return nil, &library.NotFoundError{Name: name}
	}
	return tools.Plan(name)
}

// shownTool is the document of one tool.
type shownTool struct {
	listedTool
	DisplayName       string      `json:"display_name,omitempty"`
	Author            string      `json:"author,omitempty"`
	DeprecatedMessage string      `json:"deprecated_message,omitempty"`
	Platforms         []string    `json:"platforms,omitempty"`
	File              string      `json:"file,omitempty"` // its name, without the folder
	Privilege         string      `json:"execution_privilege,omitempty"`
	Isolation         string      `json:"isolation,omitempty"`
	Permissions       []string    `json:"permissions,omitempty"`
	Justification     string      `json:"justification,omitempty"`
	Timeout           int64       `json:"timeout_ms,omitempty"`
	Uses              []string    `json:"uses,omitempty"` // the tools that it uses
	MCPName           string      `json:"mcp_name"`
	Tests             []shownTest `json:"tests"`
	Fields            []formField `json:"fields"`
	Parameters        any         `json:"parameters"`
}

// shownTest is a test in a definition, with its last result.
type shownTest struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Status      string    `json:"status,omitempty"` // passed or failed; "" if it never ran
	At          time.Time `json:"at,omitzero"`
	Changed     bool      `json:"changed,omitempty"` // the definition has changed since
}

func (h toolHandlers) showTool(w http.ResponseWriter, r *http.Request) error {
	p, err := planFor(h.tools, r)
	if err != nil {
		return err
	}
	declared, found := funcschema.Of(p.Definition, p.Secret, funcschema.JSONSchema)
	if err := found.Err(); err != nil {
		return err
	}
	t := h.describeTool(p)
	t.Parameters = declared.Parameters
	for _, l := range h.listed(r) {
		if l.Name == t.Name {
			t.listedTool = l
		}
	}
	return writeJSON(w, 200, t)
}

// describeTool returns what the definition of a tool says, without paths of the machine.
func (h toolHandlers) describeTool(p *engine.Plan) shownTool {
	def := p.Definition
	t := shownTool{listedTool: listedTool{Name: p.Name(), Description: def.Description, Tags: nonNil(def.Tags)}, DisplayName: def.DisplayName, Author: def.Author, DeprecatedMessage: def.DeprecatedMessage, Platforms: def.Platforms,
		Privilege: def.Security.ExecutionPrivilege, Isolation: def.Security.Isolation, Justification: def.Security.Justification,
		Timeout: def.Timeout.Milliseconds(), MCPName: funcschema.Name(p.Name(), funcschema.MCP), Tests: []shownTest{}, Fields: fieldsOf(p)}
	if def.File != "" {
		t.File = filepath.Base(def.File)
	}
	for _, text := range def.Security.RequiredPermissions {
		t.Permissions = append(t.Permissions, text.S)
	}
	for _, u := range p.Tools()[1:] {
		t.Uses = append(t.Uses, u.Definition.Name)
	}
	if len(def.Tests) > 0 {
		last, digest := tooltest.LastResults(h.stateDir, def.File), tool.DigestOf(def.Source)
		for _, test := range def.Tests {
			l, ran := last[test.Name]
			t.Tests = append(t.Tests, shownTest{test.Name, test.Description, string(l.Status), l.At, ran && l.Digest != digest})
		}
	}
	return t
}

func (h toolHandlers) showFunction(w http.ResponseWriter, r *http.Request) error {
	p, err := planFor(h.tools, r)
	if err != nil {
		return err
	}
	format := funcschema.Format(cmp.Or(r.URL.Query().Get("format"), string(funcschema.MCP)))
	declared, found := funcschema.Of(p.Definition, p.Secret, format)
	if err := found.Err(); err != nil {
		return err
	}
	doc, err := json.Marshal(declared)
	if err != nil {
		return err
	}
	return writeDocument(w, 200, doc)
}

package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/waittest"
)

// unable is a way for a run not to be able to begin.
type unable struct {
	definition string // of the tool; "" for none
	params     string // JSON, the same by every door
	config     string // lines of the user's settings
	reason     string // what the record says
}

// aTool is a definition with more keys.
func aTool(keys string) string { return "name: job\ndescription: x\nbash: touch RAN\n" + keys }

var unables = map[string]unable{
	"a secret's variable":    {definition: aTool("environment: {secrets: [{name: KEY, env: NOT_THERE}]}\n"), reason: "NOT_THERE"},
	"a secret's file":        {definition: aTool("environment: {secrets: [{name: KEY, file: /nowhere/key}]}\n"), reason: "/nowhere/key"},
	"a secret's command":     {definition: aTool("environment: {secrets: [{name: KEY, command: 'false'}]}\n"), reason: "KEY"},
	"an environment file":    {definition: aTool("env-files: [nowhere.env]\n"), reason: "nowhere.env"},
	"a type":                 {definition: aTool("parameters: {N: {type: number}}\n"), params: `{"N": "canary"}`, reason: "parameter N"},
	"a parameter that lacks": {definition: aTool("parameters: {N: {type: number, required: true}}\n"), reason: "parameter N"},
	"a parameter too many":   {definition: aTool(""), params: `{"M": 1}`, reason: "parameter M"},
	"a rule of a parameter":  {definition: aTool("parameters: {N: {type: number, validation: {maximum: 3}}}\n"), params: `{"N": 4}`, reason: "parameter N"},
	"an option for a value":  {definition: "name: job\ndescription: x\nbash: touch RAN {N}\nparameters: {N: {type: string}}\n", params: `{"N": "-rf"}`, reason: "parameter N"},
	"a text for an object":   {definition: aTool("parameters: {N: {type: object}}\n"), params: `{"N": "x"}`, reason: "parameter N"},
	"a broken definition":    {definition: aTool("steps: 7\n"), reason: "job.yaml"},
	"no YAML":                {definition: "name: job\nbash: [\n", reason: "job.yaml"},
	"a tool that it uses":    {definition: "name: job\ndescription: x\nsteps: [{name: a, use-tool: nowhere}]\n", reason: "nowhere"},
	"no definition":          {reason: "cannot find the tool"},
	"elevated rights":        {definition: aTool("security: {execution-privilege: elevated}\n"), reason: "elevated"},
	"a denial":               {definition: aTool(""), config: "approvals: {deny: ['tool:job']}\n", reason: "denied"},
	"another platform":       {definition: aTool("platforms: [windows]\n"), reason: "windows"},
	"a stream to a function": {definition: "name: job\ndescription: x\nbash: touch RAN\noutput: {mode: stream, stream-callback: function}\n", reason: "function"},
}

// TestUnable: a schedule, a webhook and a caller of the API whose run cannot begin leave a
// failed run with the reason, a notice and a count, but for a mistake in a request to the API.
func TestUnable(t *testing.T) {
	for name, c := range unables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.scheduled(c.params)
			doors := []string{"webhook:hook", "schedule:soon"}
			if c.definition != "" {
				s.write(".flowrun/tools/job.yaml", c.definition)
			}
			s.write("~.config/flowrun/config.yaml", c.config+
				"notifications: {all: {on: [failure], command: 'sh -c \"cat >>$HOME/TOLD\"'}}\n"+
				"webhooks: {hook: {tool: job, secret-env: HOOK, params: {N: /N, M: /M}}}\n")
			s.env = append(s.env, "HOOK=another secret word")
			v := s.serve(0)
			body := c.params
			if body == "" {
				body = "{}"
			}
			if status, answer, err := v.ask("POST", "/hooks/hook", body, "X-Flowrun-Token", "another secret word"); err != nil || status < 400 {
				t.Errorf("the webhook: %d %s %v", status, answer, err)
			}
			status, answer := v.holder("POST", "/api/v1/runs", fmt.Sprintf(`{"tool": "job", "params": %s}`, body))
			if status < 400 {
				t.Errorf("the API: %d %s", status, answer)
			}
			// Who asks for a tool that is not there, or with parameters that it does not take, has only mistyped it.
			if c.definition != "" && status != http.StatusUnprocessableEntity {
				doors = append(doors, "api")
			}
			for _, door := range doors {
				v.failedRun(door, c.reason)
			}
			waittest.Within(s, 15*time.Second, "notices of all", func() bool { return strings.Count(s.read("~TOLD"), `"status":"failed"`) >= len(doors) })
			_, metrics := v.holder("GET", "/metrics", "")
			count := regexp.MustCompile(`flowrun_runs_total{status="failed",tool="job"} (\d+)`).FindStringSubmatch(metrics)
			if count == nil {
				t.Fatalf("nothing is counted: %s", metrics)
			}
			if n, _ := strconv.Atoi(count[1]); n < len(doors) {
				t.Errorf("%d are counted, of %d", n, len(doors))
			}
			if strings.Contains(v.logged(), "canary") {
				t.Error("the log names the caller's value")
			}
			if s.exists("RAN") || s.exists("~RAN") {
				t.Error("it ran")
			}
		})
	}
}

// scheduled adds a schedule of the tool that is soon due. The command refuses what it can
// see beforehand, so the tool is another one while it looks.
func (s *site) scheduled(params string) {
	s.Helper()
	file := s.write(".flowrun/tools/job.yaml", aTool("parameters: {N: {type: string}, M: {type: string}}\n"))
	args := []string{"schedule", "add", "job", "--name", "soon", "--every", "1s"}
	var values map[string]any
	json.Unmarshal([]byte(params), &values)
	for name, v := range values {
		args = append(args, "-p", fmt.Sprintf("%s=%v", name, v))
	}
	if out := s.run(args...); out.code != 0 {
		s.Fatal(out)
	}
	if err := os.Remove(file); err != nil {
		s.Fatal(err)
	}
}

// failedRun waits for a run by a door that has failed for a reason, and looks at what is
// said of it.
func (v *served) failedRun(door, reason string) {
	v.Helper()
	type row struct{ ID, Tool, Origin, Status, Reason, Message string }
	var found row
	waittest.Within(v, 15*time.Second, "a failed run of "+door, func() bool {
		var doc struct{ Runs []row }
		out := v.run("runs", "-o", "json", "--limit", "0")
		if err := json.Unmarshal([]byte(out.stdout), &doc); err != nil {
			v.Fatal(out)
		}
		for _, r := range doc.Runs {
			if strings.HasPrefix(r.Origin, door) && r.Status == "failed" {
				found = r
				return true
			}
		}
		return false
	})
	if found.Tool != "job" || found.Reason != "not-started" || !strings.Contains(found.Message, reason) {
		v.Errorf("%s: %+v", door, found)
	}
	if out := v.run("show", found.ID); out.code != 0 || !strings.Contains(out.stdout, "failed") || !strings.Contains(out.stdout, "message") {
		v.Errorf("show: %s", out)
	}
	if out := v.run("resume", found.ID); out.code == 0 || !strings.Contains(out.stderr, "could not start") {
		v.Errorf("resume: %s", out)
	}
}

package attack

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// unable is a way for a run not to be able to begin.
type unable struct {
	definition string // of the tool; "" for none
	params     string // JSON, the same by every door
	config     string // lines of the user's settings
	reason     string // what the record says
}

// aTool is a definition with more keys. JOB is its name.
func aTool(keys string) string { return "name: JOB\ndescription: x\nbash: touch RAN\n" + keys }

var unables = map[string]unable{
	"a secret's variable":    {definition: aTool("environment: {secrets: [{name: KEY, env: NOT_THERE}]}\n"), reason: "NOT_THERE"},
	"a secret's file":        {definition: aTool("environment: {secrets: [{name: KEY, file: /nowhere/key}]}\n"), reason: "/nowhere/key"},
	"a secret's command":     {definition: aTool("environment: {secrets: [{name: KEY, command: 'false'}]}\n"), reason: "KEY"},
	"an environment file":    {definition: aTool("env-files: [nowhere.env]\n"), reason: "nowhere.env"},
	"a type":                 {definition: aTool("parameters: {N: {type: number}}\n"), params: `{"N": "canary"}`, reason: "parameter N"},
	"a parameter that lacks": {definition: aTool("parameters: {N: {type: number, required: true}}\n"), reason: "parameter N"},
	"a parameter too many":   {definition: aTool(""), params: `{"M": 1}`, reason: "parameter M"},
	"a rule of a parameter":  {definition: aTool("parameters: {N: {type: number, validation: {maximum: 3}}}\n"), params: `{"N": 4}`, reason: "parameter N"},
	"an option for a value":  {definition: "name: JOB\ndescription: x\nbash: touch RAN {N}\nparameters: {N: {type: string}}\n", params: `{"N": "-rf"}`, reason: "parameter N"},
	"a text for an object":   {definition: aTool("parameters: {N: {type: object}}\n"), params: `{"N": "x"}`, reason: "parameter N"},
	"a broken definition":    {definition: aTool("steps: 7\n"), reason: "JOB.yaml"},
	"no YAML":                {definition: "name: JOB\nbash: [\n", reason: "JOB.yaml"},
	"a tool that it uses":    {definition: "name: JOB\ndescription: x\nsteps: [{name: a, use-tool: nowhere}]\n", reason: "nowhere"},
	"no definition":          {reason: "cannot find the tool"},
	"elevated rights":        {definition: aTool("security: {execution-privilege: elevated}\n"), reason: "elevated"},
	"a denial":               {definition: aTool(""), config: "approvals: {deny: ['tool:JOB']}\n", reason: "denied"},
	"another platform":       {definition: aTool("platforms: [windows]\n"), reason: "windows"},
	"a stream to a function": {definition: "name: JOB\ndescription: x\nsteps: [{name: s, bash: touch RAN, output: {mode: stream, stream-callback: function}}]\n", reason: "function"},
}

// TestUnable: a schedule, a webhook and a caller of the API whose run cannot begin leave a
// failed run with the reason, a notice and a count, but for a mistake in a request to the API. One service has all the tools.
func TestUnable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	jobs := map[string]string{} // name of the case -> of its tool
	for i, name := range slices.Sorted(maps.Keys(unables)) {
		jobs[name] = fmt.Sprintf("job%d", i)
	}
	config := "notifications: {all: {on: [failure], command: 'sh -c \"cat >>$HOME/TOLD\"'}}\n"
	hooks := "webhooks:\n"
	for name, job := range jobs {
		s.scheduled(job, unables[name].params)
		config += strings.ReplaceAll(unables[name].config, "JOB", job)
		hooks += fmt.Sprintf("  %s: {tool: %[1]s, secret-env: HOOK, params: {N: /N, M: /M}}\n", job)
	}
	for name, job := range jobs { // the command that adds a schedule loads all of them
		if text := unables[name].definition; text != "" {
			s.write(".flowrun/tools/"+job+".yaml", strings.ReplaceAll(text, "JOB", job))
		} else if err := os.Remove(s.path(".flowrun/tools/" + job + ".yaml")); err != nil {
			t.Fatal(err)
		}
	}
	s.write("~.config/flowrun/config.yaml", config+hooks)
	s.env = append(s.env, "HOOK=another secret word")
	v := s.serve(0)
	doors := map[string][]string{}
	for name, job := range jobs {
		c := unables[name]
		doors[name] = []string{"webhook:" + job, "schedule:" + job}
		body := c.params
		if body == "" {
			body = "{}"
		}
		if status, answer, err := v.ask("POST", "/hooks/"+job, body, "X-Flowrun-Token", "another secret word"); err != nil || status < 400 {
			t.Errorf("%s: the webhook: %d %s %v", name, status, answer, err)
		}
		status, answer := v.holder("POST", "/api/v1/runs", fmt.Sprintf(`{"tool": %q, "params": %s}`, job, body))
		if status < 400 {
			t.Errorf("%s: the API: %d %s", name, status, answer)
		}
		// Who asks for a tool that is not there, or with parameters that it does not take, has only mistyped it.
		if c.definition != "" && status != http.StatusUnprocessableEntity {
			doors[name] = append(doors[name], "api")
		}
	}
	told := func(job string) (n int) {
		for line := range strings.Lines(s.read("~TOLD")) {
			if strings.Contains(line, fmt.Sprintf(`"tool":%q`, job)) && strings.Contains(line, `"status":"failed"`) {
				n++
			}
		}
		return n
	}
	for name, job := range jobs {
		waittest.Until(t, "the notices of: "+name, func() bool { return told(job) >= len(doors[name]) }, func() any { return told(job) })
	}
	_, metrics := v.holder("GET", "/metrics", "")
	v.stop()
	var list struct{ Runs []unbegun }
	if out := s.run("runs", "-o", "json", "--limit", "0"); json.Unmarshal([]byte(out.stdout), &list) != nil {
		t.Fatal(out)
	}
	looked := 0
	for name, job := range jobs {
		for _, door := range doors[name] {
			i := slices.IndexFunc(list.Runs, func(r unbegun) bool { return r.Tool == job && strings.HasPrefix(r.Origin, door) })
			if i < 0 {
				t.Errorf("%s: there is no run of %s", name, door)
				continue
			}
			r := list.Runs[i]
			if r.Status != "failed" || r.Reason != "not-started" || !strings.Contains(r.Message, strings.ReplaceAll(unables[name].reason, "JOB", job)) {
				t.Errorf("%s, by %s: %+v", name, door, r)
			}
			if looked++; looked > sizetest.Of(3, 100, 100) {
				continue
			}
			if out := s.run("show", r.ID); out.code != 0 || !strings.Contains(out.stdout, "failed") || !strings.Contains(out.stdout, "message") {
				t.Errorf("show: %s", out)
			}
			if out := s.run("resume", r.ID); out.code == 0 || !strings.Contains(out.stderr, "could not start") {
				t.Errorf("resume: %s", out)
			}
		}
		count := regexp.MustCompile(`flowrun_runs_total{status="failed",tool="` + job + `"} (\d+)`).FindStringSubmatch(metrics)
		if count == nil {
			t.Fatalf("%s is not counted: %s", name, metrics)
		}
		if n, _ := strconv.Atoi(count[1]); n < len(doors[name]) {
			t.Errorf("%s: %d are counted, of %d", name, n, len(doors[name]))
		}
	}
	if strings.Contains(v.logged(), "canary") {
		t.Error("the log names the caller's value")
	}
	if s.exists("RAN") || s.exists("~RAN") {
		t.Error("one ran")
	}
}

// unbegun is a run in the list of runs.
type unbegun struct{ ID, Tool, Origin, Status, Reason, Message string }

// scheduled adds a schedule of a tool that is soon due. The command refuses what it can
// see beforehand, so the tool is another one while it looks.
func (s *site) scheduled(job, params string) {
	s.Helper()
	s.write(".flowrun/tools/"+job+".yaml", strings.ReplaceAll(aTool("parameters: {N: {type: string}, M: {type: string}}\n"), "JOB", job))
	args := []string{"schedule", "add", job, "--name", job, "--every", "1s"}
	var values map[string]any
	json.Unmarshal([]byte(params), &values)
	for name, v := range values {
		args = append(args, "-p", fmt.Sprintf("%s=%v", name, v))
	}
	if out := s.run(args...); out.code != 0 {
		s.Fatal(out)
	}
}

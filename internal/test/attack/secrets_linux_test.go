package attack

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// theSecret is the value that no file, stream or database may hold. It contains signs that every
// form escapes; secretLines is a secret with several lines.
const (
	theSecret   = `Zq7Kw<&">'\/ =+%ü$(x)9mXp`
	secretLines = "Zq7Kw-the first line\n  and <the> second 9mXp\nZq7Kw \"the last\" line"
)

// traces are parts of the secrets in all their forms: one of them is in everything that shows a
// secret.
var traces = []string{"Zq7Kw", "9mXp", encode(theSecret)[:8], encode("xx" + theSecret)[4:12], encode("x" + theSecret)[4:12], encode(secretLines)[9:17]}

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// said is one way in which a step prints a secret.
type said struct {
	secret string
	text   string
	halves bool // in two writes
}

// waysToSay are the forms that the masking promises to find. The way together has all that are short.
func waysToSay() map[string]said {
	asJSON, _ := json.Marshal(theSecret)
	twice, _ := json.Marshal(string(asJSON))
	var asXML strings.Builder
	xml.EscapeText(&asXML, []byte(theSecret))
	long := encode(strings.Repeat("some text before it; ", 9) + theSecret + strings.Repeat(" and some after it", 9))
	ways := map[string]said{
		"plain":       {secret: theSecret, text: theSecret},
		"in a line":   {secret: theSecret, text: "the value '" + theSecret + "', printed " + theSecret + "!"},
		"base64":      {secret: theSecret, text: encode(theSecret)},
		"base64 wrap": {secret: theSecret, text: wrap(long, 76)},
		"url":         {secret: theSecret, text: "https://u:" + url.QueryEscape(theSecret) + "@127.0.0.1:1/x?y=" + url.PathEscape(theSecret)},
		"json":        {secret: theSecret, text: `{"a": ` + string(asJSON) + `}`},
		"json twice":  {secret: theSecret, text: `{"a": ` + string(twice) + `}`},
		"html":        {secret: theSecret, text: "<p>" + html.EscapeString(theSecret) + "</p>"},
		"xml":         {secret: theSecret, text: asXML.String()},
		"two writes":  {secret: theSecret, text: "a " + theSecret + " b", halves: true},
		"long line":   {secret: theSecret, text: strings.Repeat("x", 4090) + theSecret + strings.Repeat("y", 70_000) + theSecret},
		"lines":       {secret: secretLines, text: secretLines},
		"a line":      {secret: secretLines, text: "read: Zq7Kw-the first line"},
	}
	together := said{secret: theSecret, halves: true}
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		if w := ways[name]; w.secret == theSecret && name != "long line" {
			together.text += w.text + "\n"
		}
	}
	ways["together"] = together
	return ways
}

// wrap puts a line end after so many characters.
func wrap(text string, width int) string {
	var b strings.Builder
	for ; len(text) > width; text = text[width:] {
		b.WriteString(text[:width] + "\n")
	}
	return b.String() + text
}

// keeper is a site with a secret, and all that was seen of it from outside.
type keeper struct {
	*site
	given string // a folder that holds the secret; what it holds counts as the user's
	say   string // a command that prints the secret
	mu    sync.Mutex
	seen  []string
}

func newKeeper(t *testing.T, w said) *keeper {
	s := newSite(t)
	k := &keeper{site: s, given: filepath.Join(s.dir, "given")}
	s.write(filepath.Join(k.given, "said"), w.text)
	params, _ := json.Marshal(map[string]string{"P": w.secret})
	s.write(filepath.Join(k.given, "params"), string(params))
	s.env = append(s.env, "TOKEN="+w.secret, "GIVEN="+k.given)
	k.say = `cat "$GIVEN/said"`
	if w.halves {
		k.say = `{ head -c 9 "$GIVEN/said"; sleep 0.02; tail -c +10 "$GIVEN/said"; }`
	}
	return k
}

// tool writes the tool t, whose secrets are the parameter P and the variable TOKEN. @SAY in its text
// is the command that prints the secret.
func (k *keeper) tool(text string) {
	k.write(".flowrun/tools/t.yaml", "name: t\ndescription: x\ntags: [read]\nparameters: {P: {type: string, description: x, required: true}}\n"+
		"environment: {secrets: [P, TOKEN]}\n"+strings.ReplaceAll(text, "@SAY", k.say))
}

// look remembers what a command printed.
func (k *keeper) look(args ...string) outcome {
	k.Helper()
	out := k.run(args...)
	k.saw(args[0], out.String())
	return out
}

// runIt runs the tool t.
func (k *keeper) runIt(args ...string) outcome {
	k.Helper()
	return k.look(append([]string{"run", "t", "--params", filepath.Join(k.given, "params"), "--trust-project"}, args...)...)
}

func (k *keeper) saw(where, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen = append(k.seen, where+": "+text)
}

// lookBack reads all that was recorded of the last run.
func (k *keeper) lookBack() {
	for _, args := range [][]string{{"show", "latest"}, {"show", "latest", "-o", "json"}, {"logs", "latest"}, {"events", "latest"}} {
		k.look(args...)
	}
}

// search fails the test for each place that shows a part of the secret.
func (k *keeper) search() {
	k.Helper()
	for _, text := range k.seen {
		k.inspect("shown by "+text[:min(len(text), 60)], text)
	}
	for _, dir := range []string{"home", "state", "project", "tmp"} {
		filepath.WalkDir(filepath.Join(k.dir, dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil {
				k.inspect("the name of a file", d.Name())
			}
			if err == nil && d.Type().IsRegular() {
				text, err := os.ReadFile(path)
				if err != nil {
					k.Error(err)
				}
				k.inspect(strings.TrimPrefix(path, k.dir), string(text))
			}
			return nil
		})
	}
}

func (k *keeper) inspect(where, text string) {
	k.Helper()
	flat := strings.NewReplacer("\n", "", "\r", "").Replace(text)
	for _, trace := range traces {
		if at := strings.Index(flat, trace); at >= 0 {
			k.Errorf("%s: a part of the secret: %q", where, flat[max(0, at-60):min(len(flat), at+90)])
			return
		}
	}
}

// placesOfSecrets are the places to which the text of a step or a value can go.
func placesOfSecrets() map[string]func(*keeper) {
	return map[string]func(*keeper){
		"output": func(k *keeper) {
			k.tool("bash: '@SAY'\n")
			k.runIt()
			k.lookBack()
			k.look("runs", "-o", "json")
			k.look("history", "audit", "-o", "json")
			k.look("timeline", "latest")
		},
		"errors and handlers": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY >&2; exit 3'}\non-failure:\n  - {name: h, bash: 'echo {s.stderr}; echo \"$V\"', environment: {variables: {V: '{P}'}}}\nfinally:\n  - {name: f, bash: '@SAY'}\nresources: {cleanup: [{final-command: 'bash -c ''cat $GIVEN/said; exit 1'''}]}\n")
			k.runIt()
			k.lookBack()
			k.look("retry", "latest", "--params", filepath.Join(k.given, "params"))
			k.look("resume", "latest", "--params", filepath.Join(k.given, "params"))
			k.lookBack()
		},
		"forms of progress": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY; echo; @SAY >&2', output: {mode: stream}}\n  - {name: u, continue-on-error: true, bash: '@SAY >&2; exit 2'}\n")
			for _, how := range []string{"plain", "json", "github"} {
				k.runIt("--progress", how, "-o", "combined")
			}
			screen, _ := k.terminal(k.command("run", "t", "--params", filepath.Join(k.given, "params"), "--progress", "tty"))
			k.saw("the live view", screen)
			k.runIt("-o", "json", "--summary", "--verbose")
		},
		"cut output": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY; @SAY >&2', output: {buffer-limit: 12}}\n  - {name: u, bash: 'echo {s.output}; echo {s.stderr} >&2; exit 1'}\n")
			k.runIt("-o", "json")
			k.lookBack()
		},
		"values of later steps": func(k *keeper) {
			k.tool("output: 'all: {v.output}'\nsteps:\n  - {name: s, bash: '@SAY'}\n  - {name: v, run: 'echo {s.output}', environment: {variables: {V: '{s.output}'}}, input: '{P}'}\n" +
				"  - {name: w, sh: 'set -x; : \"$V\"; echo {P}; cat', environment: {variables: {V: '{P}'}}, input: '{s.output}'}\n")
			k.runIt("--verbose")
			k.lookBack()
		},
		"items of a loop": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY'}\n  - {name: l, for-each: {items: ['{s.output}', '{P}']}, run: 'echo {item}', continue-on-error: true}\n  - {name: k, for-each: {items: ['{s.output}', '{P}'], key: '{item}'}, run: 'echo {item}', continue-on-error: true}\n")
			k.runIt("-o", "json")
			k.lookBack()
		},
		"conditions": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY'}\n  - {name: c, run-condition: '{s.output} > 3', run: 'true', continue-on-error: true}\n  - {name: d, run-condition: '{s.json.a.b} == 1', run: 'true', continue-on-error: true}\n" +
				"  - {name: e, wait: {until: '{s.output}'}, continue-on-error: true}\n  - {name: f, wait: {port: '{P}'}, continue-on-error: true}\n  - {name: g, working-directory: '/none/{P}', run: pwd, continue-on-error: true}\n  - {name: h, run: './{P}', continue-on-error: true}\n")
			k.runIt("--verbose")
			k.lookBack()
		},
		"scripts": func(k *keeper) {
			k.write(".flowrun/tools/j.tool.js", "module.exports = { getMetadata: () => ({ id: 'j', description: 'x', tags: ['read'] }), getSchema: () => ({ type: 'object', properties: { X: { type: 'string', description: 'x' } } }),\n"+
				"async execute({ X }) { this.api.logger.info(X, { X }); console.error(X); this.api.storage && await this.api.storage.set; if (X.length % 2) throw new Error('bad: ' + X); return { X } } }\n")
			k.tool("steps:\n  - {name: s, bash: '@SAY'}\n  - {name: a, use-tool: j, with: {X: '{s.output}'}, continue-on-error: true}\n  - {name: b, use-tool: j, with: {X: 'x{s.output}'}, continue-on-error: true}\n" +
				"  - {name: c, js: 'throw new Error(steps.s.output + params.P)', continue-on-error: true}\n  - {name: d, js: 'console.log(params.P); return {a: steps.s.output, b: params.P}', continue-on-error: true}\n")
			k.runIt("-o", "json")
			k.lookBack()
		},
		"nested tools": func(k *keeper) {
			k.write(".flowrun/tools/n.yaml", "name: n\ndescription: x\nparameters: {X: {type: string, description: x, validation: {pattern: '^never$'}}, Y: {type: string, description: x}}\nbash: 'echo {Y}; exit 4'\n")
			k.tool("steps:\n  - {name: s, bash: '@SAY'}\n  - {name: a, use-tool: n, with: {X: '{s.output}'}, continue-on-error: true}\n  - {name: b, use-tool: n, with: {Y: '{P}'}, continue-on-error: true}\n  - {name: c, use-tool: n, with: {Y: '{s.output}'}}\n")
			k.runIt()
			k.lookBack()
		},
		"the cache": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY', cache: {key: '{P}', env: [TOKEN]}}\n  - {name: v, bash: 'echo {s.output}', cache: {}}\n")
			for range 2 {
				k.runIt()
			}
			k.lookBack()
			k.look("explain-cache", "t", "--params", filepath.Join(k.given, "params"))
		},
		"questions": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY'}\n  - {name: a, approve: 'May {s.output} with {P}?'}\n")
			k.runIt()
			k.look("ps")
			k.look("show", "latest")
			k.look("approve", "latest", "--params", filepath.Join(k.given, "params"))
			k.lookBack()
		},
		"notifications": func(k *keeper) {
			hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				k.saw("a webhook got", fmt.Sprint(r.URL, r.Header)+string(body))
			}))
			defer hook.Close()
			k.tool("bash: '@SAY; @SAY >&2; exit 1'\nnotify:\n  - {webhook: '" + hook.URL + "/x', on: [always]}\n  - {webhook: 'http://127.0.0.1:1/${TOKEN}', on: [always]}\n  - {command: 'sh -c \"cat >notified; env | grep ^FLOWRUN >>notified\"', on: [always]}\n")
			k.runIt()
			k.look("history", "audit", "-o", "json")
			if !k.exists("notified") || len(k.seen) < 3 {
				k.Errorf("nobody was notified: %q", k.seen)
			}
		},
		"reports of tests": func(k *keeper) {
			k.tool("bash: '@SAY; @SAY >&2; exit 1'\ntests:\n  - {name: x, parameters: {P: \"{env.TOKEN}\"}, expected: {output-equals: never, stderr-contains: never}}\n")
			k.look("tool", "test", "t", "--report", "junit=report.xml", "--report", "json=report.json", "--verbose")
			if !k.exists("report.xml") {
				k.Errorf("no report: %q", k.seen)
			}
		},
		"traces and metrics": func(k *keeper) {
			collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				k.saw("the collector got", string(body))
			}))
			defer collector.Close()
			k.env = append(k.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
			k.tool("steps:\n  - {name: s, bash: '@SAY'}\n  - {name: v, run: 'echo {P}', working-directory: '/none/{P}', continue-on-error: true}\n  - {name: u, bash: '@SAY >&2; echo {s.output}; exit 1'}\n")
			k.runIt("--metrics-file", "metrics")
			if !k.exists("metrics") || len(k.seen) < 2 {
				k.Errorf("no trace, or no metrics: %q", k.seen)
			}
		},
		"calls of models": func(k *keeper) {
			k.write(".flowrun/tools/v.yaml", "name: v\ndescription: x\ntags: [read]\nparameters: {P: {type: string, description: x, validation: {pattern: '^never$'}}, N: {type: integer, description: x, transform: '(() => { throw new Error(value) })()'}}\nenvironment: {secrets: [P, TOKEN]}\nbash: echo x\n")
			k.tool("bash: '@SAY; @SAY >&2; exit 1'\n")
			args := k.read(filepath.Join(k.given, "params"))
			k.look("call", "t", args, "--auto-approve", "*", "--trust-project")
			k.look("call", "v", args, "--auto-approve", "*", "--trust-project")
			k.look("call", "t", args, "--auto-approve", "*", "--trust-project", "-o", "json")
			screen, _ := k.terminal(k.command("call", "t", args, "--trust-project"), exchange{"Allow this?", "y\r"})
			k.saw("the question", screen)
			k.lookBack()
		},
		"dry runs and plans": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY; echo {P}', environment: {variables: {V: 'x {P}'}}, input: '{P}', cache: {key: '{P}'}}\n  - {name: v, run: 'echo {P} {env.TOKEN}', working-directory: '/x/{P}', run-condition: '{P} == \"x\"'}\n")
			k.runIt("--dry-run")
			k.runIt("--dry-run", "-o", "json")
			k.runIt("--dry-run", "--verbose")
		},
		"processes": func(k *keeper) {
			if os.Getuid() == 0 { // root may read every environment
				k.by(65534)
			}
			k.tool("steps:\n  - name: s\n    bash: '@SAY'\n  - name: v\n    bash: 'echo {s.output} {P}; for p in $PPID $$; do tr \"\\0\" \"\\n\" </proc/$p/cmdline; cat /proc/$p/comm; done >cmdlines; cat /proc/$PPID/environ >environ 2>/dev/null; ls -R \"$TMPDIR\" >temporary'\n    environment: {variables: {V: '{P}'}}\n")
			k.runIt()
			k.lookBack()
			if k.read("cmdlines") == "" {
				k.Errorf("no command lines: %q", k.seen)
			}
		},
		"the service": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY; @SAY >&2', output: {mode: stream}}\n  - {name: u, bash: 'echo {s.output}; exit 1'}\n")
			v := k.serve(0, "--trust-project")
			body := `{"tool":"t","params":` + k.read(filepath.Join(k.given, "params")) + `}`
			status, answer := v.holder("POST", "/api/v1/tools/t/dry-run", body)
			k.saw(fmt.Sprint("a dry run ", status), answer)
			id := v.begin(body)
			for _, path := range []string{"/events", "", "/events", "/logs", "/lines?step=s&stream=stdout", "/graph", "/definition", "/search?step=s&stream=stdout&text=a"} {
				status, answer := v.holder("GET", "/api/v1/runs/"+id+path, "") // the events end with the run
				k.saw(fmt.Sprint("the run ", path, " ", status), answer)
			}
			_, answer = v.holder("GET", "/api/v1/runs?params=1", "")
			k.saw("runs", answer)
			_, answer = v.holder("GET", "/metrics", "")
			k.saw("metrics", answer)
			v.cmd.Process.Signal(os.Interrupt)
			k.saw("the log of the service", v.logged())
			k.lookBack()
		},
		"pages": func(k *keeper) { // they show what the API answers
			k.tool("steps:\n  - {name: s, bash: '@SAY; @SAY >&2'}\n  - {name: a, approve: 'May {s.output} with {P}?'}\n")
			v := k.serve(0, "--trust-project")
			id := v.begin(`{"tool":"t","params":` + k.read(filepath.Join(k.given, "params")) + `}`)
			waittest.Until(k, "the question", func() bool { return v.status(id) == "waiting" })
			_, answer := v.holder("GET", "/api/v1/openapi.json", "")
			var api struct {
				Paths map[string]map[string]json.RawMessage
			}
			if err := json.Unmarshal([]byte(answer), &api); err != nil {
				k.Fatal(err)
			}
			fields, read := regexp.MustCompile(`\{[a-z_]+\}`), 0
			for path, methods := range api.Paths {
				if methods["get"] == nil || strings.HasSuffix(path, "/events") { // these do not end
					continue
				}
				for _, value := range []string{id, "t"} {
					status, answer := v.holder("GET", fields.ReplaceAllString(path, value), "")
					k.saw(fmt.Sprint(path, " ", status), answer)
					if status == 200 {
						read++
					}
				}
			}
			if read < 20 {
				k.Errorf("only %d answers", read)
			}
			for _, path := range []string{"/", "/runs/" + id} {
				_, page := v.holder("GET", path, "")
				k.saw(path, page)
			}
		},
		"reports of problems": func(k *keeper) {
			k.tool("security: {required-permissions: ['filesystem:read:{P}', 'environment:TOKEN']}\nsteps:\n  - {name: s, bash: '@SAY; cat \"$V\"', environment: {variables: {V: '{P}'}}, continue-on-error: true}\n  - {name: u, bash: 'echo $TOKEN | grep x'}\n")
			k.runIt("--trace-permissions")
			k.runIt("--trace-permissions", "-o", "json")
			for _, form := range []string{"text", "json", "github", "sarif"} {
				k.look("validate", "t", "--detailed", "-o", form)
			}
		},
		"notifications of the settings": func(k *keeper) {
			hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				k.saw("a webhook got", fmt.Sprint(r.URL, r.Header)+string(body))
			}))
			defer hook.Close()
			k.tool("bash: '@SAY; @SAY >&2; exit 1'\n")
			k.write("~/.config/flowrun/config.yaml", "notifications:\n  a: {on: [always], webhook: '"+hook.URL+"/x'}\n  b: {on: [failure], command: 'sh -c \"cat >notified; env | grep ^FLOWRUN >>notified\"'}\n  c: {on: [failure], command: 'sh -c \"cat $GIVEN/said; exit 3\"'}\n")
			k.runIt()
			k.look("history", "audit", "-o", "json")
			if !k.exists("notified") || len(k.seen) < 3 {
				k.Errorf("nobody was notified: %q", k.seen)
			}
		},
		"schedules": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY; @SAY >&2'}\n  - {name: u, bash: 'echo {s.output} {P}; touch fired; exit 1'}\n")
			text := k.read(".flowrun/tools/t.yaml")
			k.look("schedule", "add", "t", "--name", "given", "--every", "1s", "-p", "P=@"+filepath.Join(k.given, "params")) // is refused, or withheld
			k.write(".flowrun/tools/t.yaml", strings.Replace(text, "required: true", "default: none", 1))
			k.look("schedule", "add", "t", "--name", "soon", "--every", "1s")
			v := k.serve(0, "--trust-project")
			waittest.Until(k, "the schedule has fired", func() bool { return k.exists("fired") })
			for _, path := range []string{"schedules", "runs?params=1"} {
				_, answer := v.holder("GET", "/api/v1/"+path, "")
				k.saw(path, answer)
			}
			v.cmd.Process.Signal(os.Interrupt)
			k.saw("the log of the service", v.logged())
			k.look("schedule", "list", "-o", "json")
			k.look("schedule", "history", "soon")
			k.lookBack()
		},
		"kill -9": func(k *keeper) {
			k.tool("steps:\n  - {name: s, bash: '@SAY; @SAY >&2'}\n  - {name: v, bash: 'echo {s.output} {P} >/dev/null; @SAY; @SAY >&2; touch ready; sleep 60', environment: {variables: {V: '{P}'}}, input: '{s.output}'}\n")
			params := filepath.Join(k.given, "params")
			k.killDuring(k.command("run", "t", "--params", params, "--trust-project"), func() bool { return k.exists("ready") })
			k.lookBack()
			k.search() // before anything has cleaned up
			k.look("ps")
			k.write(".flowrun/tools/t.yaml", strings.Replace(k.read(".flowrun/tools/t.yaml"), "sleep 60", "true", 1))
			k.look("resume", "latest", "--params", params, "--latest")
			k.runIt()
			k.lookBack()
			if left, _ := filepath.Glob(filepath.Join(k.dir, "tmp", "*")); len(left) > 0 {
				k.Errorf("left in the temporary folder: %q", left)
			}
		},
		"Model Context Protocol": func(k *keeper) {
			k.tool("bash: '@SAY; @SAY >&2; exit 1'\n")
			c := k.command("mcp", "--auto-approve", "*", "--trust-project")
			call := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":%s,"_meta":{"progressToken":1}}}`, k.read(filepath.Join(k.given, "params")))
			in, _ := c.StdinPipe()
			var out bytes.Buffer
			reader, writer := io.Pipe()
			c.Stdout, c.Stderr = writer, &out
			if err := c.Start(); err != nil {
				k.Fatal(err)
			}
			io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n"+
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+call+"\n")
			answers := json.NewDecoder(reader)
			for {
				var answer json.RawMessage
				if err := answers.Decode(&answer); err != nil {
					k.Fatal(err)
				}
				k.saw("MCP", string(answer))
				if bytes.Contains(answer, []byte(`"id":2`)) {
					break
				}
			}
			in.Close()
			go io.Copy(io.Discard, reader)
			c.Wait()
			k.saw("MCP stderr", out.String())
			k.lookBack()
		},
	}
}

// TestSecrets: whatever way a step prints a secret, no place that its text or a value can go to shows
// a part of it.
func TestSecrets(t *testing.T) {
	tried := sizetest.Of([]string{"together"}, []string{"together", "plain", "two writes", "json twice", "html", "lines"}, nil)
	for place, visit := range placesOfSecrets() {
		for way, w := range waysToSay() {
			if sizetest.Chosen() < sizetest.Long && !slices.Contains(tried, way) && (place != "output" || way != "lines") {
				continue
			}
			t.Run(place+"/"+way, func(t *testing.T) {
				t.Parallel()
				k := newKeeper(t, w)
				visit(k)
				k.search()
			})
		}
	}
}

// TestCoreOfSecrets: a process that knows a secret leaves no core dump, and cannot allow itself one.
func TestCoreOfSecrets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const show = "bash: 'ulimit -c unlimited 2>/dev/null; grep \"core file\" /proc/self/limits'\n"
	s.write("plain.yaml", "name: plain\ndescription: x\n"+show)
	s.write("t.yaml", "name: t\ndescription: x\nenvironment: {secrets: [TOKEN]}\n"+show)
	s.env = append(s.env, "TOKEN="+theSecret)
	s.by(65534)
	if out := s.run("run", "./plain.yaml"); !strings.Contains(out.stdout, "unlimited") {
		t.Skipf("the limit of the tests allows no core dumps: %s", out)
	}
	if out := s.run("run", "./t.yaml"); len(strings.Fields(out.stdout)) < 6 || strings.Fields(out.stdout)[4] != "1" || strings.Fields(out.stdout)[5] != "1" {
		t.Errorf("%s", out)
	}
}

package cli

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/flowrun/flowrun/docs"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/test/schematest"
)

// document is a way in which a command prints JSON.
type document struct {
	command string // its words
	form    string // what asks for JSON; "" for a command that prints nothing else
	schema  string // the name of its schema, as flowrun schema knows it

	// run has the other words of a command line that prints it; code is its exit code. RUN is a run.
	run, stdin string
	code       int
	lines      bool   // one document a line
	stderr     bool   // it is on stderr
	script     string // instead of run: the script of testdata that prints it, because it needs more than a project
}

// documents are all of them, in the order in which TestDocuments prints them.
var documents = []document{
	{command: "trust"},
	{command: "run", form: "--output json", schema: "run", run: "hello WHO=Ada"},
	{command: "run", form: "--progress json", schema: "event", run: "hello WHO=Bea", lines: true, stderr: true},
	{command: "run", form: "--progress json", schema: "error", run: "hello WHO=", code: 6, stderr: true},
	{command: "run", form: "--progress json", schema: "error", run: "./broken.yaml", code: 3, stderr: true},
	{command: "run", form: "--dry-run --output json", schema: "plan", run: "hello"},
	{command: "run", form: "--detach --output json", schema: "started", script: "serve"},
	{command: "run", form: "--progress json", schema: "queued", script: "locks"},
	{command: "resume", form: "--output json", schema: "run", script: "resume"},
	{command: "resume", form: "--progress json", schema: "event", script: "resume"},
	{command: "retry", form: "--output json", schema: "run", run: "RUN"},
	{command: "retry", form: "--progress json", schema: "event", run: "RUN --from say", lines: true, stderr: true},
	{command: "demo", form: "--progress json", schema: "event", lines: true, stderr: true},
	{command: "run", run: "gate", code: 7},
	{command: "approve", form: "--output json", schema: "run", run: "latest"},
	{command: "run", run: "gate", code: 7},
	{command: "approve", form: "--progress json", schema: "event", run: "latest", lines: true, stderr: true},
	{command: "run", run: "gate", code: 7},
	{command: "reject", form: "--output json", schema: "run", run: "latest"},
	{command: "run", run: "gate", code: 7},
	{command: "reject", form: "--progress json", schema: "event", run: "latest", lines: true, stderr: true},
	{command: "call", schema: "call", run: "plain {WHO:'Ada',} --auto-approve tool:plain"},
	{command: "call", schema: "call", run: "plain {WHO:''} --auto-approve tool:plain", code: 6},
	{command: "call", schema: "call", run: "plain {WHO:5,WHAT:1}", code: 6},
	{command: "call", schema: "call", run: "nothing {}", code: 4},
	{command: "mcp call", schema: "call", run: "nothing__greet {}", code: 4},
	{command: "repair", schema: "repaired", lines: true, stdin: "nonsense\n" + `{"id":1,"tool_parameters":{"p":{"type":"number"}},"input":"{p=10,}"}` + "\n" + `{"tool_parameters":{"p":{}},"input":"{q=10"}`},

	{command: "show", form: "--output json", schema: "run", run: "RUN"},
	{command: "timeline", form: "--output json", schema: "run", run: "RUN"},
	{command: "logs", form: "--output jsonl", schema: "log-line", run: "RUN", lines: true},
	{command: "events", schema: "event", run: "RUN", lines: true},
	{command: "artifacts", form: "--output json", schema: "artifacts", run: "RUN"},
	{command: "runs", form: "--output json", schema: "runs"},
	{command: "runs", form: "--output jsonl", schema: "listed-run", lines: true},
	{command: "ps", form: "--output json", schema: "ps"},
	{command: "diff", form: "--output json", schema: "run-diff", run: "RUN RUN"},
	{command: "stats", form: "--output json", schema: "stats", run: "hello"},
	{command: "history audit", form: "--output json", schema: "audit"},
	{command: "history backup", form: "--output json", schema: "backup", run: "copy"},
	{command: "explain-cache", form: "--output json", schema: "explain-cache", script: "cache"},

	{command: "state set", run: "hello N:=1 T=text"},
	{command: "state list", form: "--output json", schema: "state"},
	{command: "state get", form: "--output json", schema: "state", run: "hello"},
	{command: "state history", form: "--output json", schema: "state", run: "hello N"},

	{command: "schedule list", form: "--output json", schema: "schedules"},
	{command: "schedule next", form: "--output json", schema: "schedule-times", run: "hello"},
	{command: "schedule backfill", form: "--output json", schema: "backfill", run: "hello --from 2026-01-01 --to 2026-01-03"},
	{command: "schedule backfill", form: "--output json", schema: "backfill", run: "hello --from 2026-01-01 --to 2026-01-04 --dry-run"},

	{command: "tool list", form: "--format json", schema: "tools"},
	{command: "tool list", form: "--output json", schema: "tools"},
	{command: "tool get", form: "--format json", schema: "tool", run: "hello"},
	{command: "tool get", form: "--detail --format json", schema: "tool-detail", run: "hello"},
	{command: "tool export", form: "--format json", schema: "tool", run: "hello"},
	{command: "tool test", form: "--output json", schema: "tests", run: "hello"},
	{command: "tool test", form: "--report json=-", schema: "tests", run: "hello"},
	{command: "tool validate", form: "--output json", schema: "diagnostics", run: "hello"},
	{command: "validate", form: "--output json", schema: "diagnostics", run: "broken.yaml", code: 3},
	{command: "tool deps", form: "--output json", schema: "deps", script: "tool-deps"},
	{command: "tool deps", form: "--json", schema: "deps", script: "tool-deps"},
	{command: "graph", form: "--output json", schema: "graph", run: "hello"},
	{command: "graph", form: "--output json", schema: "graph", run: "hello RUN"},
	{command: "import", form: "--output json", schema: "import", run: "make Makefile", code: 1},

	{command: "mcp list", form: "--output json", schema: "servers"},
	{command: "mcp test", form: "--output json", schema: "servers", script: "mcp-client"},
	{command: "mcp tools", form: "--output json", schema: "server-tools", script: "mcp-client"},

	{command: "trust", form: "--list --output json", schema: "trust"},
	{command: "config list", form: "--output json", schema: "config-values"},
	{command: "config path", form: "--output json", schema: "config-files"},
	{command: "user add", run: "ada --role viewer", stdin: "a long enough password\n"},
	{command: "user list", form: "--output json", schema: "users"},
	{command: "doctor", form: "--output json", schema: "doctor", code: -1},
	{command: "docs", form: "--output json", schema: "docs"},
	{command: "explain", form: "--output json", schema: "explain", run: "wrong-type"},
	{command: "version", form: "--output json", schema: "version"},
}

// notDocuments are the commands whose help speaks of JSON that they read, or that others define.
var notDocuments = map[string]string{
	"schema":      "prints JSON Schemas",
	"tool schema": "prints functions in the forms of providers",
}

const documentTool = `name: hello
description: Says hello
tags: [read]
parameters:
  WHO: {type: string, description: who, default: you, validation: {minLength: 1}}
state: {N: number, T: string}
schedule: {cron: "0 7 * * *", timezone: UTC}
tests: [{name: default, expected: {output-contains: a b}}]
steps:
  - name: say
    bash: echo hello {WHO}; echo said >&2; echo data > kept
    artifacts: [{name: kept, path: kept}]
  - name: twice
    for-each: {items: [1, "a b"]}
    bash: echo {item}
    run-condition: "{say.exit-code} == 0"
`

// TestDocuments prints every document, and checks it against the schema of that name.
func TestDocuments(t *testing.T) {
	scripts, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, value := range map[string]string{"HOME": filepath.Join(dir, "home"), "XDG_CONFIG_HOME": filepath.Join(dir, "home", ".config"), "FLOWRUN_GLOBAL_TOOLS": filepath.Join(dir, "global"),
		"FLOWRUN_STATE_DIR": filepath.Join(dir, "state"), "NO_COLOR": "1", "GITHUB_ACTIONS": ""} {
		t.Setenv(name, value)
	}
	if err = os.MkdirAll(".flowrun/tools", 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{".flowrun/tools/hello.yaml": documentTool, ".flowrun/tools/gate.yaml": "description: Asks\nsteps: [{name: ask, approve: {prompt: \"Go on?\"}}]\n", ".flowrun/tools/plain.yaml": "description: Prints\nparameters: {WHO: {description: who, validation: {minLength: 1}}}\nbash: echo {WHO}\n",
		"broken.yaml": "description: d\nbash: echo\nstps: []\n", "Makefile": "all: b\n\techo a\nb:\n\techo b\n%.o: %.c\n\tcc $<\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := "RUN"
	for _, d := range documents {
		t.Run(d.command+" "+d.form, func(t *testing.T) {
			if d.script != "" {
				inScript(t, filepath.Join(scripts, d.script+".txtar"), d)
				return
			}
			var out, told bytes.Buffer
			words := strings.Fields(strings.ReplaceAll(strings.Join([]string{d.command, d.run, d.form}, " "), "RUN", run))
			if code := Main(Process{Args: words, Stdin: strings.NewReader(d.stdin), Stdout: &out, Stderr: &told}); code != d.code && d.code >= 0 {
				t.Fatalf("%q: exit code %d\n%s%s", words, code, &out, &told)
			}
			if d.schema == "" {
				return
			}
			text := out.Bytes()
			if d.stderr {
				text = told.Bytes()
			}
			list := [][]byte{text}
			if d.lines {
				list = bytes.Split(bytes.TrimSpace(text), []byte("\n"))
			}
			for _, doc := range list {
				schematest.Validate(t, d.schema, doc)
			}
			if id := runID.FindSubmatch(out.Bytes()); d.command == "run" && d.schema == "run" && id != nil {
				run = string(id[1])
			}
		})
	}
}

var runID = regexp.MustCompile(`"id": "([0-9a-z]+)"`)

// inScript checks that a script validates the document.
func inScript(t *testing.T, file string, d document) {
	text, err := os.ReadFile(file)
	if err != nil || !regexp.MustCompile(`(?m)^valid `+d.schema+` `).Match(text) {
		t.Errorf("%s does not validate a document %s: %v", file, d.schema, err)
	}
}

// TestEveryDocument: each command and each flag that prints JSON is in the table, and nothing else is.
func TestEveryDocument(t *testing.T) {
	listed := map[string]bool{}
	for _, d := range documents {
		for _, flag := range strings.Fields(d.form) {
			if name, is := strings.CutPrefix(flag, "--"); is {
				listed[d.command+" --"+name] = true
			}
		}
		listed[d.command] = true
	}
	var visit func(path string, c *cobra.Command)
	visit = func(path string, c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(strings.TrimSpace(path+" "+sub.Name()), sub)
		}
		if notDocuments[path] != "" {
			return
		}
		if speaksOfDocuments.MatchString(c.Short+"\n"+c.Long) && !listed[path] {
			t.Errorf("flowrun %s: its help speaks of JSON; add what it prints to documents", path)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if printsJSON(c, f) && !listed[path+" --"+f.Name] {
				t.Errorf("flowrun %s --%s: prints JSON; add it to documents", path, f.Name)
			}
		})
	}
	visit("", rootCommand(&ui.Env{}, nil, nil))
}

// speaksOfDocuments matches the help of a command that prints JSON.
var speaksOfDocuments = regexp.MustCompile(`JSON (document|lines)|as JSON`)

// printsJSON reports whether a flag chooses a form, and JSON is one.
func printsJSON(c *cobra.Command, f *pflag.Flag) bool {
	if slices.Contains([]string{"params", "log-format", "lang"}, f.Name) { // what is read, the log of a service, texts in other documents
		return false
	}
	words := f.Usage
	if complete, ok := c.GetFlagCompletionFunc(f.Name); ok {
		list, _ := complete(c, nil, "")
		words += " " + strings.Join(list, " ")
	}
	return regexp.MustCompile(`\bjsonl?\b`).MatchString(words)
}

// TestNamesOfDocuments: the name of a document in the code of a program is the name of a schema.
func TestNamesOfDocuments(t *testing.T) {
	names := docs.SchemaNames()
	found := map[string]bool{"event": true, "tool": true, "tests": true} // an event has its version in v; tool is a file; goFiles has no packages for tests
	for _, file := range goFiles(t) {
		ast.Inspect(parse(t, file), func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			if m := documentName.FindStringSubmatch(text); m != nil {
				found[m[1]] = true
				if !slices.Contains(names, m[1]) {
					t.Errorf("%s: there is no schema of %s", file, text)
				}
			}
			return true
		})
	}
	for _, name := range names {
		if !found[name] {
			t.Errorf("no program prints flowrun/%s.v1", name)
		}
		if !slices.ContainsFunc(documents, func(d document) bool { return d.schema == name }) && elsewhere[name] == "" {
			t.Errorf("documents has no row with %s", name)
		}
	}
}

var documentName = regexp.MustCompile(`^flowrun/([a-z-]+)\.v1$`)

// elsewhere are the documents that no command of flowrun prints, with the tests that hold them to their schemas.
var elsewhere = map[string]string{
	"notice":        "what notifications send: TestSchema in internal/service/notify",
	"schedule-sync": "flowrun-temporal: TestDocuments in temporal/internal/command",
	"store-prune":   "flowrun-temporal: TestDocuments in temporal/internal/command",
}

// TestListedRun: the lines of runs -o jsonl have the fields that runs have in runs -o json.
func TestListedRun(t *testing.T) {
	var texts []string
	for name, pattern := range map[string]string{"runs": `(?s)"retry_of".*?"params"[^\n]*`, "listed-run": `(?s)"retry_of".*?"params"[^\n]*`} {
		text, err := docs.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, strings.Join(strings.Fields(string(regexp.MustCompile(pattern).Find(text))), " "))
	}
	if texts[0] != texts[1] || texts[0] == "" {
		t.Error(fmt.Sprint("the fields differ:\n", strings.Join(texts, "\n")))
	}
}

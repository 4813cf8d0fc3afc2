package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/docs"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/schematest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

var update = flag.Bool("update", false, "rewrite generated files")

// TestToolSchema keeps docs/schemas/tool.json, which editors are pointed at, what the
// table of keys says.
func TestToolSchema(t *testing.T) {
	t.Parallel()
	const file = "docs/schemas/tool.json"
	fresh, err := docs.Schema("tool")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, fresh) {
		t.Errorf("%s is not fresh; run go test ./internal/test/enginetest -run ToolSchema -update", file)
	}
}

// TestSchemaNames: every name has a schema, every file a name.
func TestSchemaNames(t *testing.T) {
	t.Parallel()
	names := docs.SchemaNames()
	for _, name := range names {
		b, err := docs.Schema(name)
		if err != nil || !json.Valid(b) {
			t.Errorf("%s: %v", name, err)
		}
	}
	files, err := filepath.Glob("docs/schemas/*.json")
	if err != nil || len(files) != len(names) {
		t.Errorf("%d files for %d names: %v", len(files), len(names), err)
	}
	for _, name := range []string{"", "runs.v1", "../go.mod", "diagnostics.v1.json"} {
		if _, err := docs.Schema(name); err == nil || !strings.Contains(err.Error(), "use one of artifacts, audit, backfill, ") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestSchemaDescriptions: every field of a schema says what it means.
func TestSchemaDescriptions(t *testing.T) {
	t.Parallel()
	for _, name := range docs.SchemaNames() {
		b, err := docs.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		var schema map[string]any
		if err := json.Unmarshal(b, &schema); err != nil {
			t.Fatal(err)
		}
		described(t, name, schema)
	}
}

// described looks at the properties of an object and of those below it.
// Conditions have no type and need no words.
func described(t *testing.T, path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			described(t, path, item)
		}
	case map[string]any:
		if v["type"] == "object" {
			fields, _ := v["properties"].(map[string]any)
			for key, field := range fields {
				if s, _ := field.(map[string]any)["description"].(string); !strings.HasSuffix(s, ".") {
					t.Errorf("%s/%s: the description %q is not a sentence", path, key, s)
				}
			}
		}
		for key, item := range v {
			described(t, path+"/"+key, item)
		}
	}
}

// everyKind is a tool whose run has every kind of event and result there is
// without a cancel.
const everyKind = `
parameters:
  NAMES: {description: d, type: array, default: [a, "b c"]}
  KEY: {description: d, default: secret-key}
environment: {variables: {KEY: "{KEY}"}, secrets: [KEY]}
steps:
  - name: good
    bash: echo {NAMES}; echo "$KEY" >&2
  - name: fails
    bash: exit 3
    continue-on-error: true
  - name: twice
    bash: test "$FLOWRUN_ATTEMPT" -gt 1
    error-handling: {retry: {attempts: 2, delay: 1}}
  - name: rescued
    bash: exit 1
    error-handling: {fallback: echo rescued}
  - name: skipped
    bash: echo
    run-condition: "{good.exit-code} != 0"
  - name: large
    bash: head -c 9000 /dev/zero | tr '\0' x
    output: {buffer-limit: 5000}
  - name: uses
    bash: wc -c
    input: "{large.output}"
  - name: inner
    use-tool: ./inner.yaml
  - name: slow
    bash: sleep 300 & sleep 300
    timeout: 50
  - name: after
    bash: echo
`

// TestDocuments holds documents of real runs against their schemas.
func TestDocuments(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.config.StateDir = t.TempDir()
	b.file("inner.yaml", "name: inner\ndescription: d\nbash: echo inner; sleep 300 &\n")
	kinds := map[dag.Kind]bool{}
	listen := engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		kinds[e.Kind] = true
		validate(t, "event", e)
	}))
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit)
	defer cancel()
	for _, text := range []string{
		everyKind,
		"bash: echo hello\n",
		"fail-fast: true\nsteps:\n  - name: a\n    bash: exit 1\n  - name: b\n    bash: sleep 300\n    parallel: true\n",
		"timeout: 50\nbash: sleep 300\n",
	} {
		validate(t, "run", b.run(ctx, text, nil, listen))
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	validate(t, "run", b.run(stopped, everyKind, nil, listen))

	all := []dag.Kind{dag.RunStarted, dag.RunCancelling, dag.RunFinished, dag.StepStarted, dag.StepRetrying, dag.StepFallback, dag.StepFinished}
	for _, k := range all {
		if !kinds[k] {
			t.Errorf("no run had the event %s", k)
		}
	}
	at := time.Date(2026, 11, 21, 8, 0, 0, 5, time.FixedZone("", 3600))
	validate(t, "event", dag.Event{V: dag.EventVersion, Seq: 9, Run: "r", Kind: dag.RunResumed, Time: at, Reset: []dag.ID{"a", "inner/b"}})
	for _, s := range []dag.Status{dag.Pending, dag.Running, dag.Retrying, dag.Waiting, dag.Reused, dag.Interrupted} {
		validate(t, "run", &runresult.Result{ID: "r", RetryOf: "q", Status: s, Params: map[string]any{}, Tolerated: []string{}, Steps: []runresult.StepResult{{ID: "a", Status: s}}})
	}
}

func TestDiagnosticsDocument(t *testing.T) {
	t.Parallel()
	_, found := decode.File("t.yaml", []byte("name: t\nbash: x\nbsh: y\nsteps: []\n"))
	if len(found) == 0 {
		t.Fatal("no problems")
	}
	for _, ds := range []tool.Diagnostics{nil, found, {{Code: "c", Severity: tool.Note, Message: "m"}}} {
		doc, err := ds.MarshalDocument()
		if err != nil {
			t.Fatal(err)
		}
		schematest.Validate(t, "diagnostics", doc)
	}
}

func validate(t *testing.T, name string, v any) {
	t.Helper()
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	schematest.Validate(t, name, doc)
}

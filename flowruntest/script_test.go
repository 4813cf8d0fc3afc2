package flowruntest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/flowruntest"
	"github.com/flowrun/flowrun/library"
)

func compile(t *testing.T, text string) *flowrun.Plan {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tool.yaml")
	if err := os.WriteFile(file, []byte("name: tool\ndescription: a test\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := flowrun.Compile(library.New(library.Config{}), file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const deploy = `
parameters:
  ENV: {type: string, description: where, default: staging}
steps:
  - name: build
    bash: make
  - name: push
    bash: deploy --to {ENV} '{build.output}'
    error-handling: {retry: {attempts: 2, delay: 10000}}
    on-failure:
      - name: rollback
        bash: rollback {ENV}
  - name: check
    for-each: {items: [eu, us], key: "{item}", max-parallel: 1}
    bash: curl -f https://{item}.example.com
    timeout: 30000
finally:
  - name: tell
    bash: mail "{run.status} {run.failed-step}"
`

// A deploy that fails twice, waits between, and continues.
func TestScript(t *testing.T) {
	r := flowruntest.New().
		On("build", flowruntest.Answer{Takes: time.Minute, Stdout: "image:7\n"}).
		On("push", flowruntest.Answer{Exit: 75}, flowruntest.Answer{Exit: 75, Stderr: "busy\n"}, flowruntest.Answer{Takes: time.Second}).
		On("check[*]", flowruntest.Answer{Takes: 2 * time.Second}).
		On("tell").
		Run(t, compile(t, deploy), map[string]any{"ENV": "prod"})
	if r.Status != dag.Succeeded {
		t.Fatal(r.Status, r.Message)
	}
	var b strings.Builder
	r.Report(&b)
	want := `      0s  build
    1m0s  push
   1m10s  push attempt 2
   1m30s  push attempt 3
   1m31s  check[eu]
   1m33s  check[us]
   1m35s  tell
   1m35s  tool succeeded
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if got := r.Of("push")[0].Command; got != "deploy --to prod 'image:7'" {
		t.Error(got)
	}
}

// One that fails for good is rolled back; what hangs is stopped by its timeout.
func TestScriptFailures(t *testing.T) {
	p := compile(t, deploy)
	r := flowruntest.New().On("*").On("push", flowruntest.Answer{Exit: 75}).Run(t, p, nil)
	if got := strings.Join(r.Order(), " "); got != "build push rollback tell" || r.Status != dag.Failed || r.ExitCode != 75 {
		t.Error(got, r.Status, r.ExitCode)
	}
	if got := r.Of("tell")[0].Command; got != `mail "failed push"` {
		t.Error(got)
	}
	r = flowruntest.New().On("*").On("check[us]", flowruntest.Answer{Hangs: true}).Run(t, p, nil)
	if r.Took != 30*time.Second || r.Step("check[us]").Status != dag.TimedOut {
		t.Error(r.Took, r.Step("check[us]"))
	}
	r = flowruntest.New().On("*").On("build", flowruntest.Answer{Hangs: true}).Run(t, p, nil, flowruntest.CancelAfter(time.Hour))
	if r.Took != time.Hour || r.Status != dag.Cancelled || len(r.Of("tell")) != 1 {
		t.Error(r.Took, r.Status, r.Order())
	}
}

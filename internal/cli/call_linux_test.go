package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// calling turns the command of sit into a call of the tool.
func calling(c *exec.Cmd) { c.Args[1] = "call" }

// document is the one JSON document on the screen, after everything else.
func (s *seat) document(screen string) map[string]any {
	s.Helper()
	at := strings.LastIndex(screen, "\r\n{\r\n")
	var doc map[string]any
	if at < 0 || json.Unmarshal([]byte(screen[at:]), &doc) != nil {
		s.Fatalf("there is no document in %q", screen)
	}
	return doc
}

const asksFor = `
tags: [write]
security: {required-permissions: ["filesystem:write:{WORKSPACE}"]}
parameters: {WHAT: {type: string, description: what}}
bash: echo "did {WHAT}" | tee done
`

// TestCallAsksAPerson: at a terminal a person is shown what would happen, and decides.
func TestCallAsksAPerson(t *testing.T) {
	for name, c := range map[string]struct {
		keys, status, code string
		exit               int
	}{
		"yes":    {"y\n", "success", "", 0},
		"no":     {"n\n", "refused", "declined", 5},
		"Ctrl-D": {"\x04", "refused", "declined", 5},
		"Ctrl-C": {"\x03", "cancelled", "cancelled", 130},
	} {
		t.Run(name, func(t *testing.T) {
			s := sit(t, asksFor, calling, `{"WHAT":"it\u001b[2J"}`)
			s.asked(1)
			for _, want := range []string{`A model calls a tool: Runs: echo "did it<U+001B>[2J" | tee done`, `is not approved`, `| echo "did it`} {
				if !strings.Contains(s.seen(), want) {
					t.Errorf("the screen does not say %s: %s", want, s.seen())
				}
			}
			s.types(c.keys)
			doc := s.document(s.ends(c.exit))
			if code, _ := doc["error"].(map[string]any); doc["execution_status"] != c.status || c.code != "" && code["code"] != c.code || s.ran() != (c.exit == 0) {
				t.Errorf("%v, ran %v", doc, s.ran())
			}
			audit := s.audit()
			if c.exit != 130 && (!strings.Contains(audit, `"by": "terminal"`) || !strings.Contains(audit, `"entry_point": "call"`)) {
				t.Error(audit)
			}
			if run, _ := doc["run"].(string); c.exit == 0 && !strings.Contains(audit, `"run": "`+run+`"`) {
				t.Errorf("run %s is not in %s", run, audit)
			}
		})
	}
}

// TestCallAdvice: a person at a terminal reads why a call was refused, and how to allow it.
func TestCallAdvice(t *testing.T) {
	s := sit(t, asksFor, func(c *exec.Cmd) {
		calling(c)
		c.Env = append(c.Env, "CI=1") // so nobody is asked
	}, `{"WHAT":"x"}`)
	screen := s.ends(5)
	advice, _, _ := strings.Cut(screen, "\r\n{\r\n")
	for _, want := range []string{`tool "./it.yaml" is not approved`, "there is nobody to ask.", "Allow it with --auto-approve tool:./it.yaml, or approvals.allow in config.yaml"} {
		if !strings.Contains(advice, want) {
			t.Errorf("the screen does not say %s: %s", want, advice)
		}
	}
	if doc, _ := json.Marshal(s.document(screen)); strings.Contains(string(doc), "auto-approve") {
		t.Errorf("the document says how to allow it: %s", doc)
	}
}

// TestCallShowsAChange: the change of a file is shown before it is made.
func TestCallShowsAChange(t *testing.T) {
	var file string
	s := sit(t, asksFor, func(c *exec.Cmd) {
		file = filepath.Join(c.Dir, "a.go")
		if err := os.WriteFile(file, []byte("func a() {\n\treturn old\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.Args = []string{"flowrun", "call", "edit", "edit(file_path='" + file + "', old_string='old', new_string='new\\u202e')"}
	})
	s.asked(1)
	for _, want := range []string{"-→   return old\r\n", "+→   return new<U+202E>\r\n"} {
		if !strings.Contains(s.seen(), want) {
			t.Errorf("the screen does not say %q: %s", want, s.seen())
		}
	}
	if text, _ := os.ReadFile(file); strings.Contains(string(text), "new") {
		t.Error("it was changed before anybody said yes")
	}
	s.types("y\n")
	doc := s.document(s.ends(0))
	shown, _ := doc["returnDisplay"].(map[string]any)
	if text, _ := os.ReadFile(file); doc["execution_status"] != "success" || shown["fileDiff"] == nil || !strings.Contains(string(text), "return new\u202e") {
		t.Errorf("%v, the file is %q", doc, text)
	}
}

// TestCallInterrupted: Ctrl-C while the tool runs stops it, and the document says so.
func TestCallInterrupted(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]struct {
		signal syscall.Signal
		code   int
	}{"INT": {syscall.SIGINT, 130}, "TERM": {syscall.SIGTERM, 143}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "it.yaml"), []byte("name: it\ndescription: d\nsecurity: {required-permissions: ['filesystem:write:{WORKSPACE}']}\nbash: echo begun; touch begun; sleep 600\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("flowrun", "call", "./it.yaml", "--auto-approve", "*")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+dir+"/state", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "FLOWRUN_GLOBAL_CONFIG="+dir+"/none")
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waittest.Exists(t, filepath.Join(dir, "begun"))
			cmd.Process.Signal(sig.signal)
			err := cmd.Wait()
			var doc struct {
				Status string `json:"execution_status"`
				Tool   string `json:"tool_executed"`
				Told   string `json:"llmContent"`
				Error  struct{ Code string }
			}
			if bad := json.Unmarshal([]byte(out.String()), &doc); bad != nil || cmd.ProcessState.ExitCode() != sig.code || doc.Status != "cancelled" ||
				doc.Error.Code != "cancelled" || doc.Tool != "it" || !strings.Contains(doc.Told, "begun") || errs.Len() > 0 {
				t.Errorf("%v, %v, exit %d: %s %s", bad, err, cmd.ProcessState.ExitCode(), out.String(), errs.String())
			}
		})
	}
}

// TestCallInterruptedWhileReading: Ctrl-C ends a call that waits for its arguments.
func TestCallInterruptedWhileReading(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command("flowrun", "call", "it", "-")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+dir+"/state", "HOME="+dir)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := w.WriteString("{"); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = r
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "reading of what stdin has", func() bool { // from then on signals are caught
		n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
		return err == nil && n == 0
	})
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(out.String(), `"execution_status": "cancelled"`) {
		t.Errorf("exit %d: %s", cmd.ProcessState.ExitCode(), out.String())
	}
}

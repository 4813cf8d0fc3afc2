package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/test/collectortest"
	"github.com/flowrun/flowrun/internal/test/mailtest"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/schematest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

func TestMain(m *testing.M) {
	engine.HelperMain()
	sizetest.SideBySide()
	os.Exit(mainWithProgram(m))
}

// TestScripts runs the command the way a person does; each script in testdata is
// one subject.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "await": await, "until": until, "valid": valid, "keep": keep, "collector": collector, "spans": spans, "arrives": arrives, "starts": starts, "mailserver": mailserver},
		Condition: condition,
		Setup: func(e *testscript.Env) error {
			home := e.WorkDir + "/home"
			old, err := filepath.Abs("../store/sqlite/testdata/version7.sql")
			if err != nil {
				return err
			}
			e.Setenv("OLD_HISTORY", old)
			for k, v := range map[string]string{"HOME": home, "FLOWRUN_STATE_DIR": e.WorkDir + "/state", "XDG_CONFIG_HOME": home + "/.config",
				"FLOWRUN_GLOBAL_TOOLS": e.WorkDir + "/global", "FLOWRUN_GLOBAL_CONFIG": e.WorkDir + "/global/config.yaml", "NO_COLOR": "1", "GITHUB_ACTIONS": "", "FLOWRUN_PROGRESS": "", "TMPDIR": e.WorkDir + "/tmp",
				"GORACE": "atexit_sleep_ms=0"} { // else the race detector sleeps a second in every process
				e.Setenv(k, v)
			}
			server := httptest.NewServer(receiver(e.WorkDir))
			e.Defer(server.Close)
			e.Setenv("SERVER", strings.TrimPrefix(server.URL, "http://"))
			return os.MkdirAll(e.WorkDir+"/tmp", 0o755)
		},
	})
}

// scripts returns the scripts of testdata whose programs are installed. In the small size a script about a detail is left
// out: history-prune, where there is a script history.
func scripts(t *testing.T) (list []string) {
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal("there are no scripts: ", err)
	}
	for _, file := range all {
		subject, _, detail := strings.Cut(strings.TrimSuffix(file, ".txtar"), "-")
		if (sizetest.Chosen() > sizetest.Small || !detail || !slices.Contains(all, subject+".txtar")) && canRun(t, file) {
			list = append(list, file)
		}
	}
	return list
}

// used matches a program that a script runs and a machine may lack.
var used = regexp.MustCompile(`(?:exec |\| ?|\$\()(jq|python3)\b`)

// canRun reports whether the programs that a script uses are installed, and skips it otherwise.
func canRun(t *testing.T, file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range used.FindAllSubmatch(text, -1) {
		if _, err := exec.LookPath(string(m[1])); err != nil {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { needtest.Program(t, string(m[1])) })
			return false
		}
	}
	return true
}

// receiver answers GET /FILE with that file, where there is one, else with 503. What is
// posted to /CODE/... it appends to the file posts, with its signature, and answers CODE. Keys of such requests go to
// the file keys, and /CODE/hang responds when there is a file go.
func receiver(dir string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		code := http.StatusServiceUnavailable
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			code = http.StatusOK
		}
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			f, err := os.OpenFile(filepath.Join(dir, "posts"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err == nil {
				fmt.Fprintf(f, "%s %s\n%s\n", r.Header.Get("X-Flowrun-Event"), r.Header.Get("X-Hub-Signature-256"), body)
				f.Close()
			}
			number, rest, _ := strings.Cut(name, "/")
			code, _ = strconv.Atoi(number)
			if key := r.Header.Get("Idempotency-Key"); key != "" {
				appendLine(filepath.Join(dir, "keys"), key)
			}
			for rest == "hang" && r.Context().Err() == nil {
				if _, err := os.Stat(filepath.Join(dir, "go")); err == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
		w.Header().Set("X-Echo", r.Header.Get("X-Echo"))
		w.WriteHeader(code)
		if r.Method == http.MethodGet && code == http.StatusOK {
			body, _ := os.ReadFile(filepath.Join(dir, name))
			w.Write(body)
		}
	})
}

func appendLine(file, line string) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, line)
		f.Close()
	}
}

// mailserver starts a mail server that adds each message to the file mails, and sets MAIL_PORT: mailserver tls.
// Its certificate is in the file ca.pem.
func mailserver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mailserver none|starttls|tls")
	}
	s, err := mailtest.New(mailtest.Options{TLS: strings.TrimPrefix(args[0], "none"), User: "robot", Password: "hunter22-hunter22", Received: func(m mailtest.Message) {
		f, err := os.OpenFile(ts.MkAbs("mails"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintf(f, "%s for %s\n%s\n", m.From, strings.Join(m.To, ","), m.Text)
			f.Close()
		}
	}})
	ts.Check(err)
	ts.Defer(s.Close)
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), s.CA, 0o600))
	ts.Setenv("MAIL_PORT", strconv.Itoa(s.Port))
}

// exits runs a command line and checks its exit code: exits 3 flowrun validate x.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = exitOf(err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s (%v)", code, args[0], err)
	}
}

// condition says whether a word in brackets holds: root; small where a script stops after what people see
// most; long for tests that take more than a few seconds; ci on the machine of the gate, where nothing may be skipped for want
// of a program.
func condition(word string) (bool, error) {
	switch word {
	case "root":
		return os.Geteuid() == 0, nil
	case "ci":
		return os.Getenv("CI") == "true", nil
	case "small":
		return sizetest.Chosen() == sizetest.Small, nil
	case "long":
		return sizetest.Chosen() == sizetest.Long, nil
	}
	return false, fmt.Errorf("unknown condition %q", word)
}

// await waits until there is a file: await started.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	if !waittest.Holds(waittest.Limit, func() bool { _, err := os.Stat(ts.MkAbs(args[0])); return err == nil }) {
		ts.Fatalf("there is no file %s", args[0])
	}
}

// until repeats a command until its standard output matches a pattern: until
// 'status +failed' flowrun show latest.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND...")
	}
	pattern := regexp.MustCompile("(?m)" + args[0])
	if !waittest.Holds(waittest.Limit, func() bool {
		began := time.Now()
		if err := ts.Exec(args[1], args[2:]...); err == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return true
		}
		time.Sleep(3 * time.Since(began)) // the processor is for what it waits for
		return false
	}) {
		ts.Fatalf("it never printed %s", args[0])
	}
}

// valid validates a file by one of flowrun's schemas: valid run stdout. A file of events has one
// document on each line; positions in the queue are among events.
func valid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: valid SCHEMA FILE")
	}
	docs := [][]byte{[]byte(ts.ReadFile(args[1]))}
	if args[0] == "event" || args[0] == "queued" {
		docs = bytes.Split(bytes.TrimSpace(docs[0]), []byte("\n"))
	}
	if args[0] == "queued" {
		docs = slices.DeleteFunc(docs, func(d []byte) bool { return !bytes.Contains(d, []byte("flowrun/queued.v1")) })
	}
	for _, doc := range docs {
		schematest.Validate(fatal{ts: ts}, args[0], doc)
	}
}

// collector starts a collector of OpenTelemetry, and sets COLLECTOR to its URL.
func collector(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: collector")
	}
	c := collectortest.New()
	ts.Defer(c.Close)
	ts.Setenv("COLLECTOR", c.URL)
	collectors.Store(ts, c)
}

// collectors are the collectors of the scripts that are running.
var collectors sync.Map

// spans writes the spans that the collector has received to a file: spans FILE [SPAN]. SPAN is the
// id of a span that is known without having arrived.
func spans(ts *testscript.TestScript, neg bool, args []string) {
	c, ok := collectors.Load(ts)
	if neg || len(args) < 1 || !ok {
		ts.Fatalf("usage: collector, then spans FILE [SPAN...]")
	}
	tree := c.(*collectortest.Collector).Tree(args[1:]...)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(tree), 0o600))
}

// arrives waits until a line of what the collector has matches: arrives PATTERN.
func arrives(ts *testscript.TestScript, neg bool, args []string) {
	c, ok := collectors.Load(ts)
	if neg || len(args) != 1 || !ok {
		ts.Fatalf("usage: collector, then arrives PATTERN")
	}
	pattern := regexp.MustCompile("(?m)" + args[0])
	if !waittest.Holds(waittest.Limit, func() bool { return pattern.MatchString(c.(*collectortest.Collector).Tree()) }) {
		ts.Fatalf("no span %s has arrived", args[0])
	}
}

// starts asks a service for a run as part of a trace: starts SOCKET TOOL TRACEPARENT.
func starts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: starts SOCKET TOOL TRACEPARENT")
	}
	req, err := http.NewRequest("POST", "http://localhost/api/v1/runs", strings.NewReader(`{"tool": "`+args[1]+`"}`))
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("traceparent", args[2])
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", ts.MkAbs(args[0]))
	}}}
	res, err := client.Do(req)
	ts.Check(err)
	res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		ts.Fatalf("the service answers %s", res.Status)
	}
}

// fatal ends a script where a test would only note an error.
type fatal struct {
	testing.TB
	ts *testscript.TestScript
}

func (fatal) Helper()                          {}
func (f fatal) Errorf(format string, a ...any) { f.ts.Fatalf(format, a...) }

// keep sets a variable to what a file holds: keep ID stdout.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keep VARIABLE FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// raced says whether the test runs under the race detector, which takes memory.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

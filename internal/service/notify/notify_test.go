package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/test/schematest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOf(t *testing.T) {
	for _, c := range []struct {
		now, before dag.Status
		want        Event
	}{
		{dag.Succeeded, dag.Pending, Success},
		{dag.Succeeded, dag.Succeeded, Success},
		{dag.Succeeded, dag.Failed, Recovery},
		{dag.Succeeded, dag.TimedOut, Recovery},
		{dag.Failed, dag.Failed, Failure},
		{dag.TimedOut, dag.Succeeded, Failure},
		{dag.Waiting, dag.Failed, Waiting},
		{dag.Cancelled, dag.Failed, Cancelled},
		{dag.Interrupted, dag.Failed, ""},
	} {
		if got := Of(c.now, c.before); got != c.want {
			t.Errorf("%v after %v: %q, want %q", c.now, c.before, got, c.want)
		}
	}
}

func TestWants(t *testing.T) {
	all := []Event{Success, Failure, Recovery, Waiting, Cancelled}
	for _, c := range []struct {
		on   []Event
		want []Event
	}{
		{nil, []Event{Failure, Recovery, Waiting}},
		{[]Event{Success}, []Event{Success, Recovery}},
		{[]Event{Recovery}, []Event{Recovery}},
		{[]Event{Always}, all},
		{[]Event{Cancelled, Failure}, []Event{Failure, Cancelled}},
	} {
		var got []Event
		if (Rule{On: c.on}).Wants("") {
			t.Errorf("%v wants what is not an event", c.on)
		}
		for _, e := range all {
			if (Rule{On: c.on}).Wants(e) {
				got = append(got, e)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v wants %v, want %v", c.on, got, c.want)
		}
	}
}

func outcome(e Event, status dag.Status) Outcome {
	return Outcome{Event: e, Result: &runresult.Result{ID: "r1", Tool: "deploy", Status: status, ExitCode: 1, Message: "step test failed",
		Params: map[string]any{"A": "b"}, Tolerated: []string{}, Ended: time.UnixMilli(1700000000000)}}
}

func TestText(t *testing.T) {
	long := outcome(Failure, dag.Failed)
	long.Result.Message = strings.Repeat("a\n\x00 ", 2000)
	waiting := outcome(Waiting, dag.Waiting)
	waiting.Result.Message = "step gate waits for approval: shall it go\nlive?"
	late, never, paused := outcome(Late, dag.Running), outcome(Late, dag.Pending), outcome(Paused, dag.Failed)
	late.Schedule = &Schedule{Name: "nightly", Text: "the run of 02:00 had to succeed by 06:00, but its status is running"}
	never.Schedule, never.Result.ID = &Schedule{Name: "nightly", Text: "no run has started"}, ""
	paused.Schedule = &Schedule{Name: "nightly", Text: "3 failures in a row"}
	for want, o := range map[string]Outcome{
		"deploy is late: the run of 02:00 had to succeed by 06:00, but its status is running (run r1)": late,
		"deploy is late: no run has started":                                                        never,
		"schedule nightly is paused: 3 failures in a row (run r1)":                                  paused,
		"deploy failed: step test failed (run r1)":                                                  outcome(Failure, dag.Failed),
		"deploy timed-out: step test failed (run r1)":                                               outcome(Failure, dag.TimedOut),
		"deploy works again (run r1)":                                                               outcome(Recovery, dag.Succeeded),
		"deploy succeeded (run r1)":                                                                 outcome(Success, dag.Succeeded),
		"deploy is waiting for an answer: step gate waits for approval: shall it go live? (run r1)": waiting,
		"deploy failed: " + strings.Repeat("a ", maxDetail/2) + "... (run r1)":                      long,
	} {
		if got := o.Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for o, want := range map[*Outcome]string{&late: "Show the run with: flowrun show r1\n", &never: "Show the schedule with: flowrun schedule list\n",
		&paused: "Resume the schedule with: flowrun schedule resume nightly\nShow the run with: flowrun show r1\n"} {
		if got := (Rule{}).mailText(*o); !strings.HasSuffix(got, want) || strings.Contains(got, "flowrun show \n") {
			t.Errorf("%q, want %q at the end", got, want)
		}
	}
}

// heard is what a receiver got.
type heard struct {
	head http.Header
	body []byte
}

// receiver responds to posts with these codes in order, and then with the last one forever.
func receiver(t *testing.T, codes ...int) (address string, got *[]heard) {
	got = &[]heard{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		*got = append(*got, heard{r.Header, b})
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(codes[min(len(*got), len(codes))-1])
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func TestPost(t *testing.T) {
	address, got := receiver(t, 200)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("it is a secret\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Settings{Env: []string{"HOOK=old", "HOOK=" + address + "/x?token=abc", "KEY=it is a secret"}}
	for _, r := range []Rule{{Webhook: "${HOOK}", SecretEnv: "KEY"}, {Webhook: address, SecretFile: secret}} {
		*got = nil
		if bad := Send(t.Context(), s, []Rule{r}, outcome(Failure, dag.Failed)); len(bad) > 0 || len(*got) != 1 {
			t.Fatalf("%v, %d posts", bad, len(*got))
		}
		h := (*got)[0]
		mac := hmac.New(sha256.New, []byte("it is a secret"))
		mac.Write(h.body)
		if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); h.head.Get("X-Hub-Signature-256") != want {
			t.Errorf("the signature is %q, want %q", h.head.Get("X-Hub-Signature-256"), want)
		}
		if h.head.Get("X-Flowrun-Event") != "failure" || !strings.HasPrefix(h.head.Get("X-Flowrun-Delivery"), "r1-failure-1") || h.head.Get("Content-Type") != "application/json" {
			t.Errorf("the head is %v", h.head)
		}
		schematest.Validate(t, "notice", h.body)
		var doc struct {
			Schema, Event, Text string
			Run                 struct{ Schema, ID, Status string }
		}
		if err := json.Unmarshal(h.body, &doc); err != nil || doc.Schema != "flowrun/notice.v1" || doc.Event != "failure" ||
			doc.Text != "deploy failed: step test failed (run r1)" || doc.Run.Schema != "flowrun/run.v1" || doc.Run.ID != "r1" || doc.Run.Status != "failed" {
			t.Errorf("%v: %s", err, h.body)
		}
	}
}

// TestPostTriesAgain checks that a post is repeated if the receiver is down or busy, and
// not if it rejects it.
func TestPostTriesAgain(t *testing.T) {
	for _, c := range []struct {
		codes []int
		posts int
		want  string
	}{
		{[]int{503, 200}, 2, ""},
		{[]int{500, 429, 204}, 3, ""},
		{[]int{502}, 3, "it answered 502"},
		{[]int{404}, 1, "it answered 404"},
		{[]int{302}, 1, "it answered 302: the URL has moved"},
	} {
		old := client.Transport
		synctest.Test(t, func(t *testing.T) {
			defer func() { client.Transport = old }()
			posts := 0
			client.Transport = tripper(func(r *http.Request) (*http.Response, error) {
				io.Copy(io.Discard, r.Body)
				posts++
				return &http.Response{StatusCode: c.codes[min(posts, len(c.codes))-1], Body: http.NoBody, Header: http.Header{"Location": {"/x"}}, Request: r}, nil
			})
			began := time.Now()
			bad := Send(t.Context(), Settings{}, []Rule{{Webhook: "https://hooks.example/services/hunter22"}}, outcome(Failure, dag.Failed))
			want := []time.Duration{0, time.Second, 3 * time.Second}[c.posts-1]
			if posts != c.posts || time.Since(began) != want || c.want == "" && len(bad) > 0 {
				t.Errorf("%v: %d posts in %v, %v", c.codes, posts, time.Since(began), bad)
			}
			if c.want != "" && (len(bad) != 1 || !strings.Contains(bad[0].Error(), c.want) || strings.Contains(bad[0].Error(), "hunter")) {
				t.Errorf("%v, want %q", bad, c.want)
			}
		})
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestPostIsBounded checks that a receiver that never responds delays the sender only for a
// limited time, and not at all after a cancel.
func TestPostIsBounded(t *testing.T) {
	for _, c := range []struct {
		rules     int
		cancelled bool
		want      time.Duration
	}{{5, false, 33 * time.Second}, {5, true, 2 * time.Second}, {100, false, time.Minute}} {
		old := client.Transport
		synctest.Test(t, func(t *testing.T) {
			defer func() { client.Transport = old }()
			client.Transport = tripper(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancelled {
				time.AfterFunc(c.want, cancel)
			}
			began := time.Now()
			rules := make([]Rule, c.rules)
			for i := range rules {
				rules[i].Webhook = "http://x/"
			}
			if bad := Send(ctx, Settings{}, rules, outcome(Failure, dag.Failed)); len(bad) != c.rules || time.Since(began) != c.want {
				t.Errorf("%v in %v", bad, time.Since(began))
			}
		})
	}
}

// TestPostIsNotLarge checks that large output or parameters never make a post that
// receivers reject.
func TestPostIsNotLarge(t *testing.T) {
	big := strings.Repeat("x", 3<<20)
	o := outcome(Failure, dag.Failed)
	o.Result.Output = big
	for i := range 50_000 {
		o.Result.Steps = append(o.Result.Steps, runresult.StepResult{ID: fmt.Sprintf("s%d", i), Status: dag.Failed})
	}
	for range 2 {
		b, err := o.body(o.Text())
		if err != nil || len(b) > maxDocument || !json.Valid(b) {
			t.Errorf("%v: %d bytes", err, len(b))
		}
		o.Result.Params["BIG"] = big
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		r    Rule
		want string
	}{
		{Rule{Webhook: "${NOBODY}/x"}, "cannot send the notification by webhook ${NOBODY}: the environment variable NOBODY is not set"},
		{Rule{Webhook: "ftp://joe:hunter22@x/"}, "cannot send the notification by webhook x: the URL of the webhook must begin with http"},
		{Rule{Webhook: "http://joe:hunter22\x00@x/"}, "the URL of the webhook is invalid"},
		{Rule{Webhook: "http://x/", SecretEnv: "NOBODY"}, "the environment variable NOBODY with the signing secret is not set"},
		{Rule{Webhook: "http://x/", SecretFile: "none"}, "cannot read the signing secret"},
		{Rule{Webhook: "http://x/", SecretFile: "."}, "not a regular file"},
		{Rule{Command: `mail "hunter22`}, "cannot send the notification by command command: "},
		{Rule{Command: `flowrun-nosuch hunter22`}, "cannot send the notification by command flowrun-nosuch: the program was not found in PATH"},
		{Rule{Command: `./flowrun-nosuch hunter22`}, "cannot start"},
	} {
		bad := Send(t.Context(), Settings{Dir: t.TempDir()}, []Rule{c.r}, outcome(Failure, dag.Failed))
		if len(bad) != 1 || !strings.Contains(bad[0].Error(), c.want) || strings.Contains(bad[0].Error(), "hunter") {
			t.Errorf("%v, want %q", bad, c.want)
		}
	}
}

func TestCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for sh")
	}
	dir := t.TempDir()
	s := Settings{Env: append(os.Environ(), "FLOWRUN_STATUS=old"), Dir: dir}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("tell", `cat > doc; printf '%s,' "$FLOWRUN_EVENT" "$FLOWRUN_RUN_ID" "$FLOWRUN_TOOL" "$FLOWRUN_STATUS" "$FLOWRUN_EXIT_CODE" "$FLOWRUN_MESSAGE" "$@" > told; yes | head -c 1000000`)
	write("fail", `echo noise; exit 3`)
	bad := Send(t.Context(), s, []Rule{{Command: `./tell 'a b' "c'd" {X}`}, {Command: "./fail"}, {Command: "./fail", On: []Event{Success}}}, outcome(Failure, dag.Failed))
	if len(bad) != 1 || bad[0].Error() != "cannot send the notification by command ./fail: it failed with exit code 3" {
		t.Errorf("%v", bad)
	}
	told, _ := os.ReadFile(filepath.Join(dir, "told"))
	if want := "failure,r1,deploy,failed,1,deploy failed: step test failed (run r1),a b,c'd,{X},"; string(told) != want {
		t.Errorf("it got\n%s\nwant\n%s", told, want)
	}
	doc, _ := os.ReadFile(filepath.Join(dir, "doc"))
	var run struct{ Schema, ID string }
	if err := json.Unmarshal(doc, &run); err != nil || run.Schema != "flowrun/run.v1" || run.ID != "r1" {
		t.Errorf("%v: %s", err, doc)
	}
}

// TestCommandIsStopped checks that a command that hangs is stopped with its child processes
// when ctx ends.
func TestCommandIsStopped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows what a process left")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hang"), []byte("#!/bin/sh\nsleep 1000 & echo $! > pid; wait"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	pid := filepath.Join(dir, "pid")
	go func() {
		waittest.Holds(waittest.Limit, func() bool { // until it has begun
			b, _ := os.ReadFile(pid)
			return len(b) > 1
		})
		cancel(errors.New("no longer wanted"))
	}()
	bad := Send(ctx, Settings{Env: os.Environ(), Dir: dir}, []Rule{{Command: "./hang"}}, outcome(Failure, dag.Failed))
	if len(bad) != 1 || !strings.Contains(bad[0].Error(), "no longer wanted") {
		t.Errorf("%v", bad)
	}
	b, _ := os.ReadFile(pid)
	status, err := os.ReadFile("/proc/" + strings.TrimSpace(string(b)) + "/status")
	if err == nil && !strings.Contains(string(status), "State:\tZ") {
		t.Errorf("what it started still runs:\n%s", status)
	}
}

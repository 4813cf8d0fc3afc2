package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/locale"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/notify"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
	"github.com/flowrun/flowrun/registry"
)

// branch fails in one branch, while another waits.
const branch = `
name: branch
description: Asks
steps:
  - name: pay
    approve: Paid?
    continue-on-error: true
  - name: ask
    approve: Ship?
    parallel: true
  - name: end
    approve: All done?
    wait-for: [pay, ask]
`

// TestOutcomes holds what people are notified of at the end of a run: a failure once, when it happens.
func TestOutcomes(t *testing.T) {
	waits := recordedtest.Answered(t, history.NewMemory(), strings.Replace(branch, "    continue-on-error: true\n", "", 1), map[string]bool{"pay": false})
	if waits.Info.Status != dag.Waiting || failedSteps(waits.Result()) != 1 {
		t.Fatal(waits.Info.Status)
	}
	steps := func(states ...dag.Status) (list []runresult.StepResult) {
		for i, s := range states {
			list = append(list, runresult.StepResult{ID: fmt.Sprint("s", i), Status: s})
		}
		return list
	}
	for _, c := range []struct {
		name   string
		end    RunEnd
		before dag.Status
		want   string
	}{
		{"succeeded", RunEnd{Result: &runresult.Result{Status: dag.Succeeded}}, dag.Succeeded, "success"},
		{"recovered", RunEnd{Result: &runresult.Result{Status: dag.Succeeded}}, dag.TimedOut, "recovery"},
		{"failed", RunEnd{Result: &runresult.Result{Status: dag.Failed, Steps: steps(dag.Failed)}}, dag.Succeeded, "failure"},
		{"failed, and is retried", RunEnd{Result: &runresult.Result{Status: dag.Failed, Steps: steps(dag.Failed), RetryAt: time.Now()}}, dag.Succeeded, ""},
		{"waits", RunEnd{Result: &runresult.Result{Status: dag.Waiting, Steps: steps(dag.Succeeded, dag.Waiting)}}, dag.Pending, "waiting"},
		{"fails and waits", RunEnd{Result: &runresult.Result{Status: dag.Waiting, Steps: steps(dag.TimedOut, dag.Waiting)}}, dag.Pending, "waiting failure"},
		{"tolerated and waits", RunEnd{Result: &runresult.Result{Status: dag.Waiting, Steps: steps(dag.Failed, dag.Waiting), Tolerated: []string{"s0"}}}, dag.Pending, "waiting"},
		{"waits again", RunEnd{Result: &runresult.Result{Status: dag.Waiting, Steps: steps(dag.Failed, dag.Waiting)}, Resumed: waits}, dag.Pending, "waiting"},
		{"fails as it was told", RunEnd{Result: &runresult.Result{Status: dag.Failed, Steps: steps(dag.Failed)}, Resumed: waits}, dag.Pending, ""},
		{"fails once more", RunEnd{Result: &runresult.Result{Status: dag.Failed, Steps: steps(dag.Failed, dag.Failed)}, Resumed: waits}, dag.Pending, "failure"},
		{"interrupted", RunEnd{Result: &runresult.Result{Status: dag.Interrupted}}, dag.Pending, ""},
		{"disk full", RunEnd{Result: &runresult.Result{Status: dag.Interrupted}, Err: os.ErrPermission}, dag.Pending, "failure: permission denied"},
		{"taken over", RunEnd{Result: &runresult.Result{Status: dag.Interrupted}, Err: fmt.Errorf("x: %w", history.ErrFenced)}, dag.Pending, ""},
		{"released", RunEnd{Result: &runresult.Result{Status: dag.Interrupted}, Err: dag.ErrReleased}, dag.Pending, ""},
	} {
		var got []string
		for _, o := range c.end.outcomes(c.before) {
			word := string(o.Event)
			if o.Result.Message != "" {
				word += ": " + o.Result.Message
			}
			got = append(got, word)
		}
		if strings.Join(got, " ") != c.want || c.end.Result.Message != "" {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
	}
}

// TestPreviousStatus: a run recovers from the run of the same tool before it, or from its own failure before it was resumed.
func TestPreviousStatus(t *testing.T) {
	s := history.NewMemory()
	run := func(name string, answers map[string]bool) *engine.RecordedRun {
		return recordedtest.Answered(t, s, strings.Replace(branch, "name: branch", "name: "+name, 1), answers)
	}
	yes, no := map[string]bool{"pay": true, "ask": true, "end": true}, map[string]bool{"pay": true, "ask": true, "end": false}
	failed := run("a", no)
	run("a", nil) // it waits, and says nothing of the tool
	run("b", yes)
	last := run("a", yes)
	for _, c := range []struct {
		name  string
		end   RunEnd
		store history.Store
		want  dag.Status
	}{
		{"before", RunEnd{Result: last.Result()}, s, dag.Failed},
		{"not recorded yet", RunEnd{Result: &runresult.Result{ID: "new", Tool: "a"}}, s, dag.Succeeded},
		{"first", RunEnd{Result: &runresult.Result{ID: "new", Tool: "c"}}, s, dag.Pending},
		{"no history", RunEnd{Result: last.Result()}, nil, dag.Pending},
		{"resumed", RunEnd{Result: last.Result(), Resumed: failed}, nil, dag.Failed},
	} {
		if got := c.end.previousStatus(c.store); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestRecoveryOverAttempts: the attempts of a run that nobody was notified of are no failures to recover from.
func TestRecoveryOverAttempts(t *testing.T) {
	s := history.NewMemory()
	run := func(id, retryOf string, attempt int, automatic bool, status dag.Status, retried bool) {
		t.Helper()
		l, err := s.Begin(t.Context(), &history.Record{ID: id, Tool: "job", RetryOf: retryOf, Attempt: attempt, Automatic: automatic, Created: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		e := dag.Event{V: dag.EventVersion, Seq: 1, Run: id, Kind: dag.RunFinished, Time: time.Now(), Result: &dag.Result{Status: status}}
		if retried {
			e.Due = time.Now()
		}
		if err := errors.Join(l.Append(t.Context(), []dag.Event{e}), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
	run("before", "", 0, false, dag.Succeeded, false)
	run("first", "", 0, false, dag.Failed, true)
	run("second", "first", 2, true, dag.TimedOut, true)
	run("third", "second", 3, true, dag.Failed, false)
	last := RunEnd{Result: &runresult.Result{ID: "third", Tool: "job", Attempt: 3}}
	if got := last.previousStatus(s); got != dag.Succeeded {
		t.Errorf("before the first attempt the tool %s", got)
	}
	run("person", "third", 4, false, dag.Succeeded, false)
	last.Result = &runresult.Result{ID: "person", Tool: "job", Attempt: 4}
	if got := last.previousStatus(s); got != dag.Failed {
		t.Errorf("before the retry of a person the tool %s", got)
	}
}

// TestNotificationRules: the rules of the tool come first, and know how its steps are confined.
func TestNotificationRules(t *testing.T) {
	p := recordedtest.Plan(t, `
description: Asks
security: {execution-privilege: reduced}
notify:
  - {on: [failure], command: "notify-send own"}
steps:
  - name: ask
    approve: Sure?
`)
	c := &config.Config{Values: []config.Value{}}
	rules := NotificationRules(p, c, true)
	if len(rules) != 1 || rules[0].Command != "notify-send own" || !rules[0].Reduced || rules[0].Contained || !rules[0].Enforced {
		t.Errorf("%+v", rules)
	}
	rules = append(rules, notify.Rule{Command: "log all", On: []notify.Event{notify.Always}})
	want := []NotificationJSON{{By: "command notify-send", On: []notify.Event{notify.Failure}}, {By: "command log", Command: "log all", On: []notify.Event{notify.Always}}}
	if diff := cmp.Diff(want, NotificationsJSON(rules, 1)); diff != "" {
		t.Error(diff)
	}
	if got := NotificationRules(nil, c, false); got != nil {
		t.Errorf("without a plan: %+v", got)
	}
}

// TestRefusalTexts: the settings add to a refusal, and its language is that of the person.
func TestRefusalTexts(t *testing.T) {
	c := &config.Config{Values: []config.Value{{Key: "refusals.hint", Value: "Ask Ann."}, {Key: "refusals.documentation-link", Value: "https://x"}}}
	for language, want := range map[locale.Language][2]string{
		locale.English: {"no A", "Give A. Ask Ann."},
		locale.German:  {": no A", ". Give A. Ask Ann."},
	} {
		r := &registry.Refusal{Message: "no A", Hint: "Give A."}
		for _, f := range RefusalTexts(c, language) {
			f("deploy", r)
		}
		if !strings.HasSuffix(r.Message, want[0]) || !strings.HasSuffix(r.Hint, want[1]) || r.DocumentationLink != "https://x" || (language == locale.German) != strings.Contains(r.Hint, "deploy") {
			t.Errorf("%s: %+v", language, r)
		}
	}
}

// TestMeasureDue: the size of the history is measured at most once in an interval, whatever the clock did.
func TestMeasureDue(t *testing.T) {
	stamp := filepath.Join(t.TempDir(), "stamp")
	for _, c := range []struct {
		age  time.Duration
		want bool
	}{{-1, true}, {time.Second, false}, {measureInterval + time.Minute, true}, {-time.Hour, true}} {
		if c.age != -1 {
			at := time.Now().Add(-c.age)
			if err := os.Chtimes(stamp, at, at); err != nil {
				t.Fatal(err)
			}
		}
		if got := measureDue(stamp); got != c.want {
			t.Errorf("%v: %v", c.age, got)
		}
	}
	if measureDue(stamp) {
		t.Error("the stamp is not renewed")
	}
	if err := errors.Join(os.Remove(stamp), os.Mkdir(stamp, 0o700), os.Chtimes(stamp, time.Time{}, time.Unix(1, 0))); err != nil || measureDue(stamp) {
		t.Errorf("measured at every run where no stamp can be written: %v", err)
	}
}

// TestSettingsOfEngine holds which of flag, setting and default applies.
func TestSettingsOfEngine(t *testing.T) {
	c := &config.Config{Values: []config.Value{{Key: "limits.max-parallel", Value: int64(3)}, {Key: "security.enforce", Value: "never"}}}
	if got := []int{Parallel(c, 2), Parallel(c, 0), Parallel(&config.Config{}, 0)}; !cmp.Equal(got, []int{2, 3, dag.DefaultParallel()}) {
		t.Error(got)
	}
	if got := Enforcement(c); got != "" {
		t.Errorf("never is %q", got)
	}
	if got := []string{ToolDir(""), ToolDir("/s")}; !cmp.Equal(got, []string{"", filepath.Join("/s", "tools")}) {
		t.Error(got)
	}
}

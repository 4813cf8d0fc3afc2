package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// userTab adds a user to the main service, and returns a tab that is signed in as that user.
func userTab(t *testing.T, name, role string) *tab {
	t.Helper()
	token, err := main.flowrun("user", "add", name, "--role", role)
	if err != nil {
		t.Fatal(err)
	}
	return signInAs(t, main, token)
}

// actions are the names of buttons that change something.
const actions = `[...document.querySelectorAll('main button, main input[type=checkbox]')].map((e) => e.getAttribute('aria-label') || e.innerText).filter((n) => /^(Cancel|Resume|Retry|Approve|Reject|Run|Start|Pause|Save|Select)/.test(n))`

// A viewer sees everything and no action. The API refuses the actions too.
func TestViewer(t *testing.T) {
	t.Parallel()
	b := userTab(t, "vera", "viewer")
	b.has("vera")
	b.expect("403")
	b.expect("404")
	for _, path := range pages() {
		b.goTo(path)
		b.settled()
		if got := eval[[]string](b, actions); len(got) > 0 {
			t.Errorf("%s shows %q", path, got)
		}
	}
	for path, body := range map[string]string{"/runs": `{"tool": "nothing"}`, "/runs/" + runs["slow"] + "/cancel": "{}", "/runs/" + runs["deploy"] + "/retry": "{}", "/runs/" + runs["deploy"] + "/resume": "{}",
		"/runs/" + runs["release"] + "/approve": "{}", "/runs/" + runs["release"] + "/reject": "{}", "/schedules/nightly/pause": "{}"} {
		if got := eval[float64](b, `fetch('/api/v1`+path+`', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '`+body+`'}).then((r) => r.status)`); got != 403 {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// An operator acts, and the audit log names the operator.
func TestOperator(t *testing.T) {
	t.Parallel()
	b := userTab(t, "otto", "operator")
	id := began(t, "gated", map[string]any{"FILE": "/nonexistent"}, "running")
	b.goTo("/runs/" + id)
	b.click("Cancel")
	b.click("Cancel the run")
	if err := main.await(id, "cancelled"); err != nil {
		t.Fatal(err)
	}
	waits := began(t, "release", nil, "waiting")
	b.goTo("/runs/" + waits)
	b.fill("VERSION", "2")
	b.click("Approve")
	b.click("Yes, approve")
	if err := main.await(waits, "succeeded"); err != nil {
		t.Fatal(err)
	}
	started := eval[string](b, `fetch('/api/v1/runs', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"tool": "nothing"}'}).then((r) => r.json()).then((r) => r.id)`)
	log, err := main.flowrun("history", "audit", "--limit", "0")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"otto cancel " + id, "otto answer " + waits, "otto start " + started} {
		found := false
		for _, line := range strings.Split(log, "\n") {
			found = found || strings.Contains(strings.Join(strings.Fields(line), " "), want)
		}
		if !found {
			t.Errorf("the audit log has no %q:\n%s", want, log)
		}
	}
	if eval[bool](b, `[...document.querySelectorAll('nav a')].some((a) => a.innerText === 'Audit')`) {
		t.Error("an operator is led to the audit log")
	}
	admin := open(t, main)
	admin.click("Audit")
	admin.do(chromedp.SendKeys(chromedp.CSS("input[aria-label=Person]"), "otto\r"))
	const entries = `[...document.querySelectorAll('table.audit tbody tr')].map((r) => r.innerText.replace(/\s+/g, ' '))`
	admin.until(entries + `.length >= 3 && ` + entries + `.every((r) => r.includes('otto'))`)
	admin.click("answer")
	admin.until(entries + `.length === 1 && ` + entries + `[0].includes('` + waits + ` gate: approved')`)
	admin.click(waits)
	admin.until(`location.pathname === '/runs/` + waits + `'`)
	admin.goToText("/audit?action=prune&who=otto", "Nothing matches these filters.")
}

// A user who is removed is out at once, also in a tab that is open.
func TestRemovedUser(t *testing.T) {
	t.Parallel()
	b := userTab(t, "rita", "admin")
	b.goTo("/runs")
	b.expect("401")
	if _, err := main.flowrun("user", "remove", "rita"); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(main.url + "/tools"))
	b.until(`location.pathname === '/login'`)
}

// A read-only service shows no actions, not even to its owner, and refuses them. A service that
// stops and starts again is noticed by the page, which continues: nobody has to sign in again.
func TestReadOnlyAndRestart(t *testing.T) {
	t.Parallel()
	s, err := startService(filepath.Join(t.TempDir(), "service"), "tools", "--read-only")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.stop() }()
	failed, err := s.startRun("deploy", map[string]any{"TARGET": "x"}) // over the socket
	if err == nil {
		err = s.await(failed, "failed")
	}
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, s)
	b.expect("403")
	b.has("read-only")
	for _, path := range []string{"/", "/runs", "/runs/" + failed, "/runs/" + failed + "/logs", "/tools", "/schedules", "/waiting"} {
		b.goTo(path)
		b.settled()
		if got := eval[[]string](b, actions); len(got) > 0 {
			t.Errorf("%s shows %q", path, got)
		}
	}
	if got := eval[string](b, `fetch('/api/v1/runs', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"tool": "nothing"}'}).then((r) => r.json()).then((r) => r.error.code)`); got != "read-only" {
		t.Errorf("the answer is %s", got)
	}
	b.goTo("/runs")
	b.expect("ERR_")
	s.stop()
	b.has("The connection to the service is lost")
	if err := s.start(strings.TrimPrefix(s.url, "http://"), "--read-only"); err != nil {
		t.Fatal(err)
	}
	b.until(`!document.querySelector('.offline') && location.pathname === '/runs'`)
	b.goTo("/runs/" + failed)
	b.has("step test failed")
}

// Two tabs of the same browser show the same.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	a := open(t, main)
	id := began(t, "gated", map[string]any{"FILE": "/nonexistent"}, "running")
	b := a.second()
	a.goTo("/runs/" + id)
	b.goTo("/runs/" + id)
	a.click("Cancel")
	a.click("Cancel the run")
	for _, tab := range []*tab{a, b} {
		tab.until(`document.querySelector('.page-head').innerText.includes('cancelled')`)
	}
}

// When the connection breaks, the page says so, and afterwards nothing is missing.
func TestOfflineAndBack(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "open")
	id := began(t, "gated", map[string]any{"FILE": gate}, "running")
	line := newWire(t, main)
	b := open(t, line.service())
	b.expect("ERR_")
	b.goTo("/runs/" + id + "/events")
	b.has("step.started")
	line.cut()
	b.has("The connection to the service is lost")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := main.await(id, "succeeded"); err != nil {
		t.Fatal(err)
	}
	line.join()
	b.has("run.finished")
	b.until(`!document.body.innerText.includes('The connection to the service is lost')`)
	want := eval[[]float64](b, `fetch('/api/v1/runs/`+id+`/events').then((r) => r.text()).then((t) => [...t.matchAll(/^id: (\d+)/gm)].map((m) => Number(m[1])))`)
	got := eval[[]float64](b, `[...document.querySelectorAll('.event-row .seq')].map((e) => Number(e.innerText))`)
	if len(got) != len(want) || len(want) < 6 {
		t.Errorf("the page shows the events %v, not %v", got, want)
	}
}

package browsertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// facts are what the API and the commands say of a run or a step.
type facts struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	Started    string `json:"started"`
	Ended      string `json:"ended"`
	LastSign   string `json:"last_sign"`
	DurationMS int    `json:"duration_ms"`
	WaitedMS   int    `json:"waited_ms"`
	IdleMS     int    `json:"idle_ms"`
}

type runFacts struct {
	facts
	Steps []facts `json:"steps"`
}

// words are functions for the words of a page, for numbers and times of documents.
const words = `function took(ms) { return ms < 1000 ? ms + ' ms' : ms < 60000 ? (ms / 1000).toFixed(ms < 10000 ? 1 : 0) + ' s' : 'long'; }
	function spent(f) { const parts = [f.waited_ms >= 50 && took(f.waited_ms) + ' waiting', f.idle_ms >= 50 && took(f.idle_ms) + ' not running'].filter(Boolean).join(' and '); return took(f.duration_ms) + (parts && ', of which ' + parts); }
	function clock(t) { return new Intl.DateTimeFormat('sv-SE', {dateStyle: 'short', timeStyle: 'medium', timeZone: 'America/New_York'}).format(new Date(t)); }
	function fact(name) { return [...document.querySelectorAll('.run-head dt')].find((d) => d.innerText === name)?.nextSibling.innerText ?? ''; }
	`

// A run that waited for a person, one that was killed, one that was resumed after it was killed and one that failed have the
// same states, durations and times on the page, in the API and in the commands, whatever the zone of the browser is.
func TestSameFacts(t *testing.T) {
	s, err := startService(t.TempDir(), "tools")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	waited, err := s.startRun("release", nil)
	must(err)
	must(s.await(waited, "waiting"))
	killed := func(file string) string {
		c := s.command("run", "gated", "FILE="+file)
		must(c.Start())
		id := ""
		for id == "" {
			doc, err := s.call("GET", "/api/v1/runs?tool=gated&status=running", nil)
			must(err)
			for _, r := range doc["runs"].([]any) {
				id = r.(map[string]any)["id"].(string)
			}
		}
		for n := 0; n == 0; { // until its second step has begun
			text, err := s.flowrun("events", id)
			must(err)
			n = strings.Count(text, `"node":"wait"`)
		}
		must(c.Process.Kill())
		_ = c.Wait()
		must(s.await(id, "interrupted"))
		return id
	}
	file := filepath.Join(s.dir, "open")
	left, resumed := killed(filepath.Join(s.dir, "never")), killed(file)
	failed, err := s.startRun("deploy", map[string]any{"TARGET": "staging"})
	must(err)
	must(s.await(failed, "failed"))
	must(os.WriteFile(file, nil, 0o600))
	_, err = s.flowrun("resume", resumed, "--rerun-interrupted")
	must(err)
	_, err = s.call("POST", "/api/v1/runs/"+waited+"/approve", map[string]any{"step": "gate", "values": map[string]any{"VERSION": "1"}})
	must(err)
	must(s.await(waited, "succeeded"))

	b := open(t, s)
	if _, err := chromedp.Call(b.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/New_York"}); err != nil {
		t.Fatal(err)
	}
	for id, status := range map[string]string{waited: "succeeded", left: "interrupted", resumed: "succeeded", failed: "failed"} {
		var api, cli runFacts
		doc, err := s.call("GET", "/api/v1/runs/"+id, nil)
		must(err)
		text, err := json.Marshal(doc)
		must(err)
		must(json.Unmarshal(text, &api))
		shown, err := s.flowrun("show", id, "-o", "json")
		must(err)
		must(json.Unmarshal([]byte(shown), &cli))
		a, _ := json.Marshal(api)
		c, _ := json.Marshal(cli)
		if string(a) != string(c) || api.Status != status {
			t.Errorf("the API says\n%s, the command\n%s", a, c)
		}
		if id == resumed && api.IdleMS == 0 || id == waited && api.WaitedMS == 0 {
			t.Errorf("run %s did not wait or rest: %s", id, a)
		}
		b.goTo("/runs/" + id + "/steps")
		b.until(`document.querySelector('.step-row')`)
		wrong := b.remaining(`(() => { ` + words + `const run = ` + string(a) + `, wrong = [], same = (what, page, want) => { if (page !== want) wrong.push(what + ': the page says ' + page + ', the API ' + want); };
			same('status', document.querySelector('.page-head .status').innerText, run.status);
			same('duration', fact('Duration'), spent(run));
			same('started', fact('Started').replace(/ \(.*/, ''), clock(run.started));
			same('last sign', fact('Last sign of life'), run.last_sign ? clock(run.last_sign) : '');
			for (const s of run.steps) {
				const row = [...document.querySelectorAll('.step-row')].find((r) => r.querySelector('a').title === s.id);
				same(s.id, row && row.querySelector('.sr-only').innerText.replace(', ', '') + ' ' + row.querySelector('.number').innerText, s.status + ' ' + (s.started ? took(s.duration_ms) : ''));
			}
			return wrong; })()`)
		for _, step := range api.Steps {
			if step.Started == "" {
				continue
			}
			b.goTo("/runs/" + id + "/graph?step=" + step.ID)
			b.until(`document.querySelector('.panel dl')`)
			f, _ := json.Marshal(step)
			wrong = append(wrong, b.remaining(`(() => { `+words+`const step = `+string(f)+`, is = (name) => [...document.querySelectorAll('.panel dt')].find((d) => d.innerText === name)?.nextSibling.innerText;
				return [is('Took') === spent(step) || step.id + ' took ' + is('Took') + ', in the API ' + spent(step), is('Started') === clock(step.started) || step.id + ' started ' + is('Started')].filter((x) => x !== true); })()`)...)
		}
		for _, w := range wrong {
			t.Errorf("run %s (%s): %s", id, status, w)
		}
	}
}

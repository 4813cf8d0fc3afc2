package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run starts from the form of its tool. The browser checks the constraints of the parameters.
func TestStartFromForm(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/tools")
	b.click("report")
	b.until(`location.pathname === '/tools/report'`)
	b.goTo("/tools/report/run")
	b.until(`document.querySelector('#param-NAME')`)
	b.click("Run")
	const submit = `document.querySelector('.run-form button[type=submit]')`
	b.clickOn(submit)
	b.until(`document.querySelector('#param-NAME:invalid')`)
	b.fill("NAME", "Grace <b>")
	b.fill("FORMAT", "html")
	b.clickOn(submit)
	b.until(`location.pathname.startsWith('/runs/1')`)
	id := strings.TrimPrefix(eval[string](b, `location.pathname`), "/runs/")
	if err := main.await(id, "succeeded"); err != nil {
		t.Fatal(err)
	}
	b.goTo("/runs/" + id + "/logs?step=write")
	b.has("Grace <b>: 40 lines as html")
	b.goTo("/tools/report/run?from=" + id)
	b.until(`document.querySelector('#param-NAME')?.value === 'Grace <b>' && document.querySelector('#param-FORMAT').value === 'html'`)
}

// A value that the service refuses is reported at its field.
func TestWrongValue(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.expect("422")
	b.goTo("/tools/deploy/run")
	b.fill("TARGET", "-rf") // it would be an option
	b.clickOn(`document.querySelector('.run-form button[type=submit]')`)
	b.until(`document.querySelector('.field.bad')?.innerText.includes('TARGET')`)
}

// The dry run shows what would run, and starts nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/tools/deploy/run")
	b.fill("TARGET", "dry-target-1")
	b.click("Dry run")
	b.has("echo uploaded to")
	b.until(`document.querySelector('main').innerText.includes('dry-target-1')`)
	b.goTo("/runs?q=TARGET%3Ddry-target-1")
	b.has("No run matches these filters.")
}

// The catalogue is searched and filtered by the address.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/tools?q=release")
	b.until(`document.querySelectorAll('table.tools tbody tr').length === 1`)
	b.goTo("/tools?tags=figures")
	b.until(`document.querySelectorAll('table.tools tbody tr').length === 1`)
	b.has("report")
}

// The history of a tool shows its last runs by step.
func TestToolHistory(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/tools/deploy/history")
	b.has("Durations by step")
	b.until(`document.querySelectorAll('table.history-grid tbody tr').length >= 3`)
}

// Models see the tool as the page says.
func TestSchema(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/tools/report/schema")
	b.has("As models see it")
	b.has("Who asks")
}

// A schedule is paused, resumed, run now, and run for past days.
func TestSchedules(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/schedules")
	b.has("nightly")
	b.has("Europe/Berlin")
	b.click("Pause nightly")
	b.has("paused")
	b.click("Resume nightly")
	b.until(`!document.querySelector('table.schedules').innerText.includes('paused')`)
	b.click("Run now: nightly")
	b.has("The run does not count as one of the schedule")
	b.clickOn(`document.querySelector('dialog .primary')`)
	b.has("has started")
	b.goTo("/schedules?schedule=nightly")
	b.click("Backfill")
	b.has("without a run, oldest first")
	b.until(`document.querySelectorAll('.backfill-times li').length >= 7`)
	b.clickOn(`[...document.querySelectorAll('dialog .primary')].find((e) => /^Start \d+ runs$/.test(e.innerText))`)
	b.has("The backfill starts")
	b.until(`document.querySelector('.past').innerText.includes('succeeded')`)
}

// A broken definition is reported beside the text while somebody types, and cannot be saved. A valid
// one is saved after its changes were shown, and the next run uses it.
func TestEditor(t *testing.T) {
	t.Parallel()
	s, err := startService(filepath.Join(t.TempDir(), "service"), "tools")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop() })
	readOnly := open(t, s)
	readOnly.goToText("/edit/loop", "Read-only: the project is not trusted")
	readOnly.expect("net::ERR_CONNECTION_REFUSED") // the page may not have connected yet
	s.stop()
	if _, err := s.flowrun("trust"); err != nil {
		t.Fatal(err)
	}
	if err := s.start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	b := open(t, s)
	b.goTo("/edit/loop")
	const area = `document.querySelector('textarea[aria-label=Definition]')`
	b.until(area)
	write := func(js string) {
		eval[bool](b, `(() => { const a = `+area+`; Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(a, a.value.`+js+`); a.dispatchEvent(new Event('input', {bubbles: true})); return true; })()`)
	}
	save := `[...document.querySelectorAll('button')].find((x) => x.innerText.startsWith('Save'))`
	write(`replace('bash: echo', 'bsh: echo')`)
	b.has("did you mean")
	b.until(save + `.disabled`)
	write(`replace('bsh: echo', 'bash: echo changed')`)
	b.until(`!` + save + `.disabled`)
	b.clickOn(save)
	b.until(`document.querySelector('dialog .diff')?.innerText.includes('echo changed')`)
	b.clickOn(`document.querySelector('dialog .primary')`)
	b.until(`!document.querySelector('dialog[open]')`)
	file := filepath.Join(s.dir, ".flowrun", "tools", "loop.yaml")
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "echo changed") {
		t.Fatalf("%s %v", text, err)
	}

	// Somebody else changes the file meanwhile.
	b.expect("409")
	write(`replace('echo changed', 'echo mine')`)
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "echo changed", "echo theirs", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	b.until(`!` + save + `.disabled`)
	b.clickOn(save)
	b.until(`document.querySelector('dialog .primary')`)
	b.clickOn(`document.querySelector('dialog .primary')`)
	b.has("Discard my text and read the file again")
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), "echo theirs") {
		t.Errorf("the file is %s", text)
	}
}

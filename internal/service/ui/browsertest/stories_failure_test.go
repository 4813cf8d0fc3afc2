package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// A failed run opens on what a person wants to know: which step, what it printed last, and how often the tool fails.
func TestWhyItFailed(t *testing.T) {
	t.Parallel()
	id := began(t, "deploy", map[string]any{"TARGET": "again"}, "failed")
	b := open(t, main)
	b.do(chromedp.EmulateViewport(800, 900))
	b.goTo("/runs/" + id)
	for _, text := range []string{"step test failed", "exit code 3", "2 attempts", "FAIL: connection refused", "runs failed", "in a row", "What has changed"} {
		b.until(`document.querySelector('.failure')?.innerText.includes("` + text + `")`)
	}
	b.clickOn(`[...document.querySelectorAll('.failure-lines a')].find((a) => a.innerText.includes('FAIL'))`)
	b.until(`location.pathname.endsWith('/logs') && new URLSearchParams(location.search).get('stream') === 'stderr' && document.querySelector('.log-line.marked')?.innerText.includes('FAIL')`)
	b.click("Retry from here")
	b.has("Retry from test")
}

// The first view is that of the run's state: the log of a run with one step, the timeline of one that is running.
func TestFirstView(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	for tool, view := range map[string]string{"keeps": "Logs", "deploy": "Graph", "report": "Graph"} {
		b.goTo("/runs/" + runs[tool])
		b.until(`document.querySelector('.tabs [aria-current]')?.innerText.startsWith("` + view + `")`)
	}
}

// The palette finds pages, tools and runs from every page.
func TestPalette(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/locks")
	b.until(`document.activeElement?.getAttribute('role') === 'combobox' || !dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true})) && false`) // again until the page listens
	b.do(chromedp.KeyEvent("run keeps"))
	b.until(`document.querySelector('.palette [aria-selected=true]')?.innerText.includes('Run keeps')`)
	b.do(chromedp.KeyEvent("\r"))
	b.until(`location.pathname === '/tools/keeps/run'`)
}

// The number of questions is in the navigation, the title and the icon of every page, soon after a question came.
func TestInbox(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/locks")
	b.until(`/^\(\d+\) Locks/.test(document.title) && document.querySelector('link[rel=icon]').href.includes('waiting')`)
	before := eval[int](b, `Number(document.querySelector('.sidebar .badge').innerText.match(/\d+/)[0])`)
	began(t, "release", nil, "waiting")
	b.until(`Number(document.querySelector('.sidebar .badge').innerText.match(/\d+/)[0]) > ` + itoa(before))
}

// Addresses without a page have a way home.
func TestWrongAddresses(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.expect("404")
	b.goToText("/nope", "There is no page at this address.")
	b.clickOn(`[...document.querySelectorAll('main a')].find((a) => a.innerText === 'Home')`)
	b.until(`location.pathname === '/'`)
	b.goToText("/tools/nosuch", "All tools")
	if eval[bool](b, `[...document.querySelectorAll('main a, main button')].some((e) => ['Edit', 'Run', 'Overview'].includes(e.innerText))`) {
		t.Error("a tool that does not exist has tabs or actions")
	}
	b.goTo("/runs/1m80yahhymcge")
	if eval[bool](b, `document.body.innerText.includes('/api/v1/')`) {
		t.Error("a person reads the route of the API")
	}
}

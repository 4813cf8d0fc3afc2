package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestThreeClicks counts the clicks from Home to what people look for most, in a window of 800 px. Only
// what a mouse can reach counts as clicked: it is inside the window, and nothing covers it.
func TestThreeClicks(t *testing.T) {
	t.Parallel()
	const most = 3
	began(t, "deploy", map[string]any{"TARGET": "clicks"}, "failed")
	kept, asks := began(t, "keeps", nil, "succeeded"), began(t, "release", nil, "waiting")
	in := func(selector, text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(%q)].find((e) => (e.getAttribute('aria-label') ?? e.innerText).trim().startsWith(%q))`, selector, text)
	}
	failed := `[...document.querySelectorAll('main a[href^="/runs/1"]')].find((e) => e.innerText.includes('deploy'))`
	question := `[...document.querySelectorAll('section.question')].find((q) => q.innerText.includes('` + asks + `'))`
	for name, story := range map[string]func(c *clicks){
		"why a run failed": func(c *clicks) {
			c.on(failed)
			c.until(`document.querySelector('.failure')?.innerText.includes('FAIL: connection refused')`)
		},
		"what has changed since it last succeeded": func(c *clicks) {
			c.on(failed)
			c.on(in("main a, main button", "What has changed"))
			c.until(`location.pathname.endsWith('/changes')`)
			c.has("No run of deploy before this one succeeded")
		},
		"the artifacts of a run": func(c *clicks) {
			c.on(in("nav a", "Runs"))
			c.on(in("main a", "Artifacts of run "+kept))
			c.has("table.csv")
		},
		"answer a question": func(c *clicks) {
			c.on(in("nav a", "Waiting"))
			c.until(question)
			c.fillIn(question+`.querySelector('input:not([type=file]), textarea')`, "3.10")
			c.on(question + `?.querySelector('.primary')`)
			c.on(in("button", "Yes, approve"))
			c.until(`!document.body.innerText.includes('` + asks + `')`)
		},
		"start with a list and a long text": func(c *clicks) {
			c.on(in("nav a", "Tools"))
			c.on(in("main a, main button", "Run keeps"))
			c.fill("TEXT", "one\ntwo")
			c.fill("HOSTS", "a, b")
			c.on(`document.querySelector('.form button[type=submit]')`)
			c.until(`/^\/runs\/1/.test(location.pathname)`)
		},
		"the next times of a schedule": func(c *clicks) {
			c.on(in("nav a", "Schedules"))
			c.until(`document.querySelector('table.schedules')?.innerText.includes('nightly')`)
		},
	} {
		c := &clicks{tab: open(t, main)}
		c.do(chromedp.EmulateViewport(800, 900))
		story(c)
		t.Logf("%s: %d clicks", name, c.n)
		if c.n > most {
			t.Errorf("%s takes more than %d clicks", name, most)
		}
	}
}

// clicks is a tab whose clicks are counted.
type clicks struct {
	*tab
	n int
}

func (c *clicks) on(element string) {
	c.Helper()
	c.point(element)
	c.n++
}

// point clicks the middle of an element with the mouse, as soon as it is there, nothing covers it, and the page is settled.
func (b *tab) point(element string) {
	b.Helper()
	const at = `((e) => { if (!e || e.disabled) return []; e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(), x = r.left + r.width / 2, y = r.top + r.height / 2; return e.contains(document.elementFromPoint(x, y)) ? [x, y] : []; })`
	b.until(at + `(` + element + `).length`)
	b.settled()
	place := eval[[]float64](b, at+`(`+element+`)`)
	if len(place) != 2 {
		b.Fatalf("%s has moved\nthe page shows: %s", element, b.shown())
	}
	b.do(chromedp.MouseClickXY(place[0], place[1]))
}

package browsertest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The graph of a run shows the state of its steps, and a chosen step is in the address.
func TestGraph(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"] + "/graph")
	b.until(`document.querySelector('#node-test.s-failed') && document.querySelector('#node-build.s-succeeded') && document.querySelector('#node-upload.s-skipped')`)
	eval[bool](b, `document.querySelector('#node-test').dispatchEvent(new MouseEvent('click', {bubbles: true}))`)
	b.until(`new URLSearchParams(location.search).get('step') === 'test' && document.querySelector('#node-test.selected')`)
	b.goTo("/runs/" + runs["deploy"] + "/graph?step=upload")
	b.until(`document.querySelector('#node-upload.selected')`)
}

// Arrow keys walk along the edges, and Enter opens the log.
func TestGraphKeys(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"] + "/graph?step=build")
	b.until(`document.querySelector('#node-build.selected')`)
	b.do(chromedp.Focus(chromedp.CSS(".graph-box")))
	b.press(kb.ArrowDown)
	b.until(`document.querySelector('#node-test.selected')`)
	b.press(kb.ArrowDown)
	b.until(`document.querySelector('#node-upload.selected')`)
	b.press(kb.ArrowUp)
	b.until(`document.querySelector('#node-test.selected')`)
	b.press(kb.Enter)
	b.until(`location.pathname.endsWith('/logs') && location.search.includes('step=test')`)
	b.press("f") // one key leads to the graph from every view
	b.until(`location.pathname.endsWith('/graph') && document.activeElement?.classList.contains('graph-box')`)
}

// A graph of 2,000 steps shows at once, can be searched, and stays usable.
func TestLargeGraph(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["many"])
	b.has("2,000 steps")
	start := time.Now()
	b.goTo("/runs/" + runs["many"] + "/graph")
	b.until(`document.querySelector('.graph-svg .node, .graph-svg path')`)
	t.Logf("the graph of %d steps is there after %v", manySteps, time.Since(start))
	b.do(chromedp.SendKeys(chromedp.CSS(`[aria-label="Find steps in the graph"]`), "n1999"))
	b.has("1 found")
	b.press(kb.Enter)
	b.until(`new URLSearchParams(location.search).get('step') === 'n1999' && document.querySelector('#node-n1999.selected')`)
	if n := eval[float64](b, `document.querySelectorAll('.graph-svg *').length`); n > 20000 {
		t.Errorf("the drawing has %v elements", n)
	}
	b.click("Fit")
	b.click("Zoom in")
}

// The items of a loop are one node with counts.
func TestLoopInGraph(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["loop"] + "/graph")
	b.until(`document.querySelector('#node-each.s-succeeded')`)
	b.until(`document.querySelector('#node-each').textContent.includes('4')`)
}

// The timeline has a bar for each attempt, and names the critical path.
func TestTimeline(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"] + "/timeline")
	b.has("Critical path")
	b.until(`document.querySelectorAll('.timeline-rows .bar.run').length >= 3`)
	b.until(`document.querySelectorAll('.timeline-rows .bar.retry').length >= 1`)
}

// The slider shows the run as it was, in the graph and in the address.
func TestTime(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.goTo("/runs/" + runs["deploy"] + "/graph")
	b.until(`document.querySelector('#node-test.s-failed')`)
	const slide = `(() => { const s = document.querySelector('[aria-label="Moment of the run"]'); const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set; set.call(s, '0'); s.dispatchEvent(new Event('input', {bubbles: true})); s.dispatchEvent(new Event('change', {bubbles: true})); return true; })()`
	eval[bool](b, slide)
	b.until(`new URLSearchParams(location.search).has('t')`)
	b.until(`document.querySelector('.time-bar.past') && !document.querySelector('#node-test.s-failed')`)
	address := eval[string](b, `location.pathname + location.search`)
	other := open(t, main)
	other.goTo(address)
	other.until(`document.querySelector('.time-bar.past') && document.querySelector('#node-test') && !document.querySelector('#node-test.s-failed')`)
	if !strings.Contains(address, "t=") {
		t.Error(address)
	}
	b.clickOn(`[...document.querySelectorAll('.time-bar button')].at(-1)`)
	b.until(`!new URLSearchParams(location.search).has('t') && document.querySelector('#node-test.s-failed')`)
}

package browsertest

import (
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// TestSecondFile: the first page of a visit does without the second file, a page that needs it loads it, and if it
// cannot be loaded, the page says how to go on.
func TestSecondFile(t *testing.T) {
	b := open(t, main)
	b.goToText("/", "Recently finished")
	const loaded = `performance.getEntriesByType('resource').some((e) => e.name.endsWith('/more.js'))`
	if eval[bool](b, loaded) {
		t.Error("Home loads the second file")
	}
	b.click("Schedules")
	b.until(loaded)
	b.has("All schedules")

	b.expect("more.js")
	b.expect("dynamically imported module")
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	block := func(on bool) {
		if _, err := chromedp.Call(b.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/assets/*/more.js", Block: on}}}); err != nil {
			t.Fatal(err)
		}
	}
	block(true)
	b.goTo("/")
	b.click("Tools")
	b.has("This part of the page cannot be loaded.")
	block(false)
	b.click("Reload the page")
	b.until(`location.pathname === '/tools' && !!document.querySelector('table.tools')`)
}

package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// texts returns the texts of the lines that the page shows.
const texts = `[...document.querySelectorAll('.log-line .line-text')].map((e) => e.textContent.trim()).join('|')`

// The log of a step has both streams in the order in which they were printed, with times, levels and readable JSON; that of
// the run has all steps, and finds a line of any of them.
func TestMergedLog(t *testing.T) {
	t.Parallel()
	id := began(t, "talks", nil, "succeeded")
	b := open(t, main)
	b.goTo("/runs/" + id + "/logs?step=first")
	b.until(texts + ` === 'connecting|WARN slow answer|no <202E>answer host=db1 time=2026-11-30T10:00:00Z' || ` + texts + ` === 'connecting|WARN slow answer|no <202E>answer time=2026-11-30T10:00:00Z host=db1'`)
	b.until(`document.querySelector('.log-line.err')?.innerText.includes('slow answer') && document.querySelectorAll('.log-line.err').length === 1`)
	b.until(`[...document.querySelectorAll('.line-level[role=img]')].map((e) => e.getAttribute('aria-label')).join() === 'warn,error'`)
	b.click("Raw")
	b.until(texts + `.includes('"msg"')`)
	b.click("Raw")
	b.click("Times")
	b.until(`[...document.querySelectorAll('.line-time')].filter((e) => /^\d\d:\d\d:\d\d\.\d$/.test(e.innerText)).length === 3`)
	b.click("stderr")
	b.until(texts + ` === 'WARN slow answer'`)

	b.click("All steps")
	b.until(`[...document.querySelectorAll('.line-step')].map((e) => e.innerText.trim()).filter(Boolean).join() === 'first,second'`)
	b.has("23 lines")
	b.clickOn(`document.querySelector('a.line-number[data-n="5"]')`)
	b.until(`document.querySelector('.log-line.marked[data-n="5"]')`)
	eval[bool](b, `(document.querySelector('a.line-number[data-n="7"]').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, shiftKey: true})), true)`)
	b.until(`new URLSearchParams(location.search).get('line') === '5-7' && document.querySelectorAll('.log-line.marked').length === 3`)
	eval[bool](b, `(document.querySelector('[aria-label="Search the log"]').focus(), true)`)
	b.do(chromedp.KeyEvent("ROW 2"))
	b.until(`document.querySelector('section.log [role=status]')?.innerText === '1 of 2'`)
	b.press(kb.Enter)
	b.until(`document.querySelector('.log-line.found')?.innerText.includes('row 20')`)
	b.clickOn(`[...document.querySelectorAll('.line-step a')].at(-1)`)
	b.until(`document.querySelector('[aria-label="Log of second"]')`)
}

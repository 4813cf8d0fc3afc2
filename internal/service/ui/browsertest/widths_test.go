package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// layoutProblems is a function that returns what is wrong with the layout of the page: columns that break their texts
// letter by letter, texts that are cut and do not tell their whole text under the pointer, and elements that stand outside of their box.
const layoutProblems = `function layoutProblems() {
	const bad = [], seen = (e) => e.offsetParent !== null && getComputedStyle(e).visibility !== 'hidden';
	const name = (e) => e.tagName.toLowerCase() + (e.className && typeof e.className === 'string' ? '.' + e.className.split(' ').join('.') : '') + ' "' + e.textContent.trim().slice(0, 40) + '"';
	if (document.documentElement.scrollWidth > innerWidth) bad.push('the page is wider than the window');
	for (const e of document.querySelectorAll('main td, main th')) {
		if (!seen(e) || e.clientWidth >= 96 || getComputedStyle(e).display !== 'table-cell') continue;
		const r = document.createRange();
		r.selectNodeContents(e);
		const lines = new Set([...r.getClientRects()].filter((b) => b.width > 0).map((b) => Math.round(b.top / 6)));
		if (lines.size > 3) bad.push('a narrow column breaks ' + name(e));
	}
	for (const e of document.querySelectorAll('main *, header *')) {
		if (!(e instanceof HTMLElement) || !seen(e)) continue;
		const style = getComputedStyle(e);
		if (!e.closest('.sr-only') && style.overflow !== 'visible' && style.textOverflow === 'ellipsis' && e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1) {
			e.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
			if (!e.closest('[title]:not([title=""])')) bad.push('cut without a title: ' + name(e));
		}
		const box = e.closest('.section, .question, .failure, .panel, dialog');
		if (!box || box === e || style.position === 'absolute' || style.position === 'fixed') continue;
		let within = e.parentElement, hidden = false;
		for (; within && within !== box; within = within.parentElement) hidden ||= getComputedStyle(within).overflowX !== 'visible';
		const a = e.getBoundingClientRect(), b = box.getBoundingClientRect();
		if (!hidden && a.width > 0 && (a.right > b.right + 1 || a.left < b.left - 1)) bad.push('outside of its box: ' + name(e));
	}
	return [...new Set(bad)].slice(0, 5);
}`

// TestWidths looks at every page at many widths: what is designed for a phone and for a large screen must hold between.
func TestWidths(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) {
			t.Parallel()
			b := open(t, main)
			b.expect("404")
			b.theme(theme)
			all := pages()
			all["login"] = "/login"
			for name, path := range all {
				b.do(chromedp.EmulateViewport(1280, 900))
				b.goTo(path)
				b.settled()
				for width := int64(360); width <= 1920; width += 80 {
					b.do(chromedp.EmulateViewport(width, 900))
					wrong := eval[[]string](b, layoutProblems+`; new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(layoutProblems()))))`)
					if len(wrong) > 0 {
						t.Errorf("%s, %d px:\n%s", name, width, strings.Join(wrong, "\n"))
					}
				}
			}
		})
	}
}

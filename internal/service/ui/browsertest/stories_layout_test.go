package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// The tabs of a run and of a tool stay where they are when somebody goes from one to the next.
func TestTabsStay(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	const place = `(() => { const r = document.querySelector('.tabs').getBoundingClientRect(); return [Math.round(r.left), Math.round(r.top + scrollY)].join(); })()`
	for _, width := range []int64{390, 1280} {
		b.do(chromedp.EmulateViewport(width, 900))
		for _, path := range []string{"/runs/" + runs["deploy"], "/runs/" + runs["report"], "/tools/report"} {
			b.goTo(path)
			b.until(`document.querySelector('.tabs')`)
			b.settled()
			want := eval[string](b, place)
			for i := range eval[int](b, `document.querySelectorAll('.tabs a').length`) {
				b.clickOn(fmt.Sprintf(`document.querySelectorAll('.tabs a')[%d]`, i))
				b.settled()
				if got := eval[string](b, place); got != want {
					t.Errorf("%d px: the tabs of %s are at %s, and at %s in %s", width, path, want, got, eval[string](b, `location.pathname`))
				}
			}
		}
	}
}

// No row has more than three buttons that do something; others are in a menu. A toggle shows how the page is.
func TestFewButtons(t *testing.T) {
	t.Parallel()
	b := open(t, main)
	b.expect("404")
	for _, path := range pages() {
		b.goTo(path)
		b.settled()
		if got := eval[[]string](b, `[...document.querySelectorAll('main .actions, main .row')].map((r) => [...r.children].filter((e) => e.matches('.button:not([aria-pressed])') && e.offsetParent !== null).map((e) => e.innerText)).filter((l) => l.length > 3).map((l) => l.join(', '))`); len(got) > 0 {
			t.Errorf("%s has rows of buttons: %q", path, got)
		}
	}
}

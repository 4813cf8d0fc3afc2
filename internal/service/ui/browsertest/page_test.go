package browsertest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for something.
const patience = time.Minute

// tab is a tab of the browser, with cookies of its own. What goes wrong in it fails the test: errors
// in the console, exceptions, dialogs and violations of the content security policy.
type tab struct {
	testing.TB
	ctx     context.Context
	service *service
	mu      sync.Mutex
	wrong   []string
	expects []string // parts of messages that the test causes on purpose
}

// newTab opens an empty tab that is not signed in.
func newTab(t testing.TB, s *service) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &tab{TB: t, ctx: ctx, service: s}
	t.Cleanup(func() {
		b.checkNothingWrong()
		cancel()
	})
	b.do(chromedp.EmulateViewport(1280, 800))
	if err := chromedp.Listen(ctx, b.notice); err != nil {
		t.Fatal(err)
	}
	script := watch
	if os.Getenv("FLOWRUN_TESTS") == "long" {
		script += late
		if _, err := chromedp.Call(ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 4}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		t.Fatal(err)
	}
	return b
}

// watch counts the requests in progress, and writes into the console what must not happen in any page: a violated policy,
// and a dialog that is in the page before it is open, when the page behind it can still be used.
const watch = `
var unanswered = 0;
const ask = window.fetch;
window.fetch = (...request) => { unanswered++; return ask(...request).finally(() => setTimeout(() => unanswered--)); };
addEventListener('securitypolicyviolation', (e) => console.error('policy violated: ' + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample));
new MutationObserver((changes) => {
	for (const c of changes) for (const n of c.addedNodes) for (const d of [n, ...n.querySelectorAll?.('dialog') ?? []]) if (d.nodeName === 'DIALOG' && d.isConnected && !d.open) console.error('not open: ' + d.ariaLabel);
}).observe(document, {subtree: true, childList: true});`

// late makes a page as slow as on a busy machine far from its service: frames and answers come late, and in any order.
const late = `
const frame = requestAnimationFrame, pause = (most) => new Promise((done) => setTimeout(done, Math.random() * most));
window.requestAnimationFrame = (f) => frame(() => setTimeout(f, 300));
const askSoon = window.fetch;
window.fetch = async (...request) => {
	unanswered++;
	try {
		await pause(150);
		const answer = await askSoon(...request);
		await pause(400);
		return answer;
	} finally {
		setTimeout(() => unanswered--);
	}
};`

// notice remembers what should not happen in a page.
func (b *tab) notice(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = "exception: " + e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.ConsoleAPICalledTypeError {
			return
		}
		text = "console:"
		for _, a := range e.Args {
			text += fmt.Sprintf(" %s%s", a.Value, a.Description)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level != log.EntryLevelError {
			return
		}
		text = "log: " + e.Entry.Text + " " + e.Entry.URL
	case *page.EventJavascriptDialogOpening:
		text = "dialog: " + e.Message
		go func() {
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = append(b.wrong, text)
}

// expect allows messages in the console that contain a text.
func (b *tab) expect(part string) { b.expects = append(b.expects, part) }

// checkNothingWrong fails the test for everything that went wrong in the tab so far.
func (b *tab) checkNothingWrong() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, w := range b.wrong {
		for _, part := range b.expects {
			if strings.Contains(w, part) {
				continue next
			}
		}
		b.Errorf("in the page: %s", w)
	}
	b.wrong = nil
}

// open opens a tab that is signed in as the owner of the service.
func open(t testing.TB, s *service) *tab {
	t.Helper()
	b := newTab(t, s)
	link, err := s.loginLink()
	if err != nil {
		t.Fatal(err)
	}
	_, path, _ := strings.Cut(link, "/login")
	b.do(chromedp.Navigate(s.url + "/login" + path))
	b.until(`location.pathname === '/' && !!document.querySelector('main h1')`)
	return b
}

// signInAs opens a tab that is signed in with a token.
func signInAs(t testing.TB, s *service, token string) *tab {
	t.Helper()
	b := newTab(t, s)
	b.goTo("/login")
	b.do(chromedp.SendKeys(chromedp.CSS("#token-field"), token+"\r"))
	b.until(`location.pathname === '/' && !!document.querySelector('main h1')`)
	return b
}

// do runs steps, each within the test's patience.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	for _, step := range steps {
		if err := chromedp.Do(b.ctx); err != nil { // starts the tab, whose life must not end with a timeout
			b.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		err := chromedp.Do(ctx, step)
		cancel()
		if err != nil {
			b.Fatalf("%v\nthe page shows: %s", err, b.shown())
		}
	}
}

// shown returns the text of the page, for messages.
func (b *tab) shown() string {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + (document.querySelector("dialog[open], main") ?? document.body).innerText.replace(/\s*\n\s*/g, " | ").slice(0, 700)`))
	return text
}

// eval evaluates an expression in the page. A promise is awaited.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v\nthe page shows: %s", expression, err, b.shown())
	}
	return v
}

// until waits until an expression is true, also across navigations.
func (b *tab) until(expression string) {
	b.Helper()
	var err error
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		var ok bool
		ok, err = chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		cancel()
		if ok && err == nil {
			return
		}
	}
	b.Fatalf("never true: %s (%v)\nthe page shows: %s", expression, err, b.shown())
}

// remaining waits until a list that an expression gives is empty, and returns what remains in it.
func (b *tab) remaining(expression string) []string {
	b.Helper()
	var list []string
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if list = eval[[]string](b, expression); len(list) == 0 {
			break
		}
	}
	return list
}

// goTo opens a page of the service, and waits until it shows something.
func (b *tab) goTo(path string) {
	b.Helper()
	b.do(chromedp.Navigate(b.service.url + path))
	b.until(`document.querySelector('main h1')`)
}

// goToText opens a page of the service, and waits until it shows a text.
func (b *tab) goToText(path, text string) {
	b.Helper()
	b.goTo(path)
	b.has(text)
}

// settled waits until the page has no requests in progress and does not change.
func (b *tab) settled() {
	b.Helper()
	b.until(`unanswered === 0 && !document.querySelector('[aria-busy=true]')`)
	eval[bool](b, `new Promise((done) => { let t = setTimeout(() => done(true), 150); new MutationObserver(() => { clearTimeout(t); t = setTimeout(() => done(true), 150); }).observe(document.body, {subtree: true, childList: true, characterData: true}); setTimeout(() => done(true), 3000); })`)
}

// has waits until the page shows a text.
func (b *tab) has(text string) {
	b.Helper()
	b.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// click clicks the first visible button, link or other element with a role whose name contains a text.
func (b *tab) click(name string) {
	b.Helper()
	const find = `[...document.querySelectorAll('button, a, summary, label, [role=button], [role=tab], input[type=submit]')].filter((e) => e.offsetParent !== null && !e.disabled)`
	match := fmt.Sprintf(`(%s.find((e) => (e.getAttribute('aria-label') || e.innerText || e.value || '').trim() === %q) || %[1]s.find((e) => (e.getAttribute('aria-label') || e.innerText || e.value || '').includes(%[2]q)))`, find, name)
	b.clickOn(match)
}

// clickOn clicks an element as soon as it is there and not disabled.
func (b *tab) clickOn(element string) {
	b.Helper()
	b.until(`((e) => e && !e.disabled && (e.click(), true))(` + element + `)`)
}

// fill writes into the field with a label.
func (b *tab) fill(label, value string) {
	b.Helper()
	b.fillIn(fmt.Sprintf(`[...document.querySelectorAll('label')].filter((l) => l.innerText.includes(%q)).map((l) => l.control || l.querySelector('input, select, textarea'))[0]`, label), value)
}

// fillIn writes into a field as soon as it is there.
func (b *tab) fillIn(field, value string) {
	b.Helper()
	b.until(field)
	eval[bool](b, fmt.Sprintf(`(() => { const f = %s; f.focus(); const proto = Object.getPrototypeOf(f); Object.getOwnPropertyDescriptor(proto, 'value').set.call(f, %q); f.dispatchEvent(new Event('input', {bubbles: true})); f.dispatchEvent(new Event('change', {bubbles: true})); return true; })()`, field, value))
}

// press presses keys.
func (b *tab) press(keys string) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// theme selects the colours that the system prefers.
func (b *tab) theme(name string) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}); err != nil {
		b.Fatal(err)
	}
}

// second opens another tab with the same cookies.
func (b *tab) second() *tab {
	b.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	other := &tab{TB: b.TB, ctx: ctx, service: b.service}
	b.Cleanup(cancel)
	other.do(chromedp.EmulateViewport(1280, 800))
	return other
}

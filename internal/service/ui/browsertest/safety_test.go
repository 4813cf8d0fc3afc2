package browsertest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// pages returns the addresses of all pages.
func pages() map[string]string {
	list := map[string]string{
		"home": "/", "runs": "/runs", "tools": "/tools", "schedules": "/schedules", "waiting": "/waiting", "locks": "/locks", "audit": "/audit", "missing": "/runs/1m80yahhymcge", "no-page": "/nope", "no-tool": "/tools/nosuch",
		"edit": "/edit/report", "graph-many": "/runs/" + runs["many"] + "/graph", "run-diff": "/runs/" + runs["report"] + "/changes?with=" + runs["deploy"],
	}
	for _, tab := range []string{"", "graph", "timeline", "steps", "logs", "artifacts", "events", "definition", "changes"} {
		list["run-"+tab] = "/runs/" + runs["deploy"] + "/" + tab
		list["run-"+tab] = strings.TrimSuffix(list["run-"+tab], "/")
	}
	for _, tab := range []string{"", "run", "graph", "history", "schema", "source"} {
		list["tool-"+tab] = strings.TrimSuffix("/tools/report/"+tab, "/")
	}
	return list
}

// Without a session, no page has any content, and a person comes back to the page after signing in.
func TestNothingWithoutSession(t *testing.T) {
	b := newTab(t, main)
	for name, path := range pages() {
		b.do(chromedp.Navigate(main.url + path))
		b.until(`location.pathname === '/login'`)
		if text := eval[string](b, `document.body.innerText`); !strings.Contains(text, "Sign in") || strings.Contains(text, "deploy") {
			t.Errorf("%s: %s", name, text)
		}
	}
	token, err := main.flowrun("user", "add", "returning", "--role", "viewer")
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(main.url + "/runs?tool=deploy"))
	b.do(chromedp.SendKeys(chromedp.CSS("#token-field"), token+"\r"))
	b.until(`location.pathname + location.search === '/runs?tool=deploy' && !!document.querySelector('main h1')`)
}

// A sign-in link works once. A second use, and a wrong token, explain what to do.
func TestSignInLink(t *testing.T) {
	link, err := main.loginLink()
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, main)
	b.do(chromedp.Navigate(link))
	b.until(`location.pathname === '/' && !!document.querySelector('main h1')`)
	if got := eval[string](b, `document.cookie`); got != "" {
		t.Errorf("scripts can read the cookie: %s", got)
	}
	other := newTab(t, main)
	other.expect("401")
	other.do(chromedp.Navigate(link))
	other.has("This link was already used or has expired")
	other.do(chromedp.SendKeys(chromedp.CSS("#token-field"), "wrong\r"))
	other.has("This token is not valid")
}

// The cookie cannot be read by scripts and is not sent by other sites.
func TestCookie(t *testing.T) {
	b := open(t, main)
	res, err := chromedp.Call(b.ctx, network.GetCookies, network.GetCookiesParams{})
	if err != nil || len(res.Cookies) != 1 {
		t.Fatal(res.Cookies, err)
	}
	c := res.Cookies[0]
	if !c.HTTPOnly || c.SameSite != network.CookieSameSiteStrict || !c.Session || c.Path != "/" {
		t.Errorf("%+v", c)
	}
}

// After signing out, the session is over in every tab, and Back shows nothing.
func TestSignOut(t *testing.T) {
	b := open(t, main)
	b.goTo("/runs")
	b.click("Sign out")
	b.until(`location.pathname === '/login'`)
	eval[bool](b, `(window.before = true) && (history.back(), true)`)
	b.until(`!window.before && location.pathname === '/login'`)
	if got := eval[float64](b, `fetch('/api/v1/session').then((r) => r.status)`); got != 401 {
		t.Errorf("the session has the status %v", got)
	}
	b.expect("401")
}

// A page of another site can read nothing and change nothing, although the browser is signed in.
func TestOtherSite(t *testing.T) {
	b := open(t, main)
	evil := serveText(t, "<title>evil</title>")
	b.expect("CORS")
	b.expect("403")
	b.expect("Failed to load resource")
	b.expect("Cross-Origin")
	b.expect("ERR_")
	b.expect("frame")
	b.do(chromedp.Navigate(strings.Replace(evil, "127.0.0.1", "localhost", 1)))
	before, err := main.call("GET", "/api/v1/runs?tool=report", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, js := range []string{
		`fetch(%, {credentials: 'include'}).then((r) => r.text(), () => 'refused')`,
		`fetch(%, {method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"tool": "report"}'}).then((r) => r.text(), () => 'refused')`,
	} {
		if got := eval[string](b, strings.ReplaceAll(js, "%", `"`+main.url+`/api/v1/runs"`)); got != "refused" && got != "" {
			t.Errorf("another site reads %.200s", got)
		}
	}
	eval[bool](b, `(() => { const f = document.createElement('form'); f.method = 'POST'; f.action = "`+main.url+`/logout"; document.body.append(f); f.submit(); return true; })()`)
	b.until(`location.pathname === '/logout'`)
	after, err := main.call("GET", "/api/v1/runs?tool=report", nil)
	if err != nil || len(after["runs"].([]any)) != len(before["runs"].([]any)) {
		t.Errorf("another site started a run: %v", err)
	}
	b.goTo("/runs") // still signed in

	b.do(chromedp.Navigate(evil))
	framed := eval[string](b, `new Promise((done) => { const f = document.createElement('iframe'); f.src = "`+main.url+`/runs"; f.onload = () => { try { done(f.contentDocument ? f.contentDocument.body.innerText : 'closed'); } catch { done('closed'); } }; document.body.append(f); })`)
	if framed != "closed" && framed != "" {
		t.Errorf("another site frames %s", framed)
	}
}

// Every page obeys the content security policy, in both themes. tab fails the test for violations.
func TestPolicy(t *testing.T) {
	b := open(t, main)
	b.expect("404")
	for _, path := range pages() {
		b.goTo(path)
		b.settled()
		b.checkNothingWrong()
	}
	res, err := http.Get(main.url + "/login")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	if p := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'self'") || strings.Contains(p, "unsafe") {
		t.Errorf("the policy is %s", p)
	}
	b.expect("policy violated: script-src")
	b.expect("Content Security Policy")
	b.goTo("/")
	if eval[bool](b, `(() => { const s = document.createElement('script'); s.textContent = 'window.injected = true'; document.body.append(s); return !!window.injected; })()`) {
		t.Error("an inline script runs")
	}
}

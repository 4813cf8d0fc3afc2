package browsertest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// counter is the way from the browser to a service. It counts the requests in progress, and all requests.
type counter struct {
	mu         sync.Mutex
	inProgress map[string]int // by path
	all        int
}

// counted returns the service as the browser reaches it past a counter.
func counted(t testing.TB, s *service) (*service, *counter) {
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{inProgress: map[string]int{}}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.count(r.URL.Path, 1)
		defer c.count(r.URL.Path, -1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.CloseClientConnections)
	return &service{dir: s.dir, url: server.URL, client: s.client}, c
}

func (c *counter) count(path string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inProgress[path] += n
	if n > 0 {
		c.all++
	}
}

// streams returns how many streams of events are open.
func (c *counter) streams() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for path, open := range c.inProgress {
		if strings.HasSuffix(path, "/events") {
			n += open
		}
	}
	return n
}

// becomes waits until so many streams are open, and stay so for a moment.
func (c *counter) becomes(t testing.TB, want int) {
	t.Helper()
	stays := 0
	for until := time.Now().Add(3 * patience); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		stays++
		if c.streams() != want {
			stays = 0
		}
		if stays == 10 {
			return
		}
	}
	t.Errorf("%d streams are open, want %d", c.streams(), want)
}

// All tabs of a browser have one stream together, also if a tab is closed, the service restarts, and somebody signs
// out; and none if no tab follows anything.
func TestOneStream(t *testing.T) {
	s, err := startService(t.TempDir(), "tools")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	id, err := s.startRun("release", nil)
	if err == nil {
		err = s.await(id, "waiting")
	}
	if err != nil {
		t.Fatal(err)
	}
	by, streams := counted(t, s)
	b := open(t, by)
	b.expect("401")
	b.expect("502")
	b.expect("Failed to load resource")
	streams.becomes(t, 1) // of Home
	tabs := []*tab{b}
	for range 4 {
		tabs = append(tabs, b.second())
	}
	for _, tab := range tabs {
		tab.goToText("/runs/"+id+"/events", "step.waiting")
	}
	streams.becomes(t, 1)
	tabs[4].goTo("/runs") // one more thing to follow
	streams.becomes(t, 1)
	if _, err := chromedp.Call(tabs[3].ctx, page.Close, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	streams.becomes(t, 1)

	s.stop()
	tabs[0].has("The connection to the service is lost.")
	if err := s.start(strings.TrimPrefix(s.url, "http://")); err != nil {
		t.Fatal(err)
	}
	tabs[0].until(`!document.body.innerText.includes('The connection to the service is lost.')`)
	streams.becomes(t, 1)
	if _, err := s.call("POST", "/api/v1/runs/"+id+"/approve", map[string]any{"step": "gate", "values": map[string]any{"VERSION": "1"}}); err != nil {
		t.Fatal(err)
	}
	for _, tab := range tabs[:3] {
		tab.has("run.finished")
	}
	tabs[4].until(`document.querySelector('table.runs .state').innerText.includes('succeeded')`)
	streams.becomes(t, 1)
	tabs[4].goTo("/runs/" + id + "/steps") // nothing more will happen
	streams.becomes(t, 0)

	tabs[1].goTo("/runs")
	streams.becomes(t, 1)
	tabs[4].goTo("/locks")
	tabs[4].click("Sign out")
	tabs[1].until(`location.pathname === '/login'`)
	streams.becomes(t, 0)
}

package launch

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
)

// receiver is a webhook for everything that needs attention.
type receiver struct {
	*testing.T
	Notifier
	store *sqlite.Store
	got   []string // event and text of each notification
	meet  func()   // is called when a notification arrives; nil: nothing is
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("FLOWRUN_STATE_DIR", filepath.Join(dir, "state"))
	r := &receiver{T: t}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var doc struct{ Event, Text string }
		if err := json.NewDecoder(q.Body).Decode(&doc); err != nil {
			t.Error(err)
		}
		r.got = append(r.got, doc.Event+": "+doc.Text)
		if r.meet != nil {
			r.meet()
		}
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(dir, "config", "flowrun", "config.yaml")
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte("notifications: {ops: {webhook: '"+server.URL+"', on: always}}\n"), 0o600)
	}
	if err == nil {
		r.store, err = sqlite.Open(t.Context(), filepath.Join(dir, "state"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.store.Close() })
	env := map[string]string{"XDG_CONFIG_HOME": filepath.Join(dir, "config")}
	settings, err := config.Load(config.Options{WorkingDirectory: dir, Home: dir, Getenv: func(name string) string { return env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	r.Notifier = Notifier{Store: r.store, Settings: settings, Dir: dir, Report: func(trouble string) { t.Log(trouble) }}
	return r
}

// received returns what has arrived since it was last called.
func (r *receiver) received() []string {
	got := r.got
	r.got = nil
	return got
}

func item(tool string, age time.Duration) Needed {
	return Needed{Item: attention.Item{Kind: attention.Missed, Tool: tool, Reason: "nobody came", Since: time.Now().Add(-age), Do: "flowrun serve"}}
}

// TestOldItems: items that are older than a day are reported together, the others each for itself, and all of them once.
func TestOldItems(t *testing.T) {
	r := newReceiver(t)
	list := []Needed{item("a", 72*time.Hour), item("b", 48*time.Hour), item("c", time.Hour), item("d", time.Minute)}
	for range 2 { // two services
		r.NotifyOf(t.Context(), slices.Clone(list))
	}
	got := r.received()
	if len(got) != 3 || !strings.HasPrefix(got[2], "attention: 2 items need attention\n") || strings.Count(got[2], "\n") != 2 ||
		!strings.Contains(got[2], " a needs attention: nobody came") || !strings.Contains(got[0], " c needs") || !strings.Contains(got[1], " d needs") {
		t.Errorf("%q", got)
	}
	r.NotifyOf(t.Context(), []Needed{item("e", 72*time.Hour)})
	if got := r.received(); len(got) != 1 || !strings.HasPrefix(got[0], "attention: e needs attention: nobody came") {
		t.Errorf("one old item: %q", got)
	}
	many := make([]Needed, maxTogether+5)
	for i := range many {
		many[i] = item(strings.Repeat("x", i+1), time.Duration(1000-i)*time.Hour)
	}
	r.NotifyOf(t.Context(), many)
	if got := r.received(); len(got) != 1 || !strings.Contains(got[0], "105 items need") || !strings.HasSuffix(got[0], "and 5 earlier") {
		t.Errorf("many: %q", got)
	}
}

// TestNotifiedLater: what a service could not send before it was stopped is sent by the next one.
func TestNotifiedLater(t *testing.T) {
	r := newReceiver(t)
	one := item("a", time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	r.meet = cancel
	r.NotifyOf(ctx, []Needed{one})
	r.received()
	r.meet = nil
	r.NotifyOf(t.Context(), []Needed{one})
	if got := r.received(); len(got) != 1 {
		t.Errorf("the next service sent %q", got)
	}
	r.NotifyOf(t.Context(), []Needed{one})
	if got := r.received(); len(got) != 0 {
		t.Errorf("sent again: %q", got)
	}
}

// TestWaitingLater: that a run waits is sent by the process in which it begins to, and by the next service if that one was killed.
func TestWaitingLater(t *testing.T) {
	r := newReceiver(t)
	const asks = "name: asks\ndescription: d\nsteps:\n  - {name: pay, approve: 'Paid?'}\n  - {name: ship, approve: 'Ship?'}\n"
	past := recordedtest.Answered(t, r.store, asks, map[string]bool{"pay": true})
	q := past.Questions()[0]
	x := Needed{Past: past, Item: attention.Item{Kind: attention.Waiting, Tool: q.Tool, Run: q.Run, Step: q.Step, Since: q.Since, Reason: "it waits", Do: "flowrun approve"}}
	for range 2 {
		r.NotifyOf(t.Context(), []Needed{x})
	}
	if got := r.received(); len(got) != 1 || !strings.HasPrefix(got[0], "waiting: asks is waiting for an answer") {
		t.Errorf("%q", got)
	}

	past = recordedtest.Answered(t, r.store, asks, map[string]bool{"pay": true})
	r.Notify(t.Context(), RunEnd{Result: past.Result(), Plan: past.Plan})
	x.Past, x.Item.Run = past, past.Record.ID
	r.NotifyOf(t.Context(), []Needed{x})
	if got := r.received(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

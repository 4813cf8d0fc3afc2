package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/model/mcpclient"
	"github.com/flowrun/flowrun/internal/model/sampling"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// model is a Sampler that notes what it is asked.
type model struct {
	mu      sync.Mutex
	asked   []string
	fails   error
	waits   bool // until the request is cancelled
	ended   chan error
	working int // requests at the same time
	most    int
}

func (m *model) Sample(ctx context.Context, request any) (sampling.Answer, error) {
	text, err := json.Marshal(request)
	m.mu.Lock()
	m.asked = append(m.asked, string(text))
	m.working++
	m.most = max(m.most, m.working)
	m.mu.Unlock()
	if m.waits {
		<-ctx.Done()
		m.ended <- ctx.Err()
	}
	m.mu.Lock()
	m.working--
	m.mu.Unlock()
	return sampling.Answer{Text: "hello", Model: "m1"}, errors.Join(err, m.fails)
}

// asking returns a Client whose servers may ask a model.
func asking(t *testing.T, m *model, servers ...mcpclient.ServerConfig) *used {
	t.Helper()
	return useWith(t, mcpclient.Config{Servers: servers, Sampler: m})
}

// TestSampling is a server that asks the model during a call.
func TestSampling(t *testing.T) {
	for transport, server := range transports(t) {
		m := &model{}
		u := asking(t, m, server)
		a := u.call(t.Context(), "s__ask", "{}")
		if a.Error != nil || a.Content.Text() != "decline false hello by m1" {
			t.Errorf("%s: %s %s", transport, errorOf(a), a.Content.Text())
		}
		want := []string{`{"server":"s","maxTokens":1,"messages":[{"content":{"type":"text","text":"hi"},"role":"user"}],"systemPrompt":"be brief"}`}
		if !slices.Equal(m.asked, want) {
			t.Errorf("%s: the model got %q, want %q", transport, m.asked, want)
		}
	}
}

// TestSamplingFails: the server does not learn why, and the user does.
func TestSamplingFails(t *testing.T) {
	u := asking(t, &model{fails: errors.New("the key secret-key is wrong")}, program(t, "s", "good"))
	if a := u.call(t.Context(), "s__ask", "{}"); a.Error != nil || a.Content.Text() != "decline true " {
		t.Error(errorOf(a), a.Content.Text())
	}
	if len(u.problems) != 1 || !strings.Contains(u.problems[0], "secret-key") {
		t.Error(u.problems)
	}
}

// TestSamplingLimits: a server asks a limited number of times, one request at a time, and only during
// a call.
func TestSamplingLimits(t *testing.T) {
	t.Parallel()
	for kind, most := range map[string]int{"asks-often": 20, "asks-later": 0} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			m := &model{}
			s, ended := program(t, "h", kind), filepath.Join(t.TempDir(), "ended")
			s.Env["ENDED_FILE"] = ended
			u := asking(t, m, s)
			if a := u.call(t.Context(), "h__t", "{}"); a.Error != nil || a.Content.Text() != "fine" {
				t.Error(errorOf(a))
			}
			if err := os.WriteFile(ended, nil, 0o600); err != nil { // the server asks when the client knows that the call has ended
				t.Fatal(err)
			}
			waittest.Until(t, "a request that is refused", func() bool {
				u.mu.Lock()
				defer u.mu.Unlock()
				return len(u.problems) > 0
			})
			time.Sleep(time.Second) // for requests that must not be answered
			m.mu.Lock()
			defer m.mu.Unlock()
			if len(m.asked) > most || kind == "asks-often" && len(m.asked) == 0 || m.most > 1 {
				t.Errorf("the model was asked %d times, at most %d at once", len(m.asked), m.most)
			}
			u.mu.Lock()
			defer u.mu.Unlock()
			if len(u.problems) != 1 || !strings.Contains(u.problems[0], "too often, or not during a call") {
				t.Error(u.problems)
			}
		})
	}
}

// TestSamplingEnds: a request ends with the call during which it was made.
func TestSamplingEnds(t *testing.T) {
	t.Parallel()
	m := &model{waits: true, ended: make(chan error, 1)}
	u := asking(t, m, program(t, "s", "good"))
	u.Tools()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	called := make(chan struct{})
	go func() {
		defer close(called)
		u.call(ctx, "s__ask", "{}")
	}()
	waittest.Until(t, "a request", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.asked) > 0
	})
	cancel()
	<-called
	select {
	case <-m.ended:
	case <-time.After(waittest.Limit):
		t.Error("the request did not end")
	}
}

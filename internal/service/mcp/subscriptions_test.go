package mcp_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/mcp"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestSubscriptions checks that clients hear of changes of the runs and of definitions that they have subscribed to, and
// of no others.
func TestSubscriptions(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(func() { time.Sleep(time.Minute) }) // the server sees that its client has gone
				store := history.NewMemory()
				s := serve(t, func(c *mcp.Config) {
					c.Store = store
					c.Registry.Engine = engine.New(engine.Config{Store: store, StateDir: t.TempDir()})
				})
				s.write(t, "guide", `{name: guide, description: The guide, resource: 'docs://guide', bash: 'echo 1'}`)
				s.write(t, "page", `{name: page, description: A page, resource: 'docs://pages/{P}', parameters: {P: {type: string, required: true}}, bash: 'echo 1'}`)
				s.Refresh()
				heard := make(chan string, 100)
				c := s.connectWith(t, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI }}, version)
				expect := func(uri string) {
					t.Helper()
					select {
					case got := <-heard:
						if got != uri {
							t.Errorf("heard of %s, want %s", got, uri)
						}
					case <-time.After(waittest.Limit):
						t.Errorf("heard nothing of %s", uri)
					}
				}
				subscribe := func(uri string) {
					t.Helper()
					go c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}) // newer versions of the protocol answer at the end
					time.Sleep(200 * time.Millisecond)
				}
				run := "flowrun://runs/" + fmt.Sprint(callTool(t, c, "gate", nil).Meta["flowrun/run"])
				subscribe("docs://nope")
				subscribe(run)
				interrupt(t, store, run)
				expect(run)

				subscribe("flowrun://runs")
				callTool(t, c, "steps", nil)
				expect("flowrun://runs")
				if err := c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "flowrun://runs"}); err != nil {
					t.Fatal(err)
				}
				callTool(t, c, "steps", nil)

				subscribe("docs://pages/a")
				s.write(t, "guide", `{name: guide, description: The guide, resource: 'docs://guide', bash: 'echo 2'}`)
				s.write(t, "page", `{name: page, description: A page, resource: 'docs://pages/{P}', parameters: {P: {type: string, required: true}}, bash: 'echo 2'}`)
				s.Refresh()
				expect("docs://pages/a")
				s.write(t, "page", `{name: page, description: A page, bash: 'echo 2'}`)
				s.Refresh()
				expect("docs://pages/a")
				if len(heard) > 0 {
					t.Errorf("heard of %s too", <-heard)
				}
			})
		})
	}
}

// interrupt makes a waiting run interrupted, as another process could.
func interrupt(t *testing.T, store history.Store, uri string) {
	t.Helper()
	id := uri[len("flowrun://runs/"):]
	ledger, err := store.Claim(t.Context(), id, lastEvent(t, store, id))
	if err != nil {
		t.Fatal(err)
	}
	ledger.Close()
}

func lastEvent(t *testing.T, store history.Store, id string) uint64 {
	t.Helper()
	events, err := store.Events(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	return events[len(events)-1].Seq
}

package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/web"
)

// record stores a run that has ended.
func (b *bench) record(r *history.Record, status dag.Status) {
	b.Helper()
	l, err := b.store.Begin(b.Context(), r)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	err = l.Append(b.Context(), []dag.Event{{V: dag.EventVersion, Seq: 1, Run: r.ID, Kind: dag.RunFinished, Time: r.Created.Add(time.Second),
		Result: &dag.Result{Status: status, Started: r.Created, Ended: r.Created.Add(time.Second)}}})
	if err != nil {
		b.Fatal(err)
	}
}

type runList struct {
	Runs []struct {
		ID     string
		Params map[string]string
	}
	Next string
}

func (b *bench) list(query string, header ...string) (list runList) {
	b.Helper()
	_, doc := b.ask("GET", "/api/v1/runs?"+query, "", header...)
	if err := json.Unmarshal(doc, &list); err != nil {
		b.Fatalf("%v %s", err, doc)
	}
	return list
}

func (l runList) ids() (ids []string) {
	for _, r := range l.Runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// TestListFilters lists recorded runs by each filter, a page at a time.
func TestListFilters(t *testing.T) {
	b := newBench(t, web.Options{Tokens: []service.Token{{Text: "only-fails", Tools: []string{"fail*"}}}})
	begin := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for i := range 9 {
		b.record(&history.Record{ID: fmt.Sprintf("r%d", i), Tool: []string{"hello", "fails", "bare"}[i%3], Created: begin.Add(time.Duration(i) * time.Hour),
			Labels: []map[string]string{nil, {"team": "ops"}, {"team": "a b"}}[i%3],
			Origin: []string{"", "api", "schedule:nightly", "webhook:x"}[i%4],
			Params: map[string]any{"REGION": []string{"eu", "us"}[i%2], "N": json.Number("12345678901234567890"), "LONG": strings.Repeat("ü", 300)}},
			[]dag.Status{dag.Succeeded, dag.Failed}[i%2])
	}
	at := func(hour int) string {
		return url.QueryEscape(begin.Add(time.Duration(hour) * time.Hour).Format(time.RFC3339))
	}
	for query, want := range map[string]string{
		"":                                   "r8 r7 r6 r5 r4 r3 r2 r1 r0",
		"tool=hello":                         "r6 r3 r0",
		"tag=read":                           "r6 r3 r0",
		"tag=read&tag=x":                     "",
		"origin=cli":                         "r8 r4 r0",
		"origin=schedule":                    "r6 r2",
		"origin=schedule:nightly":            "r6 r2",
		"origin=webhook&status=failed":       "r7 r3",
		"origin=api&tool=fails":              "r1",
		"param=REGION%3Deu":                  "r8 r6 r4 r2 r0",
		"param=N%3D12345678901234567890":     "r8 r7 r6 r5 r4 r3 r2 r1 r0",
		"param=REGION%3Dus&param=N%3D1":      "",
		"param=NONE%3D":                      "",
		"id=r7":                              "r7",
		"label=team":                         "r8 r7 r5 r4 r2 r1",
		"label=team%3Dops&status=failed":     "r7 r1",
		"label=team%3Da+b":                   "r8 r5 r2",
		"since=" + at(3) + "&until=" + at(5): "r4 r3",
		"status=failed&before=r5":            "r3 r1",
	} {
		if got := strings.Join(b.list(query).ids(), " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		var paged []string
		for page := b.list(query + "&limit=2"); ; page = b.list(query + "&limit=2&before=" + page.Next) {
			if len(page.Runs) > 2 {
				t.Errorf("%s: %d runs", query, len(page.Runs))
			}
			paged = append(paged, page.ids()...)
			if page.Next == "" || strings.Contains(query, "before") {
				break
			}
		}
		if !strings.Contains(query, "before") && strings.Join(paged, " ") != want {
			t.Errorf("%s: %q a page at a time, want %q", query, paged, want)
		}
	}
	if got := b.list("", "Authorization", "Bearer only-fails").ids(); !slices.Equal(got, []string{"r7", "r4", "r1"}) {
		t.Errorf("a token for one tool lists %q", got)
	}
	list := b.list("params=1&limit=1")
	if p := list.Runs[0].Params; p["REGION"] != "eu" || p["N"] != "12345678901234567890" || p["LONG"] != strings.Repeat("ü", 100)+"..." {
		t.Errorf("%q", p)
	}
	if list := b.list("param=REGION%3Deu"); list.Runs[0].Params != nil {
		t.Errorf("the list has parameters that nobody asked for: %v", list.Runs[0].Params)
	}
	for query, status := range map[string]int{"param=x": 400, "label=Team": 400, "label=team%3D": 400, "until=now": 400, "before=nosuchrun": 404, "limit=0": 400} {
		if res, doc := b.get("/api/v1/runs?" + query); res.StatusCode != status {
			t.Errorf("%s: %d %s", query, res.StatusCode, doc)
		}
	}
}

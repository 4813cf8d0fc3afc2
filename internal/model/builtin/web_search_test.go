package builtin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowrun/flowrun/internal/service/netclient"
)

const searchKey = "hunter22-search-key"

// searching is a Config whose endpoint is a server of the test.
func searching(s *httptest.Server, header string) Config {
	return Config{Fetch: netclient.Fetch, Settings: Settings{SearchURL: s.URL + "/search?format=json&q={query}", SearchKeyEnv: "SEARCH_KEY", SearchKeyHeader: header,
		Getenv: func(name string) string { return map[string]string{"SEARCH_KEY": searchKey}[name] }}}
}

func TestWebSearch(t *testing.T) {
	var asked *http.Request
	answer, code := "", 200
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		w.WriteHeader(code)
		fmt.Fprint(w, answer)
	}))
	defer s.Close()
	many := `{"results":[` + strings.TrimSuffix(strings.Repeat(`{"title":"t","url":"u"},`, 50), ",") + `]}`
	for _, c := range []struct {
		name, answer string
		code         int
		fails        bool
		want         string
	}{
		{"searxng", `{"query":"x","results":[{"title":"A","url":"https://a.example/","content":"all &amp; <b>more</b>"},{"title":"B","url":"https://b.example/"}]}`, 200, false,
			"\n1. A\n   https://a.example/\n   all & more\n\n2. B\n   https://b.example/\n"},
		{"a list in an object", `{"web":{"results":[{"title":"A","url":"https://a.example/","description":"d"}]}}`, 200, false, "1. A\n   https://a.example/\n   d\n"},
		{"items", `{"items":[{"title":"A","link":"https://a.example/","snippet":"d"}]}`, 200, false, "1. A\n   https://a.example/\n   d\n"},
		{"value", `{"webPages":{"value":[{"name":"A","url":"https://a.example/","snippet":"d"}]}}`, 200, false, "1. A\n"},
		{"a bare list", `[{"title":"A","href":"https://a.example/"}]`, 200, false, "1. A\n"},
		{"lines in it", `{"results":[{"title":"A\n2. B","url":"https://a.example/\nx","content":"a\n\n3. c\u001b[31m"}]}`, 200, false, "1. A 2. B\n   https://a.example/ x\n   a 3. c[31m\n"},
		{"many", many, 200, false, "\n10. t\n   u\n"},
		{"no title", `{"results":[{"url":"u"}, {"title":"no address"}, 5, null]}`, 200, false, "1. (no title)\n   u\n"},
		{"none", `{"results":[]}`, 200, false, "No results"},
		{"the key in it", `{"results":[{"title":"` + searchKey + `","url":"https://a.example/?k=` + searchKey + `","content":"x` + searchKey + `"}]}`, 200, false, "1. ***\n   https://a.example/?k=***\n   x***\n"},
		{"html", `<html>`, 200, true, "format=json"},
		{"other JSON", `{"error":"x"}`, 200, true, "JSON without results"},
		{"deep", strings.Repeat(`{"results":`, 5000) + "1" + strings.Repeat("}", 5000), 200, true, "JSON without results"},
		{"deeper", strings.Repeat(`[`, 100_000), 200, true, "something other than JSON"},
		{"refused", `bad key ` + searchKey, 403, true, "answered 403 Forbidden: bad key ***"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, code = c.answer, c.code
			r := perform(t, t.Context(), searching(s, ""), t.TempDir(), "web_search", map[string]any{"query": "a b&c={x}"})
			want(t, r, c.fails, c.want)
			said := why(r) + r.Content().Text() + fmt.Sprint(r.Content().Display, r.Output)
			if strings.Contains(said, searchKey) || strings.Contains(said, "\n11. ") {
				t.Errorf("it says %q", said)
			}
			if got := asked.URL.Query().Get("q"); got != "a b&c={x}" || asked.Header.Get("Authorization") != "Bearer "+searchKey {
				t.Errorf("it was asked for %q with %q", got, asked.Header)
			}
		})
	}
	perform(t, t.Context(), searching(s, "X-API-Key"), t.TempDir(), "web_search", map[string]any{"query": "x"})
	if asked.Header.Get("X-API-Key") != searchKey || asked.Header.Get("Authorization") != "" {
		t.Errorf("it was asked with %q", asked.Header)
	}
}

// TestSearchElsewhere: the key does not follow an answer that leads elsewhere.
func TestSearchElsewhere(t *testing.T) {
	var stolen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	s := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusFound))
	defer s.Close()
	want(t, perform(t, t.Context(), searching(s, "X-API-Key"), t.TempDir(), "web_search", map[string]any{"query": "x"}), true, "which is not the host of tools.searchUrl")
	if stolen.Load() > 0 {
		t.Error("the other server was asked")
	}
}

func TestSearchSettings(t *testing.T) {
	for _, c := range []struct {
		settings Settings
		want     string
	}{
		{Settings{}, "set tools.searchUrl"},
		{Settings{SearchURL: "https://a.example/"}, "not a URL that contains {query}"},
		{Settings{SearchURL: "{query}"}, "not a URL that contains {query}"},
		{Settings{SearchURL: "https://a.example/{query}", SearchKeyEnv: "NO_SUCH_KEY_HERE"}, "the environment variable NO_SUCH_KEY_HERE"},
		{Settings{SearchURL: "http://127.0.0.1:1/{query}"}, "cannot search: cannot fetch from 127.0.0.1:1"},
	} {
		want(t, perform(t, t.Context(), Config{Fetch: netclient.Fetch, Settings: c.settings}, t.TempDir(), "web_search", map[string]any{"query": "x"}), true, c.want)
	}
}

package mcpclient_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/mcpclient"
	"github.com/flowrun/flowrun/internal/test/readingtest"
)

// TestForeignResults holds what flowrun reads of answers to calls.
func TestForeignResults(t *testing.T) {
	readingtest.Check(t, filepath.Join("testdata", "foreign", "results.txt"), 60, func(t *testing.T, input string) string {
		content, err := mcpclient.Answer(input)
		if err != nil {
			return "fails: " + err.Error()
		}
		parts := make([]string, len(content.Parts))
		for i, p := range content.Parts {
			parts[i] = strings.TrimSpace(fmt.Sprintf("%s %q", p.MIME, p.Text+string(p.Data)))
		}
		return strings.Join(parts, " ")
	})
}

// TestForeignTools holds what flowrun reads of the tools that a server lists. Another tool of the list is always used.
func TestForeignTools(t *testing.T) {
	readingtest.Check(t, filepath.Join("testdata", "foreign", "tools.txt"), 45, func(t *testing.T, input string) string {
		list := listedBy(t, `{"tools": [`+input+`, {"name": "other", "inputSchema": {"type": "object"}}]}`)
		if last := len(list) - 1; last != 1 || list[last].Problem != "" {
			t.Fatalf("%s: the other tool is not used: %+v", input, list)
		}
		return readingOf(list[0])
	})
}

// TestForeignSchemas holds what flowrun reads of the schemas of tools.
func TestForeignSchemas(t *testing.T) {
	readingtest.Check(t, filepath.Join("testdata", "foreign", "schemas.txt"), 65, func(t *testing.T, input string) string {
		return readingOf(listedBy(t, `{"tools": [{"name": "t", "inputSchema": `+input+`}]}`)[0])
	})
}

// listedTool is what flowrun makes of a tool in a list.
type listedTool struct {
	mcpclient.Offer
	def *tool.Definition // nil: it is not used
}

// listedBy returns the tools of a server with this answer to tools/list.
func listedBy(t *testing.T, answer string) (list []listedTool) {
	t.Helper()
	offers, definitions, err := mcpclient.Listed(answer)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range offers {
		one := listedTool{Offer: o}
		if i := slices.IndexFunc(definitions, func(d *tool.Definition) bool { return d.Name == o.Name }); i >= 0 {
			one.def = definitions[i]
		}
		list = append(list, one)
	}
	return list
}

func readingOf(l listedTool) string {
	if l.def == nil {
		return "not used: " + l.Problem
	}
	words := []string{l.def.Name}
	for _, text := range []string{l.def.DisplayName, l.def.Description} {
		if text != "" {
			words = append(words, fmt.Sprintf("%q", text))
		}
	}
	for _, p := range l.def.Parameters {
		word := p.Name + ":" + p.Type
		if p.Required {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(append(words, l.Notes...), " ")
}

// TestReadableMessages: other messages stay as they are.
func TestReadableMessages(t *testing.T) {
	for message, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`:                                     "",
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"\"result\""}}`:                 "",
		`{"jsonrpc":"2.0","id":1,"method":"result","params":{"result":{"content":5}}}`:       "",
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"<&>"}]}}`:       "",
		`{"jsonrpc":"2.0","id":1,"result":{"tools":{"t":1}}}`:                                "",
		`{"jsonrpc":"2.0","id":1,"result":null}`:                                             "",
		`{"jsonrpc":"2.0","id":1,"result":[]}`:                                               "",
		`{"result"`:                                                                          "",
		`text with "result"`:                                                                 "",
		"\ufeff" + `{"jsonrpc":"2.0","id":1,"result":{}}`:                                    `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`[{"id":1,"jsonrpc":"2.0","result":{"content":5}}]`:                                  `[{"id":1,"jsonrpc":"2.0","result":{"content":[{"text":"5","type":"text"}]}}]`,
		`{"id":1,"jsonrpc":"2.0","result":{"protocolVersion":"1","instructions":["a","b"]}}`: `{"id":1,"jsonrpc":"2.0","result":{"_meta":{"flowrun/left-out":"instructions"},"protocolVersion":"1"}}`,
		`{"id":1,"jsonrpc":"2.0","result":{"tools":[],"nextCursor":5}}`:                      `{"id":1,"jsonrpc":"2.0","result":{"_meta":{"flowrun/left-out":"nextCursor"},"tools":[]}}`,
	} {
		if want == "" {
			want = message
		}
		if got := string(mcpclient.Readable([]byte(message))); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", message, got, want)
		}
	}
}

// FuzzReadable: the library can read a list with any tool and an answer with any content, whatever they are.
func FuzzReadable(f *testing.F) {
	for _, file := range []string{"results.txt", "tools.txt"} {
		in, err := os.Open(filepath.Join("testdata", "foreign", file))
		if err != nil {
			f.Fatal(err)
		}
		defer in.Close()
		for lines := bufio.NewScanner(in); lines.Scan(); {
			f.Add(lines.Text())
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || strings.Count(text, "[")+strings.Count(text, "{") > 900 { // deeper messages are refused
			return
		}
		if _, _, err := mcpclient.Listed(`{"tools": [` + text + `]}`); err != nil {
			t.Errorf("a list with %s: %v", text, err)
		}
		for _, answer := range []string{`{"content": [` + text + `]}`, `{"content": ` + text + `}`, `{"content": [], "_meta": ` + text + `}`, `{"isError": ` + text + `}`} {
			if _, err := mcpclient.Answer(answer); err != nil && strings.HasPrefix(err.Error(), "cannot read it") {
				t.Errorf("%s: %v", answer, err)
			}
		}
	})
}

// TestReadableOverHTTP: the messages in bodies and in events are read in the same way. Events are passed on one by one.
func TestReadableOverHTTP(t *testing.T) {
	const broken, fixed = `{"id":1,"jsonrpc":"2.0","result":{"content":5}}`, `{"id":1,"jsonrpc":"2.0","result":{"content":[{"text":"5","type":"text"}]}}`
	next := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			io.WriteString(w, "\ufeff"+broken)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, ": ping\n\nid: 1\ndata: "+broken+"\n\n")
		w.(http.Flusher).Flush()
		<-next
		io.WriteString(w, "event: message\r\ndata: {\"id\":1,\r\ndata: \"jsonrpc\":\"2.0\",\"result\":{\"content\":5}}\r\n\r\ndata: {}\n\nevent: endpoint\ndata: /x")
	}))
	defer server.Close()
	get := func(path string) io.ReadCloser {
		resp, err := mcpclient.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Body
	}
	body := get("/body")
	defer body.Close()
	if text, err := io.ReadAll(body); err != nil || string(text) != fixed {
		t.Errorf("%s, %v", text, err)
	}
	events := get("/events")
	defer events.Close()
	first := ": ping\n\ndata: " + fixed + "\nid: 1\n\n"
	got := make([]byte, len(first))
	if _, err := io.ReadFull(events, got); err != nil || string(got) != first {
		t.Errorf("%q, %v", got, err)
	}
	close(next)
	rest, err := io.ReadAll(events)
	if want := "data: " + fixed + "\nevent: message\r\n\r\ndata: {}\n\nevent: endpoint\ndata: /x"; err != nil || string(rest) != want {
		t.Errorf("%q, %v\nwant %q", rest, err, want)
	}
}

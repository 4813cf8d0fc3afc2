package attack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// person is somebody who uses a service: a user with a token, or the owner with the service's.
type person struct {
	*served
	name, token string
}

// addUser adds a user.
func (s *site) addUser(name, role string) (token string) {
	s.Helper()
	out := s.run("user", "add", name, "--role", role)
	if out.code != 0 {
		s.Fatal(out)
	}
	return strings.TrimSpace(out.stdout)
}

// over sends a request over the API, and returns the answer.
func (p person) over(method, path, body string) string {
	p.Helper()
	status, answer, err := p.ask(method, path, body, "Authorization", "Bearer "+p.token)
	if err != nil || status >= 300 {
		p.Fatalf("%s %s by %s: %d %s %v", method, path, p.name, status, answer, err)
	}
	return answer
}

// mcpSession is a session of the Model Context Protocol over HTTP. The client shows questions to its user, who approves.
type mcpSession struct {
	person
	id string
}

const mcpHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`

func (p person) openMCP() mcpSession {
	p.Helper()
	res := mcpSession{p, ""}.post(mcpHello)
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	m := mcpSession{p, res.Header.Get("Mcp-Session-Id")}
	if m.id == "" {
		p.Fatalf("no session: %d", res.StatusCode)
	}
	m.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).Body.Close()
	return m
}

func (m mcpSession) post(body string) *http.Response {
	m.Helper()
	r, err := http.NewRequest("POST", m.url+"/mcp", strings.NewReader(body))
	if err != nil {
		m.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + m.token}}
	if m.id != "" {
		r.Header.Set("Mcp-Session-Id", m.id)
	}
	res, err := m.client().Do(r)
	if err != nil {
		m.Fatal(err)
	}
	return res
}

// call calls a tool, and lets answer decide every question of the call. It returns the result.
func (m mcpSession) call(tool, arguments, answer string) string {
	m.Helper()
	res := m.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		text, found := strings.CutPrefix(lines.Text(), "data: ")
		var message struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
		}
		if !found || json.Unmarshal([]byte(text), &message) != nil {
			continue
		}
		switch {
		case message.Method == "elicitation/create":
			m.answer(message.ID, answer)
		case message.Method == "":
			return string(message.Result)
		}
	}
	m.Fatalf("%s: no result, status %d", tool, res.StatusCode)
	return ""
}

// begins starts a run over the API.
func (p person) begins(tool string) (run string) {
	p.Helper()
	var begun struct{ ID string }
	if err := json.Unmarshal([]byte(p.over("POST", "/api/v1/runs", fmt.Sprintf(`{"tool": %q}`, tool))), &begun); err != nil {
		p.Fatal(err)
	}
	return begun.ID
}

// waits waits until a run waits for an answer.
func (p person) waits(run string) string {
	p.Helper()
	waittest.Until(p, "a run that waits", func() bool { return p.status(run) == "waiting" })
	return run
}

// answers answers the question of a run over the API: approve or reject.
func (p person) answers(run, answer string) {
	p.Helper()
	p.over("POST", "/api/v1/runs/"+p.waits(run)+"/"+answer, `{"step": "gate"}`)
}

// cancels cancels a run over the API.
func (p person) cancels(run string) { p.Helper(); p.over("POST", "/api/v1/runs/"+run+"/cancel", "") }

// TestKilledClients: what clients of the Model Context Protocol had called ends after they were killed, with its processes.
func TestKilledClients(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	sleep := fmt.Sprintf("sleep 5%07d", os.Getpid()) // no other process has these arguments
	s.write(".flowrun/tools/hold.yaml", "name: hold\ndescription: x\nbash: "+sleep+"\n")
	count := regexp.MustCompile(`"status": ?"([a-z]+)"`)
	status := func(name string) (n int) {
		for _, found := range count.FindAllStringSubmatch(s.run("runs", "-o", "json").stdout, -1) {
			if found[1] == name {
				n++
			}
		}
		return n
	}
	v := s.serve(0)
	var kill []func()
	for n := range 10 {
		m := person{v, "", theToken}.openMCP()
		res := m.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hold","arguments":{}}}`)
		kill = append(kill, func() { res.Body.Close() })
		m.approveFirst(res.Body)
		waittest.Until(t, "the call", func() bool { return status("running") == n+1 }, func() any { return s.run("runs") })
	}
	for _, k := range kill {
		k()
	}
	waittest.Until(t, "the end of the calls", func() bool { return status("cancelled") == 10 }, func() any { return s.run("runs") })
	if out, err := exec.Command("pgrep", "-xf", sleep).Output(); err == nil {
		t.Errorf("processes are left: %s", out)
	}
}

// approveFirst reads the stream of a call until it asks, and approves.
func (m mcpSession) approveFirst(stream io.Reader) {
	m.Helper()
	for lines := bufio.NewScanner(stream); lines.Scan(); {
		var message struct {
			ID     json.RawMessage
			Method string
		}
		text, found := strings.CutPrefix(lines.Text(), "data: ")
		if found && json.Unmarshal([]byte(text), &message) == nil && message.Method == "elicitation/create" {
			m.answer(message.ID, "approve")
			return
		}
	}
	m.Fatal("the call asks nothing")
}

// answer answers a question.
func (m mcpSession) answer(id json.RawMessage, decision string) {
	m.Helper()
	m.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":%q}}}`, id, decision)).Body.Close()
}

// audits returns the audit log, oldest entry first, as "who action".
func (s *site) audits() (list []string) {
	s.Helper()
	var doc struct {
		Entries []struct{ Who, Action string }
	}
	if err := json.Unmarshal([]byte(s.run("history", "audit", "-o", "json").stdout), &doc); err != nil {
		s.Fatal(err)
	}
	for _, e := range slices.Backward(doc.Entries) {
		if e.Action != "user" && e.Action != "resume" {
			list = append(list, e.Who+" "+e.Action)
		}
	}
	return list
}

// TestAuditNames: whatever the entry point and whoever the person, the audit log names them for what they start,
// approve, refuse, answer and cancel.
func TestAuditNames(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write(".flowrun/tools/hello.yaml", "name: hello\ndescription: x\nbash: echo hello\n")
	s.write(".flowrun/tools/gate.yaml", "name: gate\ndescription: x\nsteps: [{name: gate, approve: 'Go on?'}, {name: b, bash: echo on}]\n")
	s.write(".flowrun/tools/long.yaml", "name: long\ndescription: x\nbash: sleep 4246\n")
	people := []person{{nil, "adam", s.addUser("adam", "admin")}, {nil, "otto", s.addUser("otto", "operator")}, {nil, "", theToken}}
	v := s.serve(0)
	owner, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range people {
		p.served = v
		who := p.name
		if who == "" {
			who = owner.Username
		}
		for _, c := range []struct {
			name string
			do   func()
			want []string
		}{
			{"start over the API", func() { p.over("POST", "/api/v1/runs", `{"tool": "hello"}`) }, []string{"start"}},
			{"answer over the API", func() { p.answers(p.begins("gate"), "approve") }, []string{"start", "answer"}},
			{"reject over the API", func() { p.answers(p.begins("gate"), "reject") }, []string{"start", "answer"}},
			{"cancel over the API", func() { p.cancels(p.begins("long")) }, []string{"start", "cancel"}},
			{"cancel a question over the API", func() { p.cancels(p.waits(p.begins("gate"))) }, []string{"start", "cancel"}},
			{"approve over MCP", func() { p.openMCP().call("hello", `{}`, "approve") }, []string{"approve", "start"}},
			{"deny over MCP", func() { p.openMCP().call("hello", `{}`, "deny") }, []string{"refuse"}},
			{"answer over MCP", func() { p.openMCP().call("gate", `{}`, "approve") }, []string{"approve", "start", "answer"}},
		} {
			before := len(s.audits())
			c.do()
			var want, got []string
			for _, action := range c.want {
				if action != "start" || p.name != "" { // the log has no entry for what the owner starts
					want = append(want, who+" "+action)
				}
			}
			waittest.Until(s, "entries of the audit log", func() bool { got = s.audits()[before:]; return len(got) >= len(want) }, func() any { return got })
			if !slices.Equal(got, want) {
				t.Errorf("%s by %q: %q, want %q", c.name, p.name, got, want)
			}
		}
	}
	otto := person{v, "otto", people[1].token}
	foreign := people[0]
	foreign.served = v
	session := foreign.openMCP()
	stolen := mcpSession{otto, session.id}
	if res := stolen.post(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`); res.StatusCode != 404 {
		t.Errorf("a session of another: status %d", res.StatusCode)
	}
}

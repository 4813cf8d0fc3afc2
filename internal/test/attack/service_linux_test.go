package attack

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// theToken is the one that callers of a service under attack show.
const theToken = "0123456789abcdef-the-token"

// served is a service that is attacked.
type served struct {
	*site
	cmd *exec.Cmd
	url string
	mu  sync.Mutex
	log bytes.Buffer

	over chan struct{} // is closed when the process has ended
}

// serve starts a service in the project, on a port of its own, and waits until it
// answers. Its process may have so many descriptors; 0 is as many as it gets.
func (s *site) serve(descriptors int, args ...string) *served {
	s.Helper()
	c := s.command(append([]string{"serve", "--listen", "127.0.0.1:0", "--drain", "10ms"}, args...)...)
	if descriptors > 0 {
		c = exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, descriptors), program}, c.Args[1:]...)...)
		c.Dir, c.SysProcAttr = s.project, &syscall.SysProcAttr{Setsid: true}
	}
	c.Env = append(slices.Clone(s.env), "FLOWRUN_TOKEN="+theToken)
	v := &served{site: s, cmd: c, over: make(chan struct{})}
	stderr, err := c.StderrPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	go func() {
		defer close(v.over)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			v.mu.Lock()
			v.log.WriteString(lines.Text() + "\n")
			v.mu.Unlock()
		}
	}()
	s.Cleanup(func() {
		if v.stop(); s.Failed() {
			s.Log(v.logged())
		}
	})
	at := regexp.MustCompile(`listening on (https?://\S+)`)
	waittest.Until(s, "the service is up", func() bool {
		if found := at.FindStringSubmatch(v.logged()); found != nil {
			v.url = found[1]
		}
		return v.url != ""
	})
	return v
}

// stop ends the service and what it runs, so that nothing writes into the site any more. It may be called again.
func (v *served) stop() {
	v.cmd.Process.Signal(syscall.SIGTERM)
	end := time.AfterFunc(waittest.Limit, func() { v.cmd.Process.Kill() })
	defer end.Stop()
	<-v.over
	v.cmd.Wait()
}

func (v *served) logged() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.log.String()
}

// address is where the service listens.
func (v *served) address() string { _, at, _ := strings.Cut(v.url, "://"); return at }

// client makes a connection of its own for each request.
func (v *served) client() *http.Client {
	return &http.Client{Timeout: waittest.Limit, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

// ask sends a request with headers, names and values, and reads the answer.
func (v *served) ask(method, path, body string, header ...string) (status int, answer string, err error) {
	return v.askBy(v.client(), method, v.url+path, body, header...)
}

func (v *served) askBy(client *http.Client, method, url, body string, header ...string) (int, string, error) {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// holder sends a request of who has the token, and fails the test if it is not answered.
func (v *served) holder(method, path, body string) (int, string) {
	v.Helper()
	var status int
	var answer string
	var err error
	// A connection may be closed for another one before its request has come.
	waittest.Until(v, method+" "+path, func() bool {
		status, answer, err = v.ask(method, path, body, "Authorization", "Bearer "+theToken)
		return err == nil
	}, func() any { return err })
	return status, answer
}

// begin starts a run and returns its id.
func (v *served) begin(body string) string {
	v.Helper()
	status, answer := v.holder("POST", "/api/v1/runs", body)
	var doc struct{ ID string }
	if err := json.Unmarshal([]byte(answer), &doc); err != nil || status != 202 {
		v.Fatalf("cannot start %s: %d %s", body, status, answer)
	}
	return doc.ID
}

// status is where a run stands.
func (v *served) status(run string) string {
	v.Helper()
	_, answer := v.holder("GET", "/api/v1/runs/"+run, "")
	var doc struct{ Status string }
	if err := json.Unmarshal([]byte(answer), &doc); err != nil {
		v.Fatal(err, answer)
	}
	return doc.Status
}

// memory is the most memory that the service has had resident, in MB.
func (v *served) memory() int {
	v.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.cmd.Process.Pid))
	if err != nil {
		v.Fatal(err)
	}
	kib, _ := strconv.Atoi(regexp.MustCompile(`VmHWM:\s*(\d+)`).FindStringSubmatch(string(text))[1])
	return kib / 1024
}

func (v *served) descriptors() int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", v.cmd.Process.Pid))
	return len(list)
}

// crowdOf describes a crowd to the process that makes it.
type crowdOf struct {
	Address, Says string
	TLS           bool
	Socket        bool // on service.sock, whose path is Address
	Size          int
}

// crowdVariable holds the crowd that this program, started again, is to be: one process
// may not have descriptors for all of it.
const crowdVariable = "ATTACK_CROWD"

func init() {
	text := os.Getenv(crowdVariable)
	if text == "" {
		return
	}
	var c crowdOf
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	c.gather()
	os.Exit(0)
}

// gather keeps the connections open, each of which says something once and then nothing
// any more, and opens new ones for the oldest, until the standard input ends. It prints a
// line when all have been opened.
func (c crowdOf) gather() {
	var together sync.WaitGroup
	const dialers = 2
	for range dialers {
		together.Add(1)
		go func() {
			open := make([]net.Conn, 0, c.Size/dialers)
			for n := 1; ; n++ {
				if n > cap(open) || c.Size < 5000 {
					time.Sleep(4 * time.Millisecond) // the machine has others to serve
				}
				if conn, err := c.dial(); err == nil {
					io.WriteString(conn, c.Says)
					if len(open) == cap(open) {
						open[0].Close()
						open = slices.Delete(open, 0, 1)
					}
					open = append(open, conn)
				}
				if n == cap(open) {
					together.Done()
				}
			}
		}()
	}
	together.Wait()
	fmt.Println("together")
	io.Copy(io.Discard, os.Stdin)
}

func (c crowdOf) network() string { return map[bool]string{false: "tcp", true: "unix"}[c.Socket] }

func (c crowdOf) dial() (net.Conn, error) {
	d := &net.Dialer{Timeout: waittest.Limit}
	if c.TLS {
		return tls.DialWithDialer(d, "tcp", c.Address, &tls.Config{InsecureSkipVerify: true})
	}
	return d.Dial(c.network(), c.Address)
}

// crowd surrounds the service with connections until the test has ended, and waits until
// all of them have been opened.
func (v *served) crowd(c crowdOf) {
	v.Helper()
	const processes = 2
	c.Size /= processes
	if c.Address = v.address(); c.Socket {
		c.Address = filepath.Join(v.dir, "state", "service.sock")
	}
	text, err := json.Marshal(c)
	if err != nil {
		v.Fatal(err)
	}
	together := make(chan struct{}, processes)
	for range processes {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crowdVariable+"="+string(text))
		in, err := child.StdinPipe()
		if err != nil {
			v.Fatal(err)
		}
		out, err := child.StdoutPipe()
		if err != nil {
			v.Fatal(err)
		}
		if err := child.Start(); err != nil {
			v.Fatal(err)
		}
		v.Cleanup(func() { in.Close(); child.Process.Kill(); child.Wait() })
		go func() {
			if _, err := bufio.NewReader(out).ReadString('\n'); err == nil {
				together <- struct{}{}
			}
		}()
	}
	waittest.Until(v, "the crowd comes together", func() bool { return len(together) == processes })
}

// certificate makes one for the service itself, and returns the flags that name it.
func (s *site) certificate() []string {
	s.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		s.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.Fatal(err)
	}
	cert := s.write("~cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	secret := s.write("~key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	return []string{"--tls-cert", cert, "--tls-key", secret}
}

// TestCrowd: connections of strangers, however many, neither end a run nor keep those
// from being answered who have a token.
func TestCrowd(t *testing.T) {
	for name, c := range map[string]struct {
		says        string
		tls         bool
		descriptors int
		size        int
		full        bool
	}{
		"silent after a request":           {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", false, 300, 400, false},
		"silent":                           {"", false, 300, 400, false},
		"half a request":                   {"GET /healthz HTTP/1.1\r\nHo", false, 300, 400, false},
		"over TLS":                         {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", true, 300, 400, false},
		"with the limits of a machine":     {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", false, 0, 20600, true},
		"with these and TLS":               {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", true, 0, 20600, true},
		"with these, and half a handshake": {"\x16\x03\x01", true, 0, 20600, true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.full {
				sizetest.Need(t, sizetest.Long, "takes the connections of a whole machine")
			} else {
				t.Parallel()
			}
			s := newSite(t)
			s.write(".flowrun/tools/long.yaml", "name: long\ndescription: x\nsteps:\n  - {name: a, bash: 'until [ -e go ]; do sleep 0.05; done'}\n  - {name: b, bash: echo end}\n")
			var args []string
			if c.tls {
				args = s.certificate()
			}
			v := s.serve(c.descriptors, args...)
			run := v.begin(`{"tool": "long"}`)
			v.crowd(crowdOf{Says: c.says, Size: c.size, TLS: c.tls && !strings.HasPrefix(c.says, "\x16")})
			for range 10 {
				if got := v.status(run); got != "running" {
					t.Fatalf("the run is %s", got)
				}
			}
			if out := s.run("runs", "-o", "json"); out.code != 0 {
				t.Errorf("a command of the machine's user:\n%s", out)
			}
			if out := s.run("run", "long", "--detach"); out.code != 0 {
				t.Errorf("a run that is handed over by the socket:\n%s", out)
			}
			if mb := v.memory(); mb > 250 {
				t.Errorf("the service took %d MB", mb)
			}
			s.write("go", "")
			waittest.Until(t, "the end of the run", func() bool { return v.status(run) == "succeeded" })
			t.Logf("%d MB, %d descriptors", v.memory(), v.descriptors())
		})
	}
}

// refuses reports whether a stream is refused because its caller has too many.
func (v *served) refuses(path, token string) bool {
	r, err := http.NewRequest("GET", v.url+path, nil)
	if err != nil {
		v.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := v.client().Do(r)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	if res.StatusCode == 200 {
		return false
	}
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" || !strings.Contains(string(text), `"code":"too-many-requests"`) {
		v.Errorf("a stream too many is answered %d %s", res.StatusCode, text)
	}
	return true
}

// TestCrowdOfOne: the connections of one caller, however many, neither end a run nor keep others from being answered.
func TestCrowdOfOne(t *testing.T) {
	for name, c := range map[string]struct {
		path        string
		descriptors int
		size        int
		socket      bool
	}{
		"a viewer's streams":            {"/api/v1/events", 0, 1100, false},
		"a viewer's streams, few files": {"/api/v1/events", 300, 400, false},
		"a viewer's streams of a run":   {"/api/v1/runs/RUN/events", 300, 400, false},
		"streams on the socket":         {"/api/v1/events", 300, 450, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			steps := "  - {name: a, bash: 'until [ -e go ]; do sleep 0.05; done'}\n"
			for n := range 14 {
				steps += fmt.Sprintf("  - {name: s%d, bash: echo x}\n", n)
			}
			s.write(".flowrun/tools/long.yaml", "name: long\ndescription: x\nsteps:\n"+steps)
			viewer := s.addUser("vera", "viewer")
			v := s.serve(c.descriptors)
			run := v.begin(`{"tool": "long"}`)
			path := strings.ReplaceAll(c.path, "RUN", run)
			proof := "Authorization: Bearer " + viewer + "\r\n"
			if c.socket {
				proof = ""
			}
			v.crowd(crowdOf{Says: "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + proof + "\r\n", Size: c.size, Socket: c.socket})
			// A connection that is closed before it is answered, to make room for newer ones, is made once more.
			answered := func(who string, want int, ask func() (int, string, error)) {
				t.Helper()
				waittest.Until(t, who+" is answered", func() bool {
					status, answer, err := ask()
					if err == nil && status != want {
						t.Fatalf("%s is answered %d %s", who, status, answer)
					}
					return err == nil
				})
			}
			for range 10 {
				answered("an administrator", 200, func() (int, string, error) {
					return v.ask("GET", "/api/v1/tools", "", "Authorization", "Bearer "+theToken)
				})
				answered("a health check", 200, func() (int, string, error) { return v.ask("GET", "/healthz", "") })
				answered("somebody who signs in", 303, func() (int, string, error) {
					return v.askBy(&http.Client{Timeout: waittest.Limit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: v.client().Transport}, "POST", v.url+"/login", "token="+theToken, "Content-Type", "application/x-www-form-urlencoded")
				})
			}
			var out outcome
			waittest.Until(t, "a run is handed over by the socket", func() bool { out = s.run("run", "long", "--detach"); return out.code == 0 }, func() any { return out })
			waittest.Until(t, "a stream too many is refused", func() bool {
				return c.socket || v.refuses(path, viewer)
			})
			if n := v.descriptors(); c.descriptors > 0 && n > c.descriptors*3/4 {
				t.Errorf("the crowd leaves %d of %d descriptors to runs", c.descriptors-n, c.descriptors)
			}
			s.write("go", "")
			waittest.Until(t, "the end of the run", func() bool { return v.status(run) == "succeeded" }, func() any { return v.status(run) })
			t.Logf("%d descriptors", v.descriptors())
		})
	}
}

// hooked is a project with webhooks of both schemes that start a tool.
func hooked(t *testing.T) *site {
	s := newSite(t)
	s.write(".flowrun/tools/hello.yaml", "name: hello\ndescription: x\nbash: echo {WHO}\nparameters: {WHO: {type: string, description: x, default: you}}\n")
	s.write("~.config/flowrun/config.yaml", "webhooks:\n  signed: {tool: hello, scheme: hmac-sha256, secret-env: SIGNED}\n  shown: {tool: hello, secret-env: SHOWN}\n")
	s.env = append(s.env, "SIGNED=a long secret word", "SHOWN=another secret word")
	return s
}

// TestBodies: bodies of strangers do not take the service's memory, nor keep away who has
// a proof.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := hooked(t)
	v := s.serve(0)
	size := sizetest.Of(200, 400, 1000)
	before := v.memory()
	part := strings.Repeat("x", 1<<20-1)
	var open []net.Conn
	t.Cleanup(func() {
		for _, c := range open {
			c.Close()
		}
	})
	var mu sync.Mutex
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for n := range size / 4 {
				c, err := net.Dial("tcp", v.address())
				if err != nil {
					continue
				}
				mu.Lock()
				open = append(open, c)
				mu.Unlock()
				name, proof := "signed", "X-Hub-Signature-256: sha256=00"
				if (i+n)%3 == 0 {
					name, proof = "shown", "X-Flowrun-Token: wrong"
				}
				c.SetDeadline(time.Now().Add(waittest.Limit))
				fmt.Fprintf(c, "POST /hooks/%s HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: %d\r\n\r\n%s", name, proof, 1<<20, part)
			}
		})
	}
	work.Wait()
	mac := hmac.New(sha256.New, []byte("a long secret word"))
	mac.Write([]byte(`{}`))
	status, answer, err := v.ask("POST", "/hooks/signed", `{}`, "X-Hub-Signature-256", hex.EncodeToString(mac.Sum(nil)))
	if err != nil || status != 202 {
		t.Errorf("who has a proof is answered %d %s %v", status, answer, err)
	}
	if mb := v.memory(); mb > before+120 {
		t.Errorf("the service took %d MB, from %d", mb, before)
	}
	t.Logf("%d MB, from %d", v.memory(), before)
}

// TestHookNames: who has no proof does not learn which webhooks there are, or of which scheme, from the answer to a
// body of any size.
func TestHookNames(t *testing.T) {
	t.Parallel()
	s := hooked(t)
	v := s.serve(0)
	large := strings.Repeat("x", 2<<20)
	for _, header := range [][]string{nil, {"X-Hub-Signature-256", "sha256=" + strings.Repeat("0", 64)}, {"X-Flowrun-Token", "wrong"}} {
		for size, body := range map[string]func() io.Reader{
			"small":            func() io.Reader { return strings.NewReader(`{"a": 1}`) },
			"large":            func() io.Reader { return strings.NewReader(large) },
			"large, in chunks": func() io.Reader { return struct{ io.Reader }{strings.NewReader(large)} },
			"without an end":   func() io.Reader { return struct{ io.Reader }{io.MultiReader(strings.NewReader("{"), endless{})} },
		} {
			answers := map[string]bool{}
			for _, name := range []string{"signed", "shown", "nothing", "other", "third", "fourth", "fifth"} {
				waittest.Until(v, "an answer", func() bool { // which the end of the connection may overtake
					status, answer, err := v.hook(name, body(), header)
					if err == nil {
						answers[fmt.Sprint(status, answer)] = true
					}
					return err == nil
				})
			}
			if len(answers) != 1 {
				t.Errorf("%s, with %v: %v", size, header, answers)
			}
		}
	}
}

// endless is a body without end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func (v *served) hook(name string, body io.Reader, header []string) (status int, answer string, err error) {
	r, err := http.NewRequest("POST", v.url+"/hooks/"+name, body)
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := v.client().Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// TestAPITools: a token starts what the service lists, and what its patterns name.
func TestAPITools(t *testing.T) {
	const shell = `{"tool": "run_shell_command", "params": {"command": "touch PWN"}}`
	for name, c := range map[string]struct {
		config  string // of the user
		project string // settings of the project, which nobody has trusted
		tokens  string // file of tokens
		body    string
		status  int
	}{
		"a listed tool":             {"", "", "", `{"tool": "hello"}`, 202},
		"a built-in one":            {"", "", "", shell, 404},
		"one that is named":         {"serve: {tools: ['run_*']}", "", "", shell, 202},
		"another that is named":     {"serve: {tools: ['read_*']}", "", "", shell, 404},
		"named by the project":      {"", "serve: {tools: ['*']}", "", shell, 404},
		"a discovered one":          {"tools: {discoveryCommand: \"printf '[{\\\"name\\\":\\\"told\\\"}]'\", callCommand: touch PWN}", "", "", `{"tool": "told"}`, 404},
		"a path":                    {"serve: {tools: ['*']}", "", "", `{"tool": "./hello.yaml"}`, 400},
		"a token for others":        {"serve: {tools: ['*']}", "", theToken + " hell other*", `{"tool": "hello"}`, 404},
		"a token for it":            {"", "", theToken + " other hel*", `{"tool": "hello"}`, 202},
		"a token without the shell": {"serve: {tools: ['*']}", "", theToken + " hello", shell, 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.write(".flowrun/tools/hello.yaml", "name: hello\ndescription: x\nbash: echo hello\n")
			s.write("~.config/flowrun/config.yaml", c.config)
			if c.project != "" {
				s.write(".flowrun/config.yaml", c.project)
			}
			var args []string
			if c.tokens != "" {
				os.Chmod(s.write("~tokens", c.tokens), 0o600)
				args = []string{"--token-file", s.path("~tokens")}
			}
			v := s.serve(0, args...)
			status, answer := v.holder("POST", "/api/v1/runs", c.body)
			if status != c.status {
				t.Errorf("answered %d %s", status, answer)
			}
			_, list := v.holder("GET", "/api/v1/tools", "")
			var body struct{ Tool string }
			json.Unmarshal([]byte(c.body), &body)
			if strings.Contains(list, fmt.Sprintf(`"name":%q`, body.Tool)) != (c.status == 202) {
				t.Errorf("the list does not agree: %s", list)
			}
			if c.status != 202 && (s.exists("PWN") || s.exists("~PWN")) {
				t.Error("it ran")
			}
		})
	}
}

// TestTokensRuns: a token that is good for some tools sees and moves no other's runs, and no
// token begins a run of a built-in tool anew.
func TestTokensRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write(".flowrun/tools/hello.yaml", "name: hello\ndescription: x\nbash: echo hello\n")
	s.write(".flowrun/tools/other.yaml", "name: other\ndescription: x\nbash: echo canary; exit 1\n")
	const narrow = "another-token-0123456789"
	os.Chmod(s.write("~tokens", theToken+"\n# for hello\n"+narrow+" hello\n"), 0o600)
	v := s.serve(0, "--token-file", s.path("~tokens"))
	run := v.begin(`{"tool": "other"}`)
	waittest.Until(s, "the run has failed", func() bool { return v.status(run) == "failed" })
	for _, c := range []struct{ method, path string }{
		{"GET", "/api/v1/runs"}, {"GET", "/api/v1/ps"}, {"GET", "/api/v1/tools"}, {"GET", "/api/v1/tools/other"}, {"GET", "/api/v1/schedules"},
		{"GET", "/api/v1/runs/" + run}, {"GET", "/api/v1/runs/" + run + "/logs"}, {"GET", "/api/v1/runs/" + run + "/events"},
		{"GET", "/api/v1/runs/" + run + "/questions"}, {"POST", "/api/v1/runs/" + run + "/retry"}, {"POST", "/api/v1/runs/" + run + "/resume"},
		{"POST", "/api/v1/runs/" + run + "/cancel"}, {"POST", "/api/v1/runs/" + run + "/approve"},
	} {
		status, answer, err := v.ask(c.method, c.path, "", "Authorization", "Bearer "+narrow)
		if err != nil || strings.Contains(answer, "canary") || strings.Contains(answer, `"other"`) && status < 300 || strings.Contains(c.path, run) && status != 404 {
			t.Errorf("%s %s: %d %s %v", c.method, c.path, status, answer, err)
		}
	}
	if out := s.run("run", "run_shell_command", "command=echo x >>RAN; exit 1", "--auto-approve", "*"); s.read("RAN") != "x" {
		t.Fatal(out)
	}
	_, list := v.holder("GET", "/api/v1/runs?tool=run_shell_command", "")
	id := regexp.MustCompile(`"id":"(\w+)"`).FindStringSubmatch(list)
	if id == nil {
		t.Fatal(list)
	}
	for _, verb := range []string{"retry", "resume"} {
		if status, answer := v.holder("POST", "/api/v1/runs/"+id[1]+"/"+verb, ""); status < 400 {
			t.Errorf("%s: %d %s", verb, status, answer)
		}
	}
	if s.read("RAN") != "x" {
		t.Error("the built-in tool ran again")
	}
}

// TestGuessing: wrong tokens are answered ever more slowly, the right one is not. internal/service/web has a test of the times.
func TestGuessing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.serve(0)
	began := time.Now()
	for range 12 { // 10 at once, then 0.1 s and 0.2 s
		if status, answer, err := v.ask("GET", "/api/v1/runs", "", "Authorization", "Bearer wrong"); err != nil || status != 401 {
			t.Fatal(status, answer, err)
		}
	}
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("12 wrong tokens took %v", took)
	}
	if status, _ := v.holder("GET", "/api/v1/runs", ""); status != 200 {
		t.Errorf("the right token: %d", status)
	}
}

// TestWeakTokens: a token that can be guessed or read by others opens nothing.
func TestWeakTokens(t *testing.T) {
	for name, c := range map[string]struct {
		variable, file string
		mode           os.FileMode
		owner          int // of the file; 0 is who runs the tests
	}{
		"one letter":          {"a", "", 0, 0},
		"15 characters":       {"0123456789abcde", "", 0, 0},
		"a file for all":      {"", theToken, 0o644, 0},
		"a file all may fill": {"", theToken, 0o622, 0},
		"a file of another":   {"", theToken, 0o600, 65534},
		"short in a file":     {"", "0123456789abcde", 0o600, 0},
		"short with patterns": {"", "abc hello world and more", 0o600, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.env = append(s.env, "FLOWRUN_TOKEN="+c.variable)
			args := []string{"serve", "--listen", "127.0.0.1:0"}
			if c.file != "" {
				os.Chmod(s.write("~token", c.file), c.mode)
				if c.owner != 0 && os.Chown(s.path("~token"), c.owner, -1) != nil {
					t.Skip("only root can give a file away")
				}
				args = append(args, "--token-file", s.path("~token"))
			}
			if out := s.run(args...); out.code != 2 {
				t.Error(out)
			}
		})
	}
}

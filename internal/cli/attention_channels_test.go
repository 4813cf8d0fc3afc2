package cli_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli"
	notifier "github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/observe/measure"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/attention"
	settings "github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/library"
)

// needy is a history with one state that needs a person.
type needy struct {
	*testing.T
	kind     attention.Kind
	dir      string
	store    *sqlite.Store
	lib      *library.Library
	item     attention.Item // what was found
	parallel int            // how many steps may run at once; 0: the default

	sent string // what the webhook got
}

// needyText is a tool that can be in every state.
const needyText = `name: job
description: Needs a person
schedule: "0 3 * * *"
steps: [{name: work, bash: echo}, {name: gate, approve: Go on}]
`

// needyStates makes the state of each kind.
var needyStates = map[string]func(n *needy){
	attention.Interrupted: func(n *needy) { n.cutOff() },
	attention.Waiting:     func(n *needy) { n.run(nil) },
	attention.StaleApproval: func(n *needy) {
		n.run(nil)
		n.run(&history.Answer{Approve: true})
	},
	attention.QueuedCatchUp: func(n *needy) { // a claim of two days ago, whose run has not started
		n.watchSchedule()
		if mine, err := n.store.Firings().Claim(n.Context(), n.schedule(), time.Now().Add(-48*time.Hour), history.NewID(time.Now()), time.Time{}); !mine || err != nil {
			n.Fatal(mine, err)
		}
		n.sql("UPDATE firings SET at = slot")
	},
	attention.Missed: func(n *needy) {
		n.watchSchedule()
		if err := n.store.Firings().Skip(n.Context(), n.schedule(), time.Now(), schedule.MissedPrefix+"no service was running", time.Time{}); err != nil {
			n.Fatal(err)
		}
	},
	attention.LostState: func(n *needy) {
		n.write("job.yaml", needyText+"state: {LAST: {type: number, default: 0}}\n")
		err := n.store.SetState(n.Context(), []dag.StateChange{{Tool: "job", File: "/gone/.flowrun/tools/job.yaml", Key: "LAST", Value: []byte("7")}})
		if err != nil {
			n.Fatal(err)
		}
	},
	attention.Limit: func(n *needy) {
		n.write("job.yaml", "name: job\ndescription: Loops\nschedule: \"0 3 * * *\"\nsteps: [{name: loop, for-each: {items: [a, b, c], max-parallel: 3}, bash: echo}]\n")
		n.parallel = 2
		n.run(nil)
	},
	attention.Invalid: func(n *needy) { n.write("job.yaml", needyText+"bash: echo\n") },
	attention.Disk:    func(n *needy) { n.Setenv("FLOWRUN_HISTORY_MIN_FREE", "1000000TB") },
}

func newNeedy(t *testing.T, k attention.Kind) *needy {
	t.Helper()
	n := &needy{T: t, kind: k, dir: t.TempDir()}
	t.Setenv("FLOWRUN_STATE_DIR", filepath.Join(n.dir, "state"))
	t.Setenv("HOME", n.dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(n.dir, "config"))
	t.Setenv("NO_COLOR", "1")
	t.Chdir(n.dir)
	n.write("job.yaml", needyText)
	var err error
	if n.store, err = sqlite.Open(t.Context(), filepath.Join(n.dir, "state")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.store.Close() })
	n.lib = library.New(library.Config{WorkingDirectory: n.dir, Home: n.dir})
	needyStates[k.Name](n)
	n.lib = library.New(library.Config{WorkingDirectory: n.dir, Home: n.dir}) // the state may be one of the definitions
	return n
}

func (n *needy) write(name, text string) {
	n.Helper()
	file := filepath.Join(n.dir, ".flowrun", "tools", name)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		n.Fatal(err)
	}
}

// plan compiles the tool.
func (n *needy) plan() *engine.Plan {
	n.Helper()
	p, err := engine.Compile(n.lib, "job")
	if err != nil {
		n.Fatal(err)
	}
	return p
}

// schedule returns the id of the schedule of the tool, and origin that of its runs.
func (n *needy) schedule() string { return timetable.ScheduleID("job", timetable.ProjectHere()) }
func (n *needy) origin() string   { return timetable.Origin(n.schedule()) }

// watchSchedule makes the schedule one that a service has seen three days ago.
func (n *needy) watchSchedule() {
	n.Helper()
	t, err := timetable.Read(n.Context(), n.store.Schedules(), n.lib)
	if err == nil {
		e := t.OfTool("job")[0]
		_, err = n.store.Firings().Watch(n.Context(), e.Name, e.Plan(), time.Now().Add(-72*time.Hour))
	}
	if err != nil {
		n.Fatal(err)
	}
}

// run runs the tool for its schedule. Without an answer to its question it waits.
func (n *needy) run(a *history.Answer) {
	n.Helper()
	answer := func(context.Context, history.Question) (history.Answer, error) {
		if a == nil {
			return history.Answer{}, waiting.ErrNoApprover
		}
		return *a, nil
	}
	done := func(_ context.Context, c *dag.Call, r dag.Runner) (dag.Result, error) {
		if c.Path != "gate" {
			return dag.Result{Status: dag.Succeeded}, nil
		}
		return r.Run(n.Context(), c)
	}
	res, err := engine.New(engine.Config{Store: n.store, StateDir: filepath.Join(n.dir, "state"), Parallel: n.parallel}).
		Run(n.Context(), n.plan(), nil, engine.WithOrigin(n.origin()), engine.WithApproval(answer), engine.WithAround(done))
	if err != nil {
		n.Fatalf("%v %+v", err, res)
	}
}

// cutOff records a run whose owner was killed in its first step.
func (n *needy) cutOff() {
	n.Helper()
	id := history.NewID(time.Now())
	ledger, err := n.store.Begin(n.Context(), &history.Record{ID: id, Tool: "job", Origin: n.origin(), Created: time.Now(), Params: map[string]any{}, Given: map[string]any{},
		Sources: n.plan().Sources(), RunEnv: history.RecordedEnv{Workspace: n.dir, Home: n.dir, Time: time.Now()}})
	if err == nil {
		err = ledger.Append(n.Context(), []dag.Event{{V: dag.EventVersion, Seq: 1, Run: id, Kind: dag.RunStarted, Time: time.Now()},
			{V: dag.EventVersion, Seq: 2, Run: id, Kind: dag.StepStarted, Node: "work", Attempt: 1, Time: time.Now()}})
	}
	if err == nil {
		err = ledger.Close()
	}
	if err != nil {
		n.Fatal(err)
	}
}

// sql changes the history, as time would.
func (n *needy) sql(text string) {
	n.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(n.dir, "state", "history.db"))
	if err == nil {
		_, err = db.Exec(text)
		db.Close()
	}
	if err != nil {
		n.Fatal(err)
	}
}

func (n *needy) flowrun(args ...string) string {
	n.Helper()
	var out bytes.Buffer
	cli.Main(cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}) // doctor may fail about this machine
	return out.String()
}

// watched returns what a service logs of the state. It leaves the item, and what the notification is.
func (n *needy) watched() string {
	n.Helper()
	var log bytes.Buffer
	got := ""
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got += r.Header.Get("X-Flowrun-Event") + " " + string(b)
	}))
	defer server.Close()
	n.Setenv("HOOK", server.URL)
	source := attention.Source{Store: n.store, Library: n.lib, StateDir: n.dir}
	if n.kind.Name == attention.Disk {
		source.MinFree = 1 << 60
	}
	if err := os.MkdirAll("config/flowrun", 0o700); err != nil {
		n.Fatal(err)
	}
	write(n.T, "config/flowrun/config.yaml", "notifications: {ops: {webhook: '${HOOK}'}}\n")
	loaded, err := settings.Load(settings.Options{WorkingDirectory: n.dir, Home: n.dir, Getenv: os.Getenv})
	if err != nil {
		n.Fatal(err)
	}
	sender := notifier.Notifier{Store: n.store, Settings: loaded, Dir: n.dir, Report: func(trouble string) { n.Error(trouble) }}
	for range 2 { // two services, one after the other
		ctx, cancel := context.WithCancel(n.Context())
		w := &attention.Watcher{Source: func() attention.Source { return source },
			Version: func() uint64 { return 0 }, Log: slog.New(slog.NewTextHandler(&log, nil)),
			New: func(ctx context.Context, items []attention.Item) {
				for _, i := range items {
					if i.Kind == n.kind.Name {
						n.item = i
						sender.NotifyOf(ctx, []notifier.Needed{{Item: i}})
						cancel()
					}
				}
			}}
		w.Watch(ctx)
		cancel()
	}
	n.sent = got
	return log.String()
}

// metrics returns what a service exports.
func (n *needy) metrics() string {
	n.Helper()
	p, err := measure.NewProgram(measure.Options{})
	if err == nil {
		p.Known("job", nil)
		_, err = p.Service(measure.State{Runs: func() (int, int) { return 0, 0 }, Pools: func() []measure.Pool { return nil }, AttentionKinds: []string{n.kind.Name},
			Attention: func() []measure.Attention { return []measure.Attention{{Kind: n.item.Kind, Tool: n.item.Tool}} }})
	}
	if err != nil {
		n.Fatal(err)
	}
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// home returns the document that the home page of the web UI shows.
func (n *needy) home() string {
	n.Helper()
	s, err := service.New(n.Context(), service.Config{Store: n.store, Home: n.dir, Engine: engine.New(engine.Config{Store: n.store, StateDir: n.dir}), Library: func() *library.Library { return n.lib }})
	if err != nil {
		n.Fatal(err)
	}
	defer s.Drain(0, nil)
	const token = "0123456789abcdef0123456789abcdef"
	h, err := web.New(web.ServiceOf(s), web.Options{Tokens: []service.Token{{Text: token}}, StateDir: n.dir, Attention: func() []attention.Item { return []attention.Item{n.item} }})
	if err != nil {
		n.Fatal(err)
	}
	r := httptest.NewRequest("GET", "http://localhost/api/v1/attention", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}

// alert returns the name of the shipped rule about the kind, "" if there is none. TestAlertsFire in package metrics shows that
// it fires.
func (n *needy) alert() string {
	for _, rule := range regexp.MustCompile(`alert: (\w+)\n(?s:.*?)expr: (.*)`).FindAllStringSubmatch(read(n.T, filepath.Join(top, "docs/alerts.yaml")), -1) {
		if m := regexp.MustCompile(`flowrun_attention\{kind(=~|!~)"([^"]*)"\}`).FindStringSubmatch(rule[2]); m != nil {
			if has := regexp.MustCompile("^(" + m[2] + ")$").MatchString(n.kind.Name); has == (m[1] == "=~") {
				return "`" + rule[1] + "`"
			}
		}
	}
	return ""
}

// top is the folder of the repository.
var top, _ = filepath.Abs("../..")

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// attentionChannels are the ways in which people and programs learn of what needs them, in the order of the table in
// docs/reference/attention.md. show returns what the cell says, "" if the channel does not show it.
var attentionChannels = []struct {
	name string
	show func(n *needy) string
}{
	{"log of `serve`", func(n *needy) string { // first: it finds the item
		return cell(n.watched(), `level=WARN msg="a person is needed" kind=`+n.kind.Name, "warning")
	}},
	{"notification", func(n *needy) string {
		if n.kind.Name == attention.Waiting {
			return "`waiting`" // sent by the run, see TestNotifications
		}
		event, doc, _ := strings.Cut(n.sent, " ")
		if strings.Count(n.sent, `"schema"`) != 1 || !strings.Contains(doc, n.item.Do) {
			n.Errorf("%s: the notifications are %q", n.kind.Name, n.sent)
		}
		return cell(event, event, "`"+event+"`")
	}},
	{"`/metrics`", func(n *needy) string {
		return cell(n.metrics(), fmt.Sprintf(`flowrun_attention{kind="%s",tool="%s"} 1`, n.kind.Name, n.item.Tool), "`flowrun_attention`")
	}},
	{"`ps`", func(n *needy) string {
		if n.kind.Name == attention.Waiting {
			return cell(n.flowrun("ps"), "waiting", "status")
		}
		return cell(n.flowrun("ps"), n.item.Do, "row")
	}},
	{"`schedule list`", func(n *needy) string { return cell(n.flowrun("schedule", "list"), n.item.Do, "row") }},
	{"`doctor`", func(n *needy) string { return cell(n.flowrun("doctor"), n.item.Do, "warning") }},
	{"home page", func(n *needy) string { return cell(n.home(), n.item.Do, "row") }},
	{"alert", (*needy).alert},
}

// cell returns what the cell says if the text has what it should.
func cell(text, has, says string) string {
	if has == "" || !strings.Contains(text, has) {
		return ""
	}
	return says
}

// TestAttentionChannels: every channel shows every kind of what needs attention, and the page docs/reference/attention.md says
// how.
func TestAttentionChannels(t *testing.T) {
	var kinds, table strings.Builder
	kinds.WriteString("| kind | meaning |\n|---|---|\n")
	table.WriteString("| kind |")
	for _, c := range attentionChannels {
		table.WriteString(" " + c.name + " |")
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(attentionChannels)) + "\n")
	for _, k := range attention.Kinds() {
		fmt.Fprintf(&kinds, "| `%s` | %s |\n", k.Name, k.Meaning)
		table.WriteString("| `" + k.Name + "` |")
		t.Run(k.Name, func(t *testing.T) {
			n := newNeedy(t, k)
			for _, c := range attentionChannels {
				cell := c.show(n)
				if cell == "" {
					t.Errorf("%s does not show %+v", c.name, n.item)
				}
				table.WriteString(" " + cell + " |")
			}
		})
		table.WriteString("\n")
	}
	page := filepath.Join(top, "docs/reference/attention.md")
	old := read(t, page)
	fresh := replaceTable(replaceTable(old, "kinds", kinds.String()), "channels", table.String())
	switch {
	case fresh == old:
	case *update:
		write(t, page, fresh)
	default:
		t.Errorf("%s is not fresh; run go test ./internal/cli -run AttentionChannels -update", page)
	}
}

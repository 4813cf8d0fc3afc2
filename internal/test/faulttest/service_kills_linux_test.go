package faulttest

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
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

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// killedTool is a scheduled tool whose service is killed. In its text BEGIN and END write to the file of marks.
type killedTool struct {
	name  string
	every int    // seconds between its scheduled times; 0: it runs for files instead
	rule  string // more keys of its schedule
	text  string
	again bool // a step may begin twice in one run
}

// killedTools are the kinds of tools that people schedule.
var killedTools = []killedTool{
	{name: "plain", every: 2, text: "bash: BEGIN; sleep 0.2; END"},
	{name: "asks", every: 3, text: "on-interrupt: ask\nbash: BEGIN; sleep 0.4; END"},
	{name: "fails", every: 2, text: "on-interrupt: fail\nbash: BEGIN; sleep 0.3; END"},
	{name: "gate", every: 6, rule: "overlap: allow", text: "steps: [{name: first, bash: 'BEGIN; END'}, {name: gate, approve: Go on}]"},
	{name: "repeats", every: 2, again: true, text: "on-interrupt: retry\nsteps: [{name: one, bash: 'BEGIN; sleep 0.2'}, {name: two, bash: 'sleep 0.2; END'}]"},
	{name: "again", every: 1, again: true, rule: "catch-up: all", text: "idempotent: true\nbash: BEGIN; sleep 0.3; END"},
	{name: "slow", every: 2, again: true, text: "idempotent: true\nbash: BEGIN; sleep 3; END"},
	{name: "queues", every: 1, again: true, rule: "overlap: queue", text: "idempotent: true\nbash: BEGIN; sleep 1.2; END"},
	{name: "locked", every: 2, again: true, text: inRoom},
	{name: "locker", every: 3, again: true, text: inRoom},
	{name: "script", every: 2, again: true, text: "idempotent: true\nsteps: [{name: one, js: 'return params.SLOT.length'}, {name: two, bash: 'BEGIN; test {one.output} -gt 0 && END'}]"},
	{name: "counts", every: 2, again: true, text: "idempotent: true\nmax-active-runs: 1\nstate: {N: {type: integer}}\n" +
		"bash: BEGIN; echo \"N=$(( {state.N} + 1 ))\" >>\"$FLOWRUN_STATE\"; END"},
	{name: "retries", every: 3, again: true, text: "idempotent: true\nsteps:\n  - name: one\n    bash: BEGIN; exit 1\n" +
		"    error-handling: {retry: {attempts: 2, delay: 50}, fallback: 'END'}"},
	{name: "reruns", every: 4, again: true, text: "idempotent: true\nretry-run: {attempts: 2, delay: 300, on: [exit]}\n" + // its first run fails
		`bash: BEGIN; test "$(grep -c "begin NAME {SLOT} " "$BED/marks")" -ge 2 && END`},
	{name: "deadline", every: 3, again: true, rule: "must-end-by: 2s", text: "idempotent: true\nbash: BEGIN; sleep 0.5; END"},
	{name: "files", again: true, text: "idempotent: true\nbash: BEGIN; sleep 0.1; END"},
}

// inRoom is the text of tools that share a lock. That only one process is in the room is checked with a lock of the system.
const inRoom = `idempotent: true
locks: [room]
bash: BEGIN; exec 9>>"$BED/room"; flock -n 9 || echo "clash {SLOT} $FLOWRUN_RUN" >>"$BED/clashes"; sleep 0.3; END`

// marks are what BEGIN and END stand for: a line each, appended at once.
var marks = strings.NewReplacer(
	"BEGIN", `echo "begin NAME {SLOT} $FLOWRUN_RUN" >>"$BED/marks"`,
	"END", `echo "end NAME {SLOT} $FLOWRUN_RUN" >>"$BED/marks"`)

// definition returns the text of the tool. Its scheduled times begin at start, and end at end if that is not zero.
func (k killedTool) definition(start, end time.Time) string {
	on := `on: [{file: {path: "incoming/*", settle: 100ms}, params: {SLOT: "{trigger.name}"}}]`
	if k.every > 0 {
		on = fmt.Sprintf(`schedule: {every: %ds, start: %q, params: {SLOT: "{schedule.time}"}`, k.every, start.UTC().Format(time.RFC3339))
		if !end.IsZero() {
			on += fmt.Sprintf(", end: %q", end.UTC().Format(time.RFC3339))
		}
		if k.rule != "" {
			on += ", " + k.rule
		}
		on += "}"
	}
	return fmt.Sprintf("name: %s\ndescription: d\nparameters: {SLOT: {description: d, default: none}}\n%s\n%s\n", k.name, on,
		strings.ReplaceAll(marks.Replace(k.text), "NAME", k.name))
}

// killedService is a service that is killed again and again, and what its tools and its receiver have got.
type killedService struct {
	*testing.T
	killBed
	dir   string // has all of it
	start time.Time
	db    *sql.DB
	lives int
	cmd   *exec.Cmd
	url   string
	log   string // the file with what the service prints

	mu       sync.Mutex
	received map[string]int // notifications by event and run
	exact    map[string]int // by everything that distinguishes them
}

func (s *killedService) project() string { return filepath.Join(s.dir, "project") }

// write writes the definitions.
func (s *killedService) write(end time.Time) {
	s.Helper()
	for _, k := range killedTools {
		file := filepath.Join(s.project(), ".flowrun", "tools", k.name+".yaml")
		err := os.WriteFile(file+".new", []byte(k.definition(s.start, end)), 0o600)
		if err == nil {
			err = os.Rename(file+".new", file)
		}
		if err != nil {
			s.Fatal(err)
		}
	}
}

func (s *killedService) command(args ...string) *exec.Cmd {
	c := exec.Command(s.program, args...)
	c.Dir = s.project()
	c.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "FLOWRUN_") })
	c.Env = append(c.Env, "FLOWRUN_STATE_DIR="+s.state, "FLOWRUN_TOKEN="+bedToken, "BED="+s.dir, "HOME="+s.dir, "XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"))
	return c
}

const bedToken = "0123456789abcdef0123456789abcdef"

// begin starts the service, and returns when it is healthy.
func (s *killedService) begin() {
	s.Helper()
	s.lives++
	s.log = filepath.Join(s.dir, fmt.Sprintf("log.%d", s.lives))
	f, err := os.Create(s.log) // not a pipe, whose reader would be another goroutine
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	s.cmd = s.command("serve", "--listen", "127.0.0.1:0")
	s.cmd.Stderr = f
	if err := s.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	service := s.cmd.Process
	s.Cleanup(func() { service.Kill() })
	waittest.Until(s, "a healthy service", func() bool {
		listening := regexp.MustCompile(`listening on (http://[^\s"]+)`).FindStringSubmatch(s.read(s.log))
		if listening == nil {
			return false
		}
		s.url = listening[1]
		return s.get("/healthz") != ""
	}, func() any { return s.read(s.log) })
}

// get returns what the service answers, "" if that is not a success.
func (s *killedService) get(path string) string {
	req, err := http.NewRequest("GET", s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bedToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}

func (s *killedService) read(file string) string {
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		s.Fatal(err)
	}
	return string(text)
}

// printed returns what a command prints, whatever its exit code.
func (s *killedService) printed(args ...string) string {
	s.Helper()
	c := s.command(args...)
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Run(); err != nil && c.ProcessState == nil {
		s.Fatal(err)
	}
	return out.String()
}

// drop makes a file for which a tool runs.
func (s *killedService) drop(name string) {
	s.Helper()
	file := filepath.Join(s.dir, name)
	err := os.WriteFile(file, []byte(name), 0o600)
	if err == nil {
		err = os.Rename(file, filepath.Join(s.project(), "incoming", name))
	}
	if err != nil {
		s.Fatal(err)
	}
}

// receive notes a notification.
func (s *killedService) receive(_ http.ResponseWriter, r *http.Request) {
	var doc struct {
		Event     string
		Run       struct{ ID string }
		Attention struct {
			Kind, Schedule, Step string
			Since                time.Time
		}
		Schedule struct {
			ScheduledTime time.Time `json:"scheduled_time"`
		}
	}
	if json.NewDecoder(r.Body).Decode(&doc) == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.received[doc.Event+" "+doc.Run.ID]++
		s.exact[fmt.Sprint(doc)]++
	}
}

// judgedRun is a run in the list of runs.
type judgedRun struct {
	ID, Tool, Status string
	RetryOf          string     `json:"retry_of"`
	RetryAt          *time.Time `json:"retry_at"`
}

func (s *killedService) runs() map[string]judgedRun {
	s.Helper()
	var doc struct{ Runs []judgedRun }
	if text := s.printed("runs", "--limit", "0", "-o", "json"); json.Unmarshal([]byte(text), &doc) != nil {
		s.Fatalf("flowrun runs: %q", text)
	}
	all := map[string]judgedRun{}
	for _, r := range doc.Runs {
		all[r.ID] = r
	}
	return all
}

// needed is a run that needs a person, as a channel shows it.
type needed struct{ Kind, Run, Tool string }

// neededIn returns the runs of kind interrupted and waiting in a document.
func neededIn(text string) (list []needed) {
	var doc struct{ Attention []needed }
	if json.Unmarshal([]byte(text), &doc) != nil {
		return nil
	}
	for _, n := range doc.Attention {
		if n.Kind == "interrupted" || n.Kind == "waiting" {
			list = append(list, n)
		}
	}
	return list
}

// settle waits until each run has ended or needs a person. It returns those that do.
func (s *killedService) settle() (list []needed) {
	s.Helper()
	var left []string
	waittest.Until(s, "the end of all runs", func() bool {
		left, list = nil, nil
		listed, runs := neededIn(s.get("/api/v1/attention")), s.runs()
		retried := map[string]bool{}
		for _, r := range runs {
			retried[r.RetryOf] = true
		}
		for _, r := range runs {
			n := needed{r.Status, r.ID, r.Tool}
			switch {
			case r.RetryAt != nil && !retried[r.ID]:
				left = append(left, r.ID+" "+r.Tool+" is to be retried")
			case r.Status == "running" || r.Status == "pending":
				left = append(left, r.ID+" "+r.Tool+" "+r.Status)
			case r.Status == "waiting" || r.Status == "interrupted":
				if list = append(list, n); !slices.Contains(listed, n) {
					left = append(left, r.ID+" "+r.Tool+" "+r.Status+" and not reported")
				}
			}
		}
		if n := count(s.T, s.db, "SELECT count(*) FROM firings WHERE open = 1 OR must_end > 0"); n > 0 {
			left = append(left, fmt.Sprint(n, " scheduled times"))
		}
		return len(left) == 0
	}, func() any { return left }, func() any { return s.read(s.log) })
	return list
}

// onEveryChannel waits until each run that needs a person is on each channel.
func (s *killedService) onEveryChannel(list []needed) {
	s.Helper()
	counts := map[string]int{}
	for _, n := range list {
		counts[fmt.Sprintf(`flowrun_attention{kind="%s",tool="%s"}`, n.Kind, n.Tool)]++
	}
	var missing []string
	waittest.Until(s, "all channels", func() bool {
		missing = nil
		channels := map[string]string{"ps": s.printed("ps", "-o", "json"), "schedule list": s.printed("schedule", "list", "-o", "json"), "home page": s.get("/api/v1/attention")}
		doctor, log, metrics := s.printed("doctor"), s.read(s.log), s.get("/metrics")
		s.mu.Lock()
		received := maps.Clone(s.received)
		s.mu.Unlock()
		for _, n := range list {
			for name, text := range channels {
				if !slices.Contains(neededIn(text), n) {
					missing = append(missing, fmt.Sprint(name, n))
				}
			}
			if !strings.Contains(doctor, n.Run) {
				missing = append(missing, fmt.Sprint("doctor", n))
			}
			if !regexp.MustCompile(`a person is needed" kind=` + n.Kind + ` run=` + n.Run).MatchString(log) {
				missing = append(missing, fmt.Sprint("log", n))
			}
			if received[n.Kind+" "+n.Run] == 0 {
				missing = append(missing, fmt.Sprint("notification", n))
			}
		}
		for series, n := range counts {
			m := regexp.MustCompile(regexp.QuoteMeta(series) + ` (\d+)\n`).FindStringSubmatch(metrics)
			if m == nil {
				missing = append(missing, "metric "+series)
			} else if got, _ := strconv.Atoi(m[1]); got < n { // there may be more by now
				missing = append(missing, fmt.Sprintf("metric %s is %d, not %d", series, got, n))
			}
		}
		return len(missing) == 0
	}, func() any { return missing })
}

// mark is a line that a step has written.
type mark struct{ what, tool, slot, run string }

func (s *killedService) marks() (list []mark) {
	s.Helper()
	for line := range strings.Lines(s.read(filepath.Join(s.dir, "marks"))) {
		f := strings.Fields(line)
		if len(f) != 4 {
			s.Fatalf("a step wrote %q", line)
		}
		list = append(list, mark{f[0], f[1], f[2], f[3]})
	}
	return list
}

// judgeRuns compares what the steps have written with the list of runs.
func (s *killedService) judgeRuns(runs map[string]judgedRun) {
	s.Helper()
	began, ended, owner := map[mark]int{}, map[string]bool{}, map[mark]string{}
	for _, m := range s.marks() {
		r, known := runs[m.run]
		if !known || r.Tool != m.tool {
			s.Errorf("%v: the history does not know this run", m)
		}
		if m.what == "end" {
			ended[m.run] = true
			continue
		}
		began[m]++
		slot, first := mark{tool: m.tool, slot: m.slot}, firstOf(runs, m.run)
		if other := owner[slot]; other != "" && other != first {
			s.Errorf("%v has two runs, %s and %s", slot, other, first)
		}
		owner[slot] = first
	}
	again := map[string]bool{}
	for _, k := range killedTools {
		again[k.name] = k.again
	}
	for m, n := range began {
		status := runs[m.run].Status
		switch {
		case n > 1 && !again[m.tool]:
			s.Errorf("%v began %d times", m, n)
		case ended[m.run] || again[m.tool]:
		case m.tool == "fails" && status != "failed", m.tool != "fails" && status != "interrupted":
			s.Errorf("%v was cut off, and its run is %s", m, status)
		}
	}
	retriedBy := map[string]string{}
	for _, r := range runs {
		if r.Status == "succeeded" && !ended[r.ID] {
			s.Errorf("run %s of %s is %s, and has not reached its end", r.ID, r.Tool, r.Status)
		}
		if r.RetryOf == "" {
			continue
		}
		if other := retriedBy[r.RetryOf]; other != "" {
			s.Errorf("run %s is retried by %s and %s", r.RetryOf, other, r.ID)
		}
		retriedBy[r.RetryOf] = r.ID
	}
	for _, r := range runs {
		if r.Tool == "reruns" && r.Status == "failed" && retriedBy[r.ID] == "" {
			s.Errorf("run %s of %s failed, and was not retried", r.ID, r.Tool)
		}
	}
}

// firstOf returns the run whose retry a run is, directly or not; the run itself if it is none.
func firstOf(runs map[string]judgedRun, id string) string {
	for runs[id].RetryOf != "" {
		id = runs[id].RetryOf
	}
	return id
}

// handled is what the history knows of a scheduled time.
type handled struct {
	run, reason string
	late        bool
}

// judgeSlots checks that each scheduled time up to end has a run, or a record that says why not, and counts them.
func (s *killedService) judgeSlots(end time.Time, runs map[string]judgedRun) (slots, skipped, missed int) {
	s.Helper()
	began := map[mark]string{}
	for _, m := range s.marks() {
		began[mark{tool: m.tool, slot: m.slot}] = firstOf(runs, m.run)
	}
	for _, k := range killedTools {
		if k.every == 0 {
			continue
		}
		step := time.Duration(k.every) * time.Second
		known := s.handled(k.name)
		covered := map[int64]bool{}
		for at, h := range known {
			if m := regexp.MustCompile(`; (\d+) times? up to this one`).FindStringSubmatch(h.reason); m != nil && !strings.HasPrefix(k.rule, "must-end-by") {
				n, _ := strconv.Atoi(m[1])
				for i := range n {
					covered[at-int64(i)*int64(step)] = true
				}
			}
		}
		for at := s.start; at.Before(end); at = at.Add(step) {
			slots++
			h, there := known[at.UnixNano()]
			run := began[mark{tool: k.name, slot: at.Local().Format(time.RFC3339)}]
			switch {
			case !there && !covered[at.UnixNano()]:
				s.Errorf("%s has no record of %v", k.name, at)
			case run != h.run && (run != "" || runs[h.run].Status == "succeeded"):
				s.Errorf("%s at %v: run %q began, the history has %+v", k.name, at, run, h)
			case h.run == "" && there && h.reason == "":
				s.Errorf("%s at %v: skipped without a reason", k.name, at)
			case h.run != "" && runs[h.run].ID == "":
				s.Errorf("%s at %v: run %s is not there", k.name, at, h.run)
			case !there || strings.HasPrefix(h.reason, "missed: "):
				missed++
			case h.run == "":
				skipped++
			}
		}
		if n := len(known); n > 0 && k.name == "deadline" {
			s.judgeDeadlines(known)
		}
	}
	return slots, skipped, missed
}

// handled returns what the history knows of the scheduled times of a tool.
func (s *killedService) handled(tool string) map[int64]handled {
	s.Helper()
	rows, err := s.db.QueryContext(s.Context(), "SELECT slot, run, reason, late FROM firings WHERE schedule LIKE ? || '@%'", tool)
	if err != nil {
		s.Fatal(err)
	}
	defer rows.Close()
	all := map[int64]handled{}
	for rows.Next() {
		var at int64
		var h handled
		if err := rows.Scan(&at, &h.run, &h.reason, &h.late); err != nil {
			s.Fatal(err)
		}
		all[at] = h
	}
	if rows.Err() != nil {
		s.Fatal(rows.Err())
	}
	return all
}

// judgeDeadlines checks that a time is late exactly if its run had not succeeded two seconds later.
func (s *killedService) judgeDeadlines(known map[int64]handled) {
	s.Helper()
	for at, h := range known {
		n := count(s.T, s.db, fmt.Sprintf("SELECT count(*) FROM runs WHERE id = '%s' AND status = 'succeeded' AND ended <= %d", h.run, at+int64(2*time.Second)))
		if h.late == (n == 1) {
			s.Errorf("the time %v with %+v had a run in time: %t", time.Unix(0, at), h, n == 1)
		}
	}
}

// left returns the processes of the bed.
func (s *killedService) left() (list []string) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range entries {
		if env, _ := os.ReadFile("/proc/" + e.Name() + "/environ"); bytes.Contains(env, []byte("BED="+s.dir+"\x00")) {
			line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
			list = append(list, e.Name()+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return list
}

// TestServiceKills: a service with scheduled tools of all kinds is killed with -9 at random moments and started again. No
// scheduled time begins in two runs, none is lost without a record, and what needs a person is on every channel.
func TestServiceKills(t *testing.T) {
	t.Parallel()
	sizetest.Need(t, sizetest.Gate, "it waits for the scheduled times of services")
	needtest.Programs(t, "bash", "flock")
	kills := sizetest.Of(0, 3, 30)
	dir := t.TempDir()
	s := &killedService{T: t, killBed: killBed{build(t), filepath.Join(dir, "state")}, dir: dir, received: map[string]int{}, exact: map[string]int{}}
	receiver := httptest.NewServer(http.HandlerFunc(s.receive))
	t.Cleanup(receiver.Close)
	for _, folder := range []string{"project/.flowrun/tools", "project/incoming", "config/flowrun"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	settings := "notifications: {ops: {webhook: '" + receiver.URL + "'}}\n"
	if err := os.WriteFile(filepath.Join(dir, "config/flowrun/config.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start = time.Now().Add(3 * time.Second).Truncate(time.Second)
	s.write(time.Time{})
	s.begin()
	s.db = s.open(t)
	waittest.Until(t, "the schedules", func() bool { return count(t, s.db, "SELECT count(*) FROM cursors") == len(killedTools) }, func() any { return s.read(s.log) })

	random := rand.New(rand.NewPCG(sizetest.Seed(t), 0))
	wait := func(from, to int) { time.Sleep(time.Duration(from+random.IntN(to-from)) * time.Millisecond) }
	began := time.Now()
	files := 0
	drop := func() {
		files++
		s.drop("f" + strconv.Itoa(files))
	}
	for i := range kills {
		drop()
		wait(200, 3000)
		s.cmd.Process.Kill()
		s.cmd.Wait()
		if drop(); i == kills/2 && kills > 10 {
			wait(12_000, 15_000) // these scheduled times are missed
		}
		s.begin()
		if i%10 == 9 && i < kills-1 {
			cut := s.settledInterrupted()
			s.onEveryChannel(cut)
		}
	}
	cycles := time.Since(began)

	end := time.Now().Add(3 * time.Second).Truncate(time.Second)
	s.write(end)
	waittest.Until(t, "the last scheduled times", func() bool { return time.Now().After(end.Add(2 * time.Second)) })
	list := s.settle()
	s.onEveryChannel(list)
	reported := time.Since(end)
	runs := s.runs()
	s.judgeRuns(runs)
	slots, skipped, missed := s.judgeSlots(end, runs)
	if clashes := s.read(filepath.Join(dir, "clashes")); clashes != "" {
		t.Errorf("two runs held one lock:\n%s", clashes)
	}
	if got, want := s.printed("state", "get", "counts", "N"), count(t, s.db, "SELECT count(*) FROM runs WHERE tool = 'counts' AND status = 'succeeded'"); strings.TrimSpace(got) != strconv.Itoa(want) {
		t.Errorf("the state counts %q runs, the history %d", got, want)
	}
	if got := count(t, s.db, "SELECT count(*) FROM runs WHERE tool = 'files'"); got != files {
		t.Errorf("%d runs for %d files", got, files)
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
	waittest.Until(t, "the end of all processes", func() bool { return len(s.left()) == 0 }, func() any { return s.left() })
	s.integrity(t)
	retries := 0
	for _, r := range runs {
		if r.RetryOf != "" {
			retries++
		}
	}
	twice := 0
	for what, n := range s.exact {
		if twice += n - 1; n > 1 {
			t.Logf("%d notifications: %s", n, what)
		}
	}
	t.Logf("%d kills, %v each; %d scheduled times, %d skipped, %d missed; %d runs, %d for files, %d retries; %d need a person, on all channels %v after the last time; %d notifications, %d of them repeated",
		kills, (cycles / time.Duration(kills)).Round(time.Millisecond), slots, skipped, missed, len(runs), files, retries, len(list), reported.Round(time.Millisecond), len(s.exact), twice)
}

// settledInterrupted returns the runs that the service leaves to a person now.
func (s *killedService) settledInterrupted() []needed {
	s.Helper()
	runs := s.runs()
	var list []needed
	waittest.Until(s, "a report of the interrupted runs", func() bool {
		list = neededIn(s.get("/api/v1/attention"))
		for _, r := range runs {
			if r.Tool == "asks" && r.Status == "interrupted" && !slices.Contains(list, needed{r.Status, r.ID, r.Tool}) {
				return false
			}
		}
		return true
	}, func() any { return s.read(s.log) })
	return list
}

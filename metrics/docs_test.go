package metrics_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
	series "github.com/flowrun/flowrun/internal/observe/measure"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/library"
)

// family is a series as Prometheus sees it.
type family struct {
	Type   string
	Labels []string // sorted
}

// afterRun returns the registry of a program that has run a tool, and its content.
func afterRun(t *testing.T) (*series.Program, map[string]family) {
	t.Helper()
	var engine *flowrun.Engine
	p, err := series.NewProgram(series.Options{Load: func() (int, int) { return engine.Load() }})
	if err != nil {
		t.Fatal(err)
	}
	service, err := p.Service(series.State{Runs: func() (int, int) { return 1, 1 }, Pools: func() []series.Pool { return []series.Pool{{Name: "gpu", Slots: 2, Used: 1}} },
		Attention: func() []series.Attention { return nil }, AttentionKinds: []string{"interrupted"},
		Schedules: func() []series.Schedule { return []series.Schedule{{Name: "t", Tool: "t", Next: time.Now()}} }})
	if err != nil {
		t.Fatal(err)
	}
	engine = flowrun.New(flowrun.Config{Store: history.NewMemory(), Journal: p.Journal})
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), &tool.Definition{Name: "t", Steps: []*tool.Step{
		flowrun.GoStep("s", func(context.Context, *flowrun.StepInput) (any, error) { return "out", nil })}})
	if err != nil {
		t.Fatal(err)
	}
	run := p.Run("t")
	defer run.Close()
	if _, err := engine.Run(t.Context(), plan, nil, flowrun.WithSink(run)); err != nil {
		t.Fatal(err)
	}
	service.ScheduleFired(time.Millisecond)
	service.ScheduleWatched("t", true, true)
	service.SchedulesMissed("t", 1)
	file := filepath.Join(t.TempDir(), "t.prom")
	if err := p.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	return p, families(read(t, file))
}

// families parses the text format.
func families(text string) map[string]family {
	list := map[string]family{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)\n(\w+)(?:\{(.*)\})? `).FindAllStringSubmatch(text, -1) {
		f := family{Type: m[2]}
		for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[4], -1) {
			if l[1] != "le" {
				f.Labels = append(f.Labels, l[1])
			}
		}
		slices.Sort(f.Labels)
		list[m[1]] = f
	}
	return list
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWhatIsAskedForExists checks that every series that the dashboard and the alerts use
// exists after a run.
func TestWhatIsAskedForExists(t *testing.T) {
	_, known := afterRun(t)
	for _, file := range []string{"../docs/grafana-dashboard.json", "../docs/alerts.yaml"} {
		names := regexp.MustCompile(`flowrun_[a-z_]+`).FindAllString(read(t, file), -1)
		if len(names) < 20 {
			t.Errorf("%s asks for %d series only", file, len(names))
		}
		for _, name := range names {
			base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			if f := known[base]; f.Type == "" || (f.Type == "histogram") != (base != name) {
				t.Errorf("%s asks for %s, which does not exist", file, name)
			}
		}
	}
}

// TestDocsListEverySeries compares the table in docs/reference/metrics.md with the series.
func TestDocsListEverySeries(t *testing.T) {
	_, known := afterRun(t)
	documented := map[string]family{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(flowrun_\\w+)` \\| (\\w+) \\| ([^|]*)\\|").FindAllStringSubmatch(read(t, "../docs/reference/metrics.md"), -1) {
		f := family{row[2], regexp.MustCompile(`\w+`).FindAllString(row[3], -1)}
		slices.Sort(f.Labels)
		documented[row[1]] = f
	}
	if diff := cmp.Diff(known, documented); diff != "" {
		t.Errorf("(-there +docs/reference/metrics.md):\n%s", diff)
	}
}

// dashboard is what the tests look at in a Grafana dashboard.
type dashboard struct {
	Templating struct{ List []struct{ Name, Type string } }
	Panels     []struct {
		ID         int
		Title      string
		Datasource struct{ UID string }
		Targets    []struct{ Expr string }
	}
}

// TestDashboard checks that the dashboard can be imported anywhere, and that its queries
// are PromQL.
func TestDashboard(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal([]byte(read(t, "../docs/grafana-dashboard.json")), &d); err != nil {
		t.Fatal(err)
	}
	if v := d.Templating.List[0]; v.Name != "datasource" || v.Type != "datasource" {
		t.Errorf("the first variable is %v", v)
	}
	ids := map[int]bool{}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: queries\n  rules:\n")
	for _, p := range d.Panels {
		if ids[p.ID] || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("panel %d %q: its id is taken, its data source is fixed, or it asks for nothing", p.ID, p.Title)
		}
		ids[p.ID] = true
		for i, target := range p.Targets {
			query, err := json.Marshal(strings.NewReplacer("$tool", ".*", "$__rate_interval", "1m", "$__range", "1h").Replace(target.Expr))
			if err != nil {
				t.Fatal(err)
			}
			rules.WriteString("  - {record: panel" + strconv.Itoa(p.ID) + "_" + string(rune('a'+i)) + ", expr: " + string(query) + "}\n")
		}
	}
	file := filepath.Join(t.TempDir(), "queries.yaml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", file)
}

// TestAlerts checks that the rules are valid, and fire when they should.
func TestAlerts(t *testing.T) {
	promtool(t, "", "check", "rules", "../docs/alerts.yaml")
	promtool(t, "", "test", "rules", "testdata/alerts_test.yaml")
}

// alertCases are the cases of promtool.
type alertCases struct {
	Tests []struct {
		Name   string
		Series []struct{ Series string } `yaml:"input_series"`
		Alerts []struct {
			Name     string `yaml:"alertname"`
			Expected []any  `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
	}
}

// TestEveryAlertIsTested checks that there is a case in which a rule fires and one in which it does not, for each of them, that
// each kind of what needs attention is in a case, and that the cases are about series which exist.
func TestEveryAlertIsTested(t *testing.T) {
	_, known := afterRun(t)
	var cases alertCases
	text := read(t, "testdata/alerts_test.yaml")
	if err := yaml.Unmarshal([]byte(text), &cases); err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, c := range cases.Tests {
		for _, a := range c.Alerts {
			fires[a.Name] = fires[a.Name] || len(a.Expected) > 0
			silent[a.Name] = silent[a.Name] || len(a.Expected) == 0
		}
		for _, s := range c.Series {
			name, labels, _ := strings.Cut(s.Series, "{")
			f, exists := known[regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")]
			if !strings.HasPrefix(name, "flowrun_") {
				continue
			}
			for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(labels, -1) {
				if exists = exists && (slices.Contains(f.Labels, l[1]) || slices.Contains([]string{"instance", "job", "le"}, l[1])); !exists {
					t.Errorf("%s: there is no series %s with the label %s", c.Name, name, l[1])
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(read(t, "../docs/alerts.yaml"), -1) {
		if !fires[m[1]] || !silent[m[1]] {
			t.Errorf("testdata/alerts_test.yaml needs a case in which %s fires (%v) and one in which it does not (%v)", m[1], fires[m[1]], silent[m[1]])
		}
	}
	for _, k := range attention.Kinds() {
		if !strings.Contains(text, `flowrun_attention{kind="`+k.Name+`"`) {
			t.Errorf("testdata/alerts_test.yaml has no case for the kind %s", k.Name)
		}
	}
}

// TestJobFiles checks that the rule about cron jobs is about the files that the pages tell people to write.
func TestJobFiles(t *testing.T) {
	pattern := regexp.MustCompile(`node_textfile_mtime_seconds\{file=~"([^"]*)"`).FindStringSubmatch(read(t, "../docs/alerts.yaml"))[1]
	files := 0
	for _, page := range []string{"../docs/guides/monitor-with-prometheus.md", "../docs/reference/metrics.md"} {
		for _, m := range regexp.MustCompile(`--metrics-file (\S+)`).FindAllStringSubmatch(read(t, page), -1) {
			if files++; !regexp.MustCompile("^(" + pattern + ")$").MatchString(m[1]) {
				t.Errorf("%s says --metrics-file %s, which the rule FlowrunJobMissing does not see", page, m[1])
			}
		}
	}
	if files < 2 {
		t.Errorf("the pages name %d files", files)
	}
}

// TestServedFormIsSound checks that the served text satisfies Prometheus, including names.
func TestServedFormIsSound(t *testing.T) {
	p, known := afterRun(t)
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	served := families(w.Body.String())
	for name := range known {
		if served[name].Type == "" {
			t.Errorf("%s is not served", name)
		}
	}
	if served["go_goroutines"].Type == "" {
		t.Error("the Go runtime's series are not served")
	}
	promtool(t, w.Body.String(), "check", "metrics")
}

// promtool runs Prometheus's own checks.
func promtool(t *testing.T, stdin string, args ...string) {
	t.Helper()
	c := exec.Command(needtest.Program(t, "promtool"), args...)
	c.Stdin = strings.NewReader(stdin)
	if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "FAILED") {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

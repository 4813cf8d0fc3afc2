package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestPrometheusScrapesALongRun starts a run of minutes with --metrics-addr, lets a
// Prometheus server scrape it every second, and asks that server how long steps take.
// Once it has answered, the run is stopped.
func TestPrometheusScrapesALongRun(t *testing.T) {
	server := needtest.Program(t, "prometheus")
	t.Parallel()
	dir := t.TempDir()

	var steps strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&steps, "  - {name: s%04d, bash: sleep 0.5}\n", i)
	}
	file := filepath.Join(dir, "long.yaml")
	write(t, file, "name: long\ndescription: Takes its time\nsteps:\n"+steps.String())
	run := launch(t, dir, "flowrun", "run", file, "--metrics-addr", ":0", "--progress", "none")
	target := run.says(`metrics at http://(127\.0\.0\.1:\d+)/metrics`)

	write(t, filepath.Join(dir, "prometheus.yml"), "global: {scrape_interval: 1s}\nscrape_configs: [{job_name: flowrun, static_configs: [{targets: ['"+target+"']}]}]\n")
	prometheus := launch(t, dir, server, "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0")
	api := "http://" + prometheus.says(`msg="?Listening on"?.* address=(127\.0\.0\.1:\d+)`) + "/api/v1/query?query="

	for _, query := range []string{
		`sum(flowrun_step_duration_seconds_sum{tool="long"}) / sum(flowrun_step_duration_seconds_count{tool="long"})`,
		`histogram_quantile(0.5, sum by (le) (rate(flowrun_step_duration_seconds_bucket{tool="long"}[10s])))`,
	} {
		if v := ask(t, api+url.QueryEscape(query)); v < .25 || v > waittest.Limit.Seconds() {
			t.Errorf("%s is %v; each step sleeps half a second", query, v)
		}
	}
	if v := ask(t, api+url.QueryEscape(`sum(flowrun_runs_running{tool="long"})`)); v != 1 {
		t.Errorf("%v runs are active, want 1", v)
	}

	run.stop()
	if _, err := http.Get("http://" + target + "/metrics"); err == nil {
		t.Error("metrics are served after the run's end")
	}
}

// ask repeats a query until the server has an answer that is a number.
func ask(t *testing.T, address string) (v float64) {
	t.Helper()
	waittest.Until(t, "answer from "+address, func() (ok bool) {
		v, ok = answered(t, address)
		return ok
	})
	return v
}

func answered(t *testing.T, address string) (float64, bool) {
	res, err := http.Get(address)
	if err != nil {
		return 0, false // it is not ready yet
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		return 0, false
	}
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, r := range answer.Data.Result {
		text, _ := r.Value[1].(string)
		if v, err := strconv.ParseFloat(text, 64); err == nil && v == v { // not NaN
			return v, true
		}
	}
	return 0, false
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// launched is a program that runs beside the test, with its stderr in a file.
type launched struct {
	*testing.T
	cmd    *exec.Cmd
	stderr string
	ended  bool
}

func launch(t *testing.T, dir, program string, args ...string) *launched {
	t.Helper()
	l := &launched{T: t, cmd: exec.Command(program, args...), stderr: filepath.Join(dir, filepath.Base(program)+".stderr")}
	f, err := os.Create(l.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l.cmd.Dir, l.cmd.Stderr = dir, f
	l.cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+dir+"/state", "TMPDIR="+dir, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.stop)
	return l
}

// says waits for what a pattern finds in stderr.
func (l *launched) says(pattern string) string {
	l.Helper()
	var text []byte
	var found [][]byte
	waittest.Until(l, pattern+" on stderr", func() bool {
		var err error
		if text, err = os.ReadFile(l.stderr); err != nil {
			l.Fatal(err)
		}
		found = regexp.MustCompile(pattern).FindSubmatch(text)
		return found != nil
	}, func() any { return string(text) })
	return string(found[1])
}

// stop asks the program to end and waits until it has.
func (l *launched) stop() {
	if l.ended {
		return
	}
	l.ended = true
	l.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(waittest.Limit, func() { l.cmd.Process.Kill() })
	defer late.Stop()
	l.cmd.Wait()
}

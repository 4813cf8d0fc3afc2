package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestAlertsOfAService has a Prometheus server scrape a service each second. The first failure after the start of the service
// raises an alert, and so does a run that is killed together with the service.
func TestAlertsOfAService(t *testing.T) {
	server := needtest.Program(t, "prometheus")
	t.Parallel()
	dir := t.TempDir()
	tools := filepath.Join(dir, ".flowrun", "tools")
	if err := os.MkdirAll(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tools, "fails.yaml"), "name: fails\ndescription: Fails\nbash: exit 3\n")
	write(t, filepath.Join(tools, "long.yaml"), "name: long\ndescription: Takes its time\nbash: touch started; sleep 3600\n")
	serve := launch(t, dir, "flowrun", "serve", "--listen", "127.0.0.1:0")
	target := serve.says(`listening on http://(127\.0\.0\.1:\d+)`)

	write(t, filepath.Join(dir, "prometheus.yml"), fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\n"+
		"scrape_configs: [{job_name: flowrun, static_configs: [{targets: ['%s']}]}]\n", filepath.Join(top, "docs", "alerts.yaml"), target))
	prometheus := launch(t, dir, server, "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0")
	api := "http://" + prometheus.says(`msg="?Listening on"?.* address=(127\.0\.0\.1:\d+)`) + "/api/v1/"
	waittest.Until(t, "counter of the tool", func() bool {
		v, known := answered(t, api+"query?query=flowrun_runs_total%7Btool%3D%22fails%22,status%3D%22failed%22%7D")
		return known && v == 0
	})
	if firing := alerts(t, api); len(firing) > 0 {
		t.Errorf("before anything happens, there are %q", firing)
	}
	serve.flowrun("run", "fails", "--detach")
	awaitAlert(t, api, "FlowrunRunFailed fails")

	serve.flowrun("run", "long", "--detach")
	waittest.Exists(t, filepath.Join(dir, "started"))
	serve.cmd.Process.Kill()
	serve.cmd.Wait()
	serve.ended = true
	launch(t, dir, "flowrun", "serve", "--listen", target)
	awaitAlert(t, api, "FlowrunNeedsAttention long interrupted")
}

// flowrun runs a command with the history of the program.
func (l *launched) flowrun(args ...string) {
	l.Helper()
	c := exec.Command("flowrun", args...)
	c.Dir, c.Env = l.cmd.Dir, l.cmd.Env
	if out, err := c.CombinedOutput(); err != nil {
		l.Fatalf("flowrun %q: %v\n%s", args, err, out)
	}
}

func awaitAlert(t *testing.T, api, alert string) {
	t.Helper()
	waittest.Until(t, "alert "+alert, func() bool { return strings.Contains(strings.Join(alerts(t, api), "\n")+"\n", alert+"\n") },
		func() any { return alerts(t, api) })
}

// alerts returns the alerts that fire: the name, the tool and the kind of each.
func alerts(t *testing.T, api string) (list []string) {
	t.Helper()
	res, err := http.Get(api + "alerts")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	var answer struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels map[string]string
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, a := range answer.Data.Alerts {
		if a.State == "firing" {
			list = append(list, strings.TrimSpace(a.Labels["alertname"]+" "+a.Labels["tool"]+" "+a.Labels["kind"]))
		}
	}
	return list
}

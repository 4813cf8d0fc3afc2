package command

import (
	"errors"
	"io"
	"os"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// TestDeployFiles: the examples of deployments start workers with flags that there are, and set
// variables that something reads.
func TestDeployFiles(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Command     []string
			Environment map[string]string
		}
	}
	each(t, "../../deploy/compose.yaml", func(n *yaml.Node) error { return n.Decode(&compose) })
	worker := compose.Services["worker"]
	checkWorker(t, worker.Command)
	for name := range worker.Environment {
		checkVariable(t, name)
	}

	var deployments int
	each(t, "../../deploy/kubernetes.yaml", func(n *yaml.Node) error {
		var object struct {
			Kind       string
			StringData map[string]string `yaml:"stringData"`
			Spec       struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Args []string
							Env  []struct{ Name string }
						}
					}
				}
			}
		}
		err := n.Decode(&object)
		for name := range object.StringData {
			checkVariable(t, name)
		}
		for _, c := range object.Spec.Template.Spec.Containers {
			deployments++
			checkWorker(t, c.Args)
			for _, e := range c.Env {
				checkVariable(t, e.Name)
			}
		}
		return err
	})
	if deployments != 1 {
		t.Errorf("%d containers", deployments)
	}
}

// each reads the documents of a YAML file.
func each(t *testing.T, file string, read func(*yaml.Node) error) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := yaml.NewDecoder(f); ; {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := read(&n); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

func checkWorker(t *testing.T, args []string) {
	t.Helper()
	if len(args) == 0 || args[0] != "worker" {
		t.Errorf("%q does not start a worker", args)
		return
	}
	if err := workerCommand(&ui.Env{}).ParseFlags(args[1:]); err != nil {
		t.Errorf("%q: %v", args, err)
	}
}

func checkVariable(t *testing.T, name string) {
	t.Helper()
	for _, known := range []string{"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "FLOWRUN_STATE_DIR"} {
		if name == known {
			return
		}
	}
	t.Errorf("nothing reads %s", name)
}

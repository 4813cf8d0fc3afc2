package servertest

import (
	"os"
	"testing"

	"github.com/flowrun/flowrun"
)

func TestMain(m *testing.M) {
	flowrun.HelperMain()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "servertest")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	programs.dir, programs.built = dir, map[string]string{}
	return m.Run()
}

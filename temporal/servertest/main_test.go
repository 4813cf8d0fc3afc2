package servertest

import (
	"github.com/flowrun/flowrun/internal/engine"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	engine.HelperMain()
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

package flowruntest_test

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/flowruntest"
	"github.com/flowrun/flowrun/library"
)

// TestNightly stands for a test in the program that embeds the tool.
var TestNightly = func(t *testing.T) {
	plan, err := flowrun.Compile(library.New(library.Config{}), "nightly.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run := flowruntest.New().
		On("dump", flowruntest.Answer{Takes: 20 * time.Minute, Exit: 1}, flowruntest.Answer{Takes: 20 * time.Minute}).
		On("upload[*]", flowruntest.Answer{Takes: time.Minute}).
		On("*").
		Run(t, plan, map[string]any{"DB": "shop"})
	if run.Status != dag.Succeeded || len(run.Of("dump")) != 2 || run.Took > time.Hour {
		t.Error(run.Status, run.Took, run.Order())
	}
}

// A pipeline is tested without its programs: the script says what steps answer, and
// an hour on the run's clock takes no time.
func Example() {
	_ = TestNightly
}

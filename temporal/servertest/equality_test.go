package servertest

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// runCase runs a case and checks the order of its steps.
func runCase(t *testing.T, e caseRunner, c *testCase, dir string) document {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	d, err := e.run(ctx, c, dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, c)
	}
	_, plan, err := c.compile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if problem := misordered(plan, d); problem != "" {
		t.Errorf("%s\n%s", problem, c)
	}
	if problem := misorderedTrace(plan, dir); problem != "" {
		t.Errorf("%s\n%s", problem, c)
	}
	return d
}

// TestEquality: every case ends on Temporal as it ends locally, with the same document, and its steps begin in the
// right order. What is sent is encrypted, so that steps can read what contains secrets.
func TestEquality(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("test "+base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startRemote(t, startServerWith(t, keys), 0)
	cases := allCases(t, sizetest.Of(20, 20, 120))
	if least := sizetest.Of(150, 150, 300); len(cases) < least {
		t.Errorf("%d cases, want at least %d", len(cases), least)
	}
	serveHTTP(t, cases)
	t.Logf("%d cases", len(cases))
	t.Run("cases", func(t *testing.T) { // ends before the worker is stopped
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				here, there := t.TempDir(), t.TempDir()
				want, got := runCase(t, local{}, c, here), runCase(t, r, c, there)
				if diff := difference(want, got, here, there); diff != "" {
					t.Errorf("(-local +Temporal)\n%s\n%s", diff, c)
				}
			})
		}
	})
}

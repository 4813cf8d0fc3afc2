package faulttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/test/pgtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/steps/sqlclient"
)

// paying changes two tables in one transaction, with some time between the changes.
const paying = `name: pay
description: Changes two tables.
on-interrupt: fail
parameters:
  N: {description: Number of the payment, type: number, required: true}
steps:
  - name: pay
    sql:
      url: "{env.DB}"
      query:
        - insert into debits values ({N})
        - %s
        - insert into credits values ({N})
`

// A transaction of a step is there as a whole or not at all, and never twice if the step forbids that, whenever flowrun is
// killed, also when the run is resumed.
func TestTransactions(t *testing.T) {
	t.Parallel()
	program := build(t)
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "data.db")
		testTransactions(t, program, "sqlite:"+path, "select count(*) from (with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select i from n)",
			call.DatabaseRequest{Path: path})
	})
	t.Run("postgres", func(t *testing.T) {
		address := pgtest.Start(t).URL
		u, _ := url.Parse(address)
		testTransactions(t, program, address, "select pg_sleep(0.05)", call.DatabaseRequest{URL: u, Dial: new(net.Dialer).DialContext})
	})
}

func testTransactions(t *testing.T, program, address, pause string, request call.DatabaseRequest) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pay.yaml"), fmt.Appendf(nil, paying, pause), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlclient.Open(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	number := func(statement string) (n counter) {
		t.Helper()
		if _, err := db.Execute(t.Context(), func(byte) string { return statement }, nil, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	number("create table debits (n integer)")
	number("create table credits (n integer)")
	flowrun := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "FLOWRUN_STATE_DIR="+filepath.Join(dir, "state"), "DB="+address)
		return cmd
	}
	began := time.Now()
	if out, err := flowrun("run", "./pay.yaml", "N=0").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole, r := time.Since(began), rand.New(rand.NewPCG(sizetest.Seed(t), 1))
	kills, paid := 0, 0
	for n := 1; n <= sizetest.Of(4, 30, 100); n++ {
		cmd := flowrun("run", "./pay.yaml", fmt.Sprintf("N=%d", n))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		death := time.AfterFunc(time.Duration(r.Float64()*1.2*float64(whole)), func() { cmd.Process.Kill() })
		_ = cmd.Wait()
		if death.Stop(); !cmd.ProcessState.Exited() {
			kills++
			_ = flowrun("resume", "latest", "--yes").Run() // it may refuse: the step is not run again
		}
		debits, credits := number(fmt.Sprintf("select n from debits where n = %d", n)), number(fmt.Sprintf("select n from credits where n = %d", n))
		if debits != credits || debits > 1 {
			t.Fatalf("payment %d: %d debits and %d credits", n, debits, credits)
		}
		paid += int(debits)
	}
	t.Logf("%d payments, of which %d happened, and %d kills", sizetest.Of(4, 30, 100), paid, kills)
}

// counter counts rows.
type counter int

func (*counter) Head([]string) error     { return nil }
func (c *counter) Row([]call.Cell) error { *c++; return nil }

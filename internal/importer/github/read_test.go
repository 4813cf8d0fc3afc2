package github_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/github"
	"github.com/flowrun/flowrun/internal/test/importtest"
)

func read(src string) (*importer.Result, error) { return github.Read("ci.yaml", []byte(src)) }

const job = "on: workflow_dispatch\njobs:\n  a:\n    steps:\n"

var features = []importtest.Feature{
	{"`run`, `shell` (bash, sh, python)", job + "      - run: echo x\n", importtest.Changed, "set -e\n          echo x"},
	{"`needs`", "jobs:\n  a: {steps: [{run: echo a}]}\n  b: {needs: a, steps: [{run: echo b}]}\n", importtest.Changed, "wait-for: [a]"},
	{"`env` with fixed values", "env: {A: b}\n" + job + "      - run: echo ${{ env.A }}\n", importtest.Changed, "echo b"},
	{"`matrix`, `include`, `exclude`, `max-parallel`", "jobs:\n  a:\n    strategy: {matrix: {os: [x, y]}}\n    steps: [{run: \"echo ${{ matrix.os }}\"}]\n", importtest.Changed, "Changed: all combinations run on this machine"},
	{"`if` with one comparison or `always()`", job + "      - {run: echo x, if: always()}\n", importtest.Changed, "run-condition: always()"},
	{"`on: schedule`", "on: {schedule: [{cron: \"0 7 * * *\"}]}\njobs:\n  a: {steps: [{run: echo a}]}\n", importtest.Changed, "timezone: UTC"},
	{"inputs of `workflow_dispatch`", "on: {workflow_dispatch: {inputs: {who: {default: x}}}}\njobs:\n  a: {steps: [{run: \"echo ${{ inputs.who }}\"}]}\n", importtest.Changed, "echo {who}"},
	{"a secret in `env`, under its own name", job + "      - {run: ./x, env: {TOKEN: \"${{ secrets.TOKEN }}\"}}\n", importtest.Changed, "env: TOKEN"},
	{"`working-directory`, `timeout-minutes`, `continue-on-error`", job + "      - {run: ./x, working-directory: sub, timeout-minutes: 2}\n", importtest.Changed, "timeout: 120s"},
	{"`uses`", job + "      - uses: actions/checkout@v4\n      - run: echo x\n", importtest.Left, "Left out: step 1"},
	{"`on: push` and other events", "on: push\njobs:\n  a: {steps: [{run: echo a}]}\n", importtest.Left, ""},
	{"other expressions", job + "      - run: echo x\n      - run: echo ${{ github.sha }}\n", importtest.Left, "Left out: step 2"},
	{"`$GITHUB_OUTPUT` with names that can be found", job + "      - {id: a, run: echo v=b >> $GITHUB_OUTPUT}\n      - {run: echo x, if: \"steps.a.outputs.v == 'b'\"}\n", importtest.Changed, "run-condition: '''{a-2.outputs.v}'' matches"},
	{"`$GITHUB_ENV`, `$GITHUB_PATH` and other outputs", job + "      - run: echo x\n      - run: echo a=b >> $GITHUB_ENV\n", importtest.Left, "Left out: step 2"},
	{"`container`, and `services` of a job with a `container`", "jobs:\n  a: {container: alpine, services: {db: {image: 'redis:8'}}, steps: [{run: echo a}]}\n", importtest.Changed, "image: redis:8"},
	{"`services` of a job without `container`", "jobs:\n  a: {services: {db: {image: 'redis:8'}}, steps: [{run: echo a}]}\n", importtest.Left, ""},
	{"`concurrency`", "concurrency: deploy\njobs:\n  a: {steps: [{run: echo a}]}\n", importtest.Changed, "max-active-runs: 1"},
	{"`environment` and other keys of a job", "jobs:\n  a: {environment: production, steps: [{run: echo a}]}\n", importtest.Left, ""},
}

func TestFeatures(t *testing.T) { importtest.Features(t, "GitHub Actions", read, features) }

// badInputs are files that have mistakes, or that ask for what flowrun does not do.
var badInputs = []string{
	"jobs:\n  a: {steps: [{run: \"echo ${{ x\"}]}\n",
	"on: push\n",
	"env:\n  A: xxxxxxxx\n" + doubling() + "jobs:\n  a: {steps: [{run: \"echo ${{ env.Z }}\"}]}\n",
	"jobs:\n  a: {steps: [{run: echo, timeout-minutes: soon}]}\n",
	"jobs:\n  a: {strategy: {matrix: \"${{ x }}\"}, steps: [{run: echo}]}\n",
}

func TestBadInputs(t *testing.T) { importtest.BadInputs(t, read, badInputs) }

func FuzzRead(f *testing.F) { importtest.Fuzz(f, read, features, badInputs) }

// doubling is an environment in which each variable is twice as long as the one before it.
func doubling() string {
	var b strings.Builder
	for c := 'B'; c <= 'Z'; c++ {
		fmt.Fprintf(&b, "  %c: ${{ env.%c }}${{ env.%c }}\n", c, c-1, c-1)
	}
	return b.String()
}

package github_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/test/importtest"
)

// TestLeftOut holds which steps of a job are kept after one that is left out.
func TestLeftOut(t *testing.T) {
	for _, c := range []struct {
		name, first, second string
		status              importer.Status
		reason              string
	}{
		{"a variable", "run: echo V=x >> $GITHUB_ENV", `run: rm -rf "/srv/$V"`, importtest.Left, "it comes after first, which is left out"},
		{"PATH", "run: echo /x >> $GITHUB_PATH", `run: echo x`, importtest.Left, "it comes after first"},
		{"a command", "run: npm ci ${{ github.sha }}", `run: npm test`, importtest.Left, "it comes after first"},
		{"a condition", "{run: ./verify, if: github.ref == 'x'}", `run: ./release`, importtest.Left, "it comes after first"},
		{"an action", "uses: verify/signature@v1", `run: ./release`, importtest.Left, "it comes after first"},
		{"an action, for what always runs", "uses: verify/signature@v1", `{run: ./release, if: always()}`, importtest.Left, "it comes after first"},
		{"a wrong shape", "{run: ./verify, shell: [bash]}", `run: ./release`, importtest.Left, "it comes after first"},
		{"outputs whose names are unknown", "run: cat x >> $GITHUB_OUTPUT", `run: echo x`, importtest.Left, "it comes after first"},
		{"one of two outputs", "run: echo v=x >> $GITHUB_OUTPUT; cat x >> $GITHUB_OUTPUT", `run: echo x`, importtest.Left, "it comes after first"},
		{"an output", "run: echo v=x >> $GITHUB_OUTPUT", `run: echo ${{ steps.one.outputs.v }}`, importtest.Changed, "a value is always one word"},
		{"an output in env", "run: echo v=x >> $GITHUB_OUTPUT", `{run: echo $V, env: {V: "${{ steps.one.outputs.v }}"}}`, importtest.Exact, ""},
		{"an output in a condition", "run: echo v=x >> $GITHUB_OUTPUT", `{run: echo x, if: "steps.one.outputs.v == 'x'"}`, importtest.Exact, ""},
		{"another output", "run: echo v=x >> $GITHUB_OUTPUT", `run: echo ${{ steps.one.outputs.w }}`, importtest.Left, "steps.one.outputs.w"},
		{"a variable of the job that is left out", "run: echo x", `run: echo $J`, importtest.Left, "it reads J"},
		{"what prepares the machine", "uses: actions/setup-node@v4", `run: npm ci`, importtest.Changed, "would have done: first (actions/setup-node@v4)"},
		{"the checkout", "uses: actions/checkout@v4\n        with: {fetch-depth: 0}", `run: npm ci`, importtest.Exact, ""},
		{"the checkout of something else", "uses: actions/checkout@v4\n        with: {repository: a/b}", `run: npm ci`, importtest.Left, "it comes after first"},
		{"what does nothing for later steps", "uses: actions/upload-artifact@v4", `run: npm ci`, importtest.Exact, ""},
		{"a cache that must exist", "uses: actions/cache@v4\n        with: {fail-on-cache-miss: true}", `run: npm ci`, importtest.Left, "it comes after first"},
		{"what gets files", "uses: actions/download-artifact@v4", `run: npm ci`, importtest.Left, "it comes after first"},
		{"what runs only after a failure", "{uses: alarm/alarm@v1, if: failure()}", `run: npm ci`, importtest.Exact, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := "- id: one\n        name: first\n        " + c.first
			if strings.HasPrefix(c.first, "{") {
				first = "- {id: one, name: first, " + c.first[1:]
			}
			second := "{name: second, " + strings.Trim(c.second, "{}") + "}"
			if strings.HasPrefix(c.second, "{") {
				second = "{name: second, " + c.second[1:]
			} else if strings.ContainsAny(c.second, `"{`) {
				second = "name: second\n        " + c.second
			}
			r, err := read("name: w\njobs:\n  j:\n    env: {J: \"${{ needs.x.outputs.y }}\"}\n    steps:\n      " + first + "\n      - " + second + "\n      - run: echo end\n")
			if err != nil {
				t.Fatal(err)
			}
			importtest.Definitions(t, r)
			row := rowOf(t, r, "job j: second")
			if row.Status != c.status || !strings.Contains(row.Reason, c.reason) {
				t.Errorf("got %+v, want %s: %s", row, c.status, c.reason)
			}
		})
	}
}

// rowOf returns the row of one part.
func rowOf(t *testing.T, r *importer.Result, what string) importer.Row {
	t.Helper()
	i := slices.IndexFunc(r.Rows, func(row importer.Row) bool { return row.What == what })
	if i < 0 {
		t.Fatalf("no row %s: %+v", what, r.Rows)
	}
	return r.Rows[i]
}

// TestNeeds reads a job that needs another one, in both orders of the file.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		name, needed string
		status       importer.Status
		reason       string
	}{
		{"a job that is carried over", "steps: [{run: echo a}]", importtest.Exact, ""},
		{"a job that differs", "{timeout-minutes: 5, steps: [{uses: actions/checkout@v4}, {run: echo a}, {uses: alarm/alarm@v1, if: failure()}]}", importtest.Exact, ""},
		{"a job without commands", "uses: ./.github/workflows/x.yaml", importtest.Left, "it needs a, which is left out"},
		{"a job with a condition", "{if: github.ref == 'x', steps: [{run: echo a}]}", importtest.Left, "it needs a, which is left out"},
		{"a job with an environment", "{environment: production, steps: [{run: echo a}]}", importtest.Left, "it needs a, which is left out"},
		{"a job whose steps are left out", "steps: [{run: 'echo ${{ github.sha }}'}]", importtest.Left, "it needs a, which is left out"},
		{"a job of which one step is left out", "steps: [{run: echo a}, {name: verify, uses: verify/signature@v1}]", importtest.Left, "it needs a, whose part verify is left out"},
		{"a job that needs it", "{needs: b, steps: [{run: echo a}]}", importtest.Left, "its needs form a cycle"},
		{"no job", "", importtest.Left, "it needs a, which is not in the file"},
	} {
		a, b := "", "  b: {needs: [a], steps: [{run: echo b}]}\n"
		if c.needed != "" {
			a = "  a:\n    " + c.needed + "\n"
		}
		for order, jobs := range map[string]string{"": a + b, ", further down": b + a} {
			t.Run(c.name+order, func(t *testing.T) {
				r, err := read("name: w\njobs:\n" + jobs + "  c: {steps: [{run: echo c}]}\n")
				if err != nil {
					t.Fatal(err)
				}
				text := importtest.Definitions(t, r)
				if c.reason != "" && !strings.Contains(text, c.reason+".\n") {
					t.Errorf("the definition has no comment:\n%s", text)
				}
				if strings.Contains(text, "echo b") != (c.status == importtest.Exact) {
					t.Errorf("the job b: want %s:\n%s", c.status, text)
				}
				if !slices.ContainsFunc(r.Rows, func(row importer.Row) bool {
					return strings.HasPrefix(row.What, "job ") && row.Status == c.status && strings.HasSuffix(row.Reason, c.reason)
				}) {
					t.Errorf("got %+v, want %s: %s", r.Rows, c.status, c.reason)
				}
			})
		}
	}
}

// TestGuardedJobs holds which keys of a job and of a workflow leave it out, and what is written for the others.
func TestGuardedJobs(t *testing.T) {
	for keys, has := range map[string]string{
		"environment: production":                                             "",
		"strange: x":                                                          "",
		"services: {db: {image: postgres}}":                                   "",
		"container: {image: debian, volumes: [/a]}":                           "",
		"container: {image: debian, env: {A: '${{ secrets.A }}'}}":            "",
		"container: '${{ matrix.image }}'":                                    "",
		"continue-on-error: '${{ matrix.x }}'":                                "",
		"timeout-minutes: soon":                                               "",
		"container: debian, services: {db: {image: x, options: --memory 1g}}": "",
		"container: debian, services: {db: {image: x, volumes: [a]}}":         "",
		"outputs: {x: y}":                                                     "echo GUARDED",
		"concurrency: {group: deploy}":                                        "max-active-runs: 1",
		"concurrency: deploy":                                                 "max-active-runs: 1",
		"container: debian:12":                                                "container:\n          image: debian:12\n          network: true\n        sh: |-\n          set -e\n          echo GUARDED",
		"container: {image: debian, env: {A: c, B: c}}, env: {A: j}":          "variables:\n            A: j\n            B: c\n",
		"container: debian, defaults: {run: {shell: bash}}":                   "bash: |-",
		"container: debian, services: {db: {image: 'postgres:17', env: {P: x}, ports: ['5432:5432'], options: '--health-cmd \"pg_isready -U x\" --health-interval=10s --health-timeout 5s --health-retries 5'}}": "services:\n            db:\n              image: postgres:17\n              env:\n                P: x\n              health:\n                command: pg_isready -U x\n                interval: 10s\n                timeout: 5s\n                retries: 5",
		"container: debian, services: {db: {image: x, options: \"--health-cmd 'ping || exit 1'\"}}":                                                                                                              "command: sh -c 'ping || exit 1'",
	} {
		r, err := read("jobs:\n  a: {" + keys + ", steps: [{run: echo GUARDED}]}\n  b: {steps: [{run: echo b}]}\n")
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		text := importtest.Definitions(t, r)
		if strings.Contains(text, "GUARDED") != (has != "") || !strings.Contains(text, has) {
			t.Errorf("%s: want %q:\n%s%+v", keys, has, text, r.Rows)
		}
	}
}

package ui_test

import (
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// runModels runs code with what the files of the page of a run export.
func runModels(t *testing.T, code string) string {
	t.Helper()
	built := api.Build(api.BuildOptions{Bundle: true, Format: api.FormatIIFE, GlobalName: "page", Target: api.ES2017,
		Stdin: &api.StdinOptions{ResolveDir: "src/run", Contents: "export * from './fold'; export * from './graph_model'; export * from './timeline_model';"}})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	vm := goja.New()
	v, err := vm.RunString(string(built.OutputFiles[0].Contents) + models + "JSON.stringify(" + code + ")")
	if err != nil {
		t.Fatal(err)
	}
	return v.String()
}

// models is a graph with a run of it: get, then test (a loop) beside pack (with two steps),
// and after both of them, by a join, ship and docs. pack/sum was skipped.
const models = `
	const node = (id, x, y, more) => ({id, name: id.replace(/.*\//, ''), x, y, w: 100, h: 40, ...more});
	const doc = {width: 400, height: 300, nodes: [node('get', 100, 0), node('test', 0, 60, {loop: true}), node('pack', 200, 60, {steps: 2}), node('pack/tar', 200, 70, {parent: 'pack'}),
		node('pack/sum', 200, 120, {parent: 'pack'}), node('@1', 150, 170, {join: true, w: 0, h: 0}), node('ship', 0, 200), node('docs', 200, 200)],
		edges: [['get', 'test'], ['get', 'pack'], ['pack/tar', 'pack/sum'], ['test', '@1'], ['pack', '@1'], ['@1', 'ship'], ['@1', 'docs']].map(([from, to]) => ({from, to, points: []}))};
	let seq = 0;
	const event = (s, kind, node, more) => ({seq: ++seq, kind, node, time: new Date(s * 1000).toISOString(), ...more});
	const start = (s, n, more) => event(s, 'step.started', n, {attempt: 1, ...more}), end = (s, n, status, more) => event(s, 'step.finished', n, {result: {status: status || 'succeeded', exit_code: 0, ...more}});
	const events = [event(100, 'run.started'), start(100, 'get'), end(101, 'get'), start(101, 'test'), event(101, 'step.expanded', 'test', {items: 2}), start(101, 'test[0]'), start(103, 'test[1]', {queued_ns: 2e9}),
		end(104, 'test[0]'), start(101, 'pack'), start(101, 'pack/tar'), end(102, 'pack/tar'), end(102, 'pack/sum', 'skipped'), end(102, 'pack'), event(105, 'step.retrying', 'test[1]', {due: new Date(107e3).toISOString(), result: {status: 'failed'}}),
		start(107, 'test[1]', {attempt: 2}), end(109, 'test[1]', 'failed'), end(109, 'test', 'failed', {tolerated: true}), start(109, 'ship'), start(109, 'docs'), end(110, 'docs'), end(112, 'ship'), event(112, 'run.finished', '', {result: {status: 'succeeded'}})];
	const run = page.stateAt(events), ways = page.waysOf(doc);
`

func TestModels(t *testing.T) {
	for _, tt := range []struct{ name, code, want string }{
		{"the critical path goes through the join to the step that ended last", `page.criticalPath(doc, ways, run)`, `["ship","test","get"]`},
		{"before the end too", `page.criticalPath(doc, ways, page.stateAt(events, 102500))`, `["test","get"]`},
		{"the intervals of a step", `run.steps.get('test[1]').intervals.map((i) => [i.kind, i.attempt, i.from / 1000, i.to / 1000])`,
			`[["queue",1,101,103],["run",1,103,105],["retry",1,105,107],["run",2,107,109]]`},
		{"items and steps inside are below what holds them", `page.rowsOf(ways, run, () => true).map((r) => [r.path, r.depth])`,
			`[["get",0],["test",0],["test[0]",1],["test[1]",1],["pack",0],["pack/tar",1],["pack/sum",1],["ship",0],["docs",0]]`},
		{"rows can be folded", `page.rowsOf(ways, run, () => false).map((r) => r.path)`, `["get","test","pack","ship","docs"]`},
		{"a node of a loop counts its items", `page.countText(page.nodeStates(run, true).get('test'))`, `"2 of 2, 1 failed"`},
		{"what ran without an owner is interrupted", `page.nodeStates(page.stateAt(events, 110500), true).get('ship').state`, `"interrupted"`},
		{"arrows lead through joins", `['ArrowDown', 'ArrowUp', 'ArrowRight'].map((k) => page.walk(ways, 'test', k))`, `["ship","get","pack"]`},
		{"and into groups and out of them", `[page.walk(ways, 'pack/tar', 'ArrowUp'), page.walk(ways, 'pack/tar', 'ArrowDown')]`, `["pack","pack/sum"]`},
		{"marks of an axis", `page.marks(3000, 7)`, `[0,500,1000,1500,2000,2500,3000]`},
		{"lines have round corners", `page.linePath([0, 0, 0, 20, 40, 20, 40, 30])`, `"M0 0L0 14Q0 20 6 20L34 20Q40 20 40 25L40 30"`},
		{"paths", `['a#2/b[x/y#1]#3/c', 'a[1]', 'a'].map((p) => [page.withoutAttempts(p), page.withoutKeys(p), page.parentOf(p), page.nameOf(p)])`,
			`[["a/b[x/y#1]/c","a/b/c","a#2/b[x/y#1]#3","c"],["a[1]","a","a","[1]"],["a","a","","a"]]`},
	} {
		if got := runModels(t, tt.code); got != tt.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", tt.name, tt.code, got, tt.want)
		}
	}
}

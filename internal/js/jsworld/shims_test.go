package jsworld

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// shimWorld is a goja runtime with only the shims and what they need of their world.
func shimWorld(t testing.TB) *goja.Runtime {
	vm := goja.New()
	modules := map[string]goja.Value{}
	lent := vm.ToValue(func() any { return nativeFunctions(vm) })
	var require func(name string) goja.Value
	require = func(name string) goja.Value {
		if m, ok := modules[name]; ok {
			return m
		}
		code, ok := Shim(name)
		if !ok {
			panic(vm.ToValue("no module " + name))
		}
		f, err := vm.RunScript(name, "(function(module, exports, require, __lent){"+code+"\n})")
		if err != nil {
			t.Fatal(err)
		}
		call, _ := goja.AssertFunction(f)
		module := vm.NewObject()
		exports := vm.NewObject()
		module.Set("exports", exports)
		if _, err := call(goja.Undefined(), module, exports, vm.ToValue(require), lent); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		modules[name] = module.Get("exports")
		return modules[name]
	}
	vm.Set("require", require)
	for _, name := range []string{"setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "clearImmediate"} {
		vm.Set(name, func() {})
	}
	for name, module := range shimGlobals {
		vm.GlobalObject().DefineAccessorProperty(name, vm.ToValue(func() goja.Value { return require(module).ToObject(vm).Get(name) }), nil, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	goFunctions{true, true, true}.set(vm)
	require("internal/locale-methods")
	require("internal/language")
	vm.Set("RegExp", require("internal/regexp").ToObject(vm).Get("RegExp"))
	return vm
}

// TestShimsAreLikeNode checks that each expression of testdata/shims.txt has the same value as
// in Node.js, compared as JSON or by the code of the thrown error.
func TestShimsAreLikeNode(t *testing.T) {
	text, err := os.ReadFile("testdata/shims.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	node := needtest.Program(t, "node")
	expressions, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	// all returns the chunks of a stream: the expressions cannot use for await.
	const show = `globalThis.all = async stream => {
		const chunks = []
		for (const r = stream.getReader(); ;) {
			const { done, value } = await r.read()
			if (done) { r.releaseLock(); return chunks }
			chunks.push(value)
		}
	};
	(list => Promise.all(list.map(async s => {
		try { const v = await (0, eval)("(" + s + ")"); return typeof v === "string" ? v : JSON.stringify(v) ?? String(v) } catch (e) { return "threw " + (e.code || e.name) }
	})))`
	cmd := exec.Command(node, "-e", "globalThis.require = require; "+show+"("+string(expressions)+").then(v => console.log(JSON.stringify(v)))")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var want, got []string
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	vm := shimWorld(t)
	if _, err := vm.RunString("var values; " + show + "(" + string(expressions) + ").then(v => { values = JSON.stringify(v) })"); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(vm.Get("values").String()), &got); err != nil {
		t.Fatal(err)
	}
	for i, s := range list {
		if got[i] != want[i] {
			t.Errorf("%s\n%s", s, cmp.Diff(want[i], got[i]))
		}
	}
}

package jsworld

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/flowrun/flowrun/internal/needtest"
	"github.com/google/go-cmp/cmp"
)

// shimWorld is a goja runtime with only the shims and what they need of their world.
func shimWorld(t testing.TB) *goja.Runtime {
	vm := goja.New()
	modules := map[string]goja.Value{}
	var require func(name string) goja.Value
	require = func(name string) goja.Value {
		if m, ok := modules[name]; ok {
			return m
		}
		code, ok := Shim(name)
		if !ok {
			panic(vm.ToValue("no module " + name))
		}
		f, err := vm.RunScript(name, "(function(module, exports, require){"+code+"\n})")
		if err != nil {
			t.Fatal(err)
		}
		call, _ := goja.AssertFunction(f)
		module := vm.NewObject()
		exports := vm.NewObject()
		module.Set("exports", exports)
		if _, err := call(goja.Undefined(), module, exports, vm.ToValue(require)); err != nil {
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
	return vm
}

// TestShimsAreLikeNode checks that each expression of testdata/shims.txt has the same value as
// in Node.js, compared as JSON or by the message of the thrown error.
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
	const show = `(list => list.map(s => {
		try { const v = (0, eval)("(" + s + ")"); return typeof v === "string" ? v : JSON.stringify(v) ?? String(v) } catch (e) { return "threw " + (e.code || e.name) }
	}))`
	cmd := exec.Command(node, "-e", "globalThis.require = require; console.log(JSON.stringify("+show+"("+string(expressions)+")))")
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
	v, err := shimWorld(t).RunString("JSON.stringify(" + show + "(" + string(expressions) + "))")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(v.String()), &got); err != nil {
		t.Fatal(err)
	}
	for i, s := range list {
		if got[i] != want[i] {
			t.Errorf("%s\n%s", s, cmp.Diff(want[i], got[i]))
		}
	}
}

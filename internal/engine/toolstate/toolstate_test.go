package toolstate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

const environment = `{"type": "object", "required": ["URL", "PORT"], "properties": {
  "URL": {"type": "string", "description": "the address"}, "PORT": {"type": "integer"}, "MODE": {"type": "string", "default": "fast"},
  "PIN": {"type": "string", "writeOnly": true}, "LOGIN": {"type": "string", "format": "password"}}}`

// open opens the environment of a tool whose .env file has this text, "" for no file.
func open(t *testing.T, text string, outer map[string]string) (*Env, *mask.Mask) {
	t.Helper()
	file := filepath.Join(t.TempDir(), ".env")
	if text != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := dataschema.Parse([]byte(environment))
	if err != nil {
		t.Fatal(err)
	}
	secrets := new(mask.Mask)
	e, err := OpenEnv(file, outer, secrets, &tool.Module{Environment: schema})
	if err != nil {
		t.Fatal(err)
	}
	return e, secrets
}

// TestEnvValues holds where the value of a variable comes from: the tool's file, then the process, then the default. The
// tool sees only variables of the process that it declares.
func TestEnvValues(t *testing.T) {
	e, _ := open(t, "URL=own\nEXTRA=\"$HOME/x\"\n", map[string]string{"URL": "outer", "PORT": "80", "OTHER": "hidden", "HOME": "/h"})
	for name, want := range map[string]any{"URL": "own", "PORT": "80", "MODE": "fast", "EXTRA": "/h/x", "OTHER": nil, "PIN": nil} {
		if got := e.Get(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if diff := cmp.Diff(map[string]string{"URL": "own", "PORT": "80", "MODE": "fast", "EXTRA": "/h/x"}, e.All()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEnvProblems holds what is wrong with an environment by its schema.
func TestEnvProblems(t *testing.T) {
	for text, want := range map[string]string{
		"URL=u\nPORT=80\n": "missing [], bad []",
		"MODE=slow\n":      "missing [PORT URL (the address)], bad []",
		"URL=1\nPORT=x\n":  "missing [], bad [PORT: expected a whole number, got text]",
	} {
		e, _ := open(t, text, nil)
		missing, bad := e.Problems()
		slices.Sort(missing)
		if got := fmt.Sprintf("missing %v, bad %v", missing, bad); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	bare, err := OpenEnv("", nil, new(mask.Mask), &tool.Module{})
	if err != nil {
		t.Fatal(err)
	}
	if missing, bad := bare.Problems(); missing != nil || bad != nil || !strings.Contains(bare.Hint(), "the environment of the program") {
		t.Errorf("%v %v %s", missing, bad, bare.Hint())
	}
	if err := bare.Set(map[string]string{"A": "b"}); err == nil || !strings.Contains(err.Error(), "no folder for them") {
		t.Error(err)
	}
}

// TestEnvChanges writes variables and reads them back from the file, in which other processes change others.
func TestEnvChanges(t *testing.T) {
	e, secrets := open(t, "", nil)
	odd := "a \"b\" $HOME \\ 'c'\n\tend\r"
	if err := e.Set(map[string]string{"ODD": odd, "PIN": "s3cret-pin", "API_TOKEN": "s3cret-token"}); err != nil {
		t.Fatal(err)
	}
	if got := secrets.String("s3cret-pin s3cret-token"); got != "*** ***" {
		t.Errorf("not masked: %s", got)
	}
	for name, v := range map[string]string{"a-b": "x", "": "x", "A=B": "x", "NUL": "a\x00"} {
		if err := e.Set(map[string]string{name: v}); err == nil {
			t.Errorf("%q was set", name)
		}
	}
	again, err := OpenEnv(e.file, map[string]string{"HOME": "/h"}, secrets, &tool.Module{})
	if err != nil || again.Get("ODD") != odd {
		t.Errorf("%q became %q, %v", odd, again.Get("ODD"), err)
	}
	if err := again.Set(map[string]string{"LATER": "x"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Remove([]string{"ODD"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(e.Get("ODD"), e.Get("LATER")); got != "<nil>x" {
		t.Errorf("after the changes of both: %s", got)
	}
	if err := e.Remove(nil); err != nil || e.Get("LATER") != nil {
		t.Errorf("%v, %v", e.Get("LATER"), err)
	}
	if err := os.WriteFile(e.file, []byte("no line of such a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := e.Set(map[string]string{"A": "b"}); err == nil {
		t.Error("a file that cannot be read was replaced")
	}
}

// TestEnvSecrets holds which values are masked before the first step.
func TestEnvSecrets(t *testing.T) {
	e, _ := open(t, "URL=u\nPIN=one\nLOGIN=two\nDB_PASSWORD=three\n", nil)
	list := e.Secrets()
	slices.Sort(list)
	if got := strings.Join(list, " "); got != "one three two" {
		t.Errorf("the secrets are %s", got)
	}
}

// TestStorage keeps values, reads them again, and loses none of concurrent changes.
func TestStorage(t *testing.T) {
	s := &Storage{File: filepath.Join(t.TempDir(), "deep", "storage.json")}
	if v, err := s.Get("a"); v != nil || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	if err := os.Mkdir(filepath.Dir(s.File), 0o700); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := (&Storage{File: s.File}).Set(fmt.Sprintf("k%02d", i), json.RawMessage("12345678901234567890")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	keys, err := s.Keys()
	if v, _ := s.Get("k07"); err != nil || len(keys) != 20 || keys[7] != "k07" || fmt.Sprintf("%s", v) != "12345678901234567890" {
		t.Errorf("%v %v, %v", keys, v, err)
	}
	for _, existed := range []bool{true, false} {
		if was, err := s.Remove("k07"); was != existed || err != nil {
			t.Errorf("%t, %v", was, err)
		}
	}
	if err := s.Set("big", json.RawMessage(`"`+strings.Repeat("x", storageLimit)+`"`)); err == nil || !strings.Contains(err.Error(), "limited to 10000000 bytes") {
		t.Error(err)
	}
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if keys, err := s.Keys(); err != nil || keys == nil || len(keys) > 0 {
		t.Errorf("%v, %v", keys, err)
	}
	if err := os.WriteFile(s.File, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("a"); err == nil || !strings.Contains(err.Error(), "fix the file or remove it") {
		t.Error(err)
	}
	if err := s.Set("a", json.RawMessage("1")); err == nil {
		t.Error("a file that cannot be read was replaced")
	}
	if _, err := new(Storage).Get("a"); err != errNoStorage {
		t.Error(err)
	}
}

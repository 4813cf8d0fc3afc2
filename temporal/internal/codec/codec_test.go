package codec

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// key returns the line of a key.
func key(name string, fill byte) string {
	return name + " " + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, 32)) + "\n"
}

func keyFile(t *testing.T, text string, mode os.FileMode) string {
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return file
}

func newConverter(t *testing.T, text string) converter.DataConverter {
	t.Helper()
	c, err := Converter(keyFile(t, text, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConverter(t *testing.T) {
	c := newConverter(t, "# the keys\n\n"+key("new", 2)+key("old", 1))
	for _, value := range []any{"a secret text", 42, map[string]any{"a secret key": "b"}, []byte("a secret"), nil} {
		p, err := c.ToPayload(value)
		if err != nil {
			t.Fatal(err)
		}
		if text := p.String(); strings.Contains(text, "secret") || !strings.Contains(text, "new") {
			t.Errorf("%v is %s", value, text)
		}
		again, err := c.ToPayload(value)
		if err != nil || bytes.Equal(p.Data, again.Data) {
			t.Errorf("%v is encrypted to the same bytes twice, %v", value, err)
		}
		if got, want := c.ToString(p), converter.GetDefaultDataConverter().ToString(must(converter.GetDefaultDataConverter().ToPayload(value))); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestRotation: what the old key has encrypted can be read as long as the file has it.
func TestRotation(t *testing.T) {
	p := must(newConverter(t, key("old", 1)).ToPayload("value"))
	var got string
	if err := newConverter(t, key("new", 2)+key("old", 1)).FromPayload(p, &got); err != nil || got != "value" {
		t.Errorf("%q, %v", got, err)
	}
	err := newConverter(t, key("new", 2)).FromPayload(p, &got)
	if err == nil || !strings.Contains(err.Error(), `encrypted with the key "old", which the key file does not have`) {
		t.Errorf("without the old key: %v", err)
	}
}

func TestRefused(t *testing.T) {
	c := newConverter(t, key("a", 1)+key("b", 2))
	good := must(c.ToPayload("value"))
	for name, p := range map[string]*commonpb.Payload{
		"plain":      must(converter.GetDefaultDataConverter().ToPayload("value")),
		"nothing":    {},
		"other key":  must(newConverter(t, key("a", 3)).ToPayload("value")),
		"other name": {Metadata: map[string][]byte{"encoding": []byte(encoding), keyName: []byte("b")}, Data: good.Data},
		"no data":    {Metadata: good.Metadata},
		"cut":        {Metadata: good.Metadata, Data: good.Data[:len(good.Data)-1]},
	} {
		var got string
		if err := c.FromPayload(p, &got); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	for i := range good.Data {
		changed := bytes.Clone(good.Data)
		changed[i] ^= 1
		if err := c.FromPayload(&commonpb.Payload{Metadata: good.Metadata, Data: changed}, new(string)); err == nil {
			t.Fatalf("byte %d was changed", i)
		}
	}
}

func TestKeyFile(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "there is no key",
		"# nothing\n":                     "there is no key",
		"a\n":                             "line 1: expected NAME KEY",
		"\na b c\n":                       "line 2: expected NAME KEY",
		"a c2hvcnQ=\n":                    "line 1: the key a is not 32 bytes in base64",
		"a *secret*\n":                    "line 1: the key a is not 32 bytes in base64",
		key("a", 1) + key("a", 2):         "line 2: there is another key a",
		"a " + strings.Repeat("x", 70000): "token too long",
	} {
		_, err := Converter(keyFile(t, text, 0o600))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.40q: %v; want %q", text, err, want)
		}
	}
	if _, err := Converter(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing file")
	}
	if runtime.GOOS != "windows" {
		if _, err := Converter(keyFile(t, key("a", 1), 0o640)); err == nil || !strings.Contains(err.Error(), "can be read by others (mode 0640)") {
			t.Errorf("a readable file: %v", err)
		}
	}
	if c, err := Converter(""); err != nil || c != converter.GetDefaultDataConverter() {
		t.Errorf("no file: %v", err)
	}
}

package steps

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	var m Mask
	if err := m.Add("s3cr\"t pa/ss", "overlap", "lapdog", "aaaa", "line\n", "it's me", "\x1b[0m", ""); err != nil {
		t.Fatal(err)
	}
	if err := m.Add("abc"); !errors.Is(err, ErrShortSecret) {
		t.Error(err)
	}
	for in, want := range map[string]string{
		"":                      "",
		"nothing here":          "nothing here",
		"x s3cr\"t pa/ss y":     "x *** y",
		`{"a":"s3cr\"t pa/ss"}`: `{"a":"***"}`,
		"?q=s3cr%22t+pa%2Fss&":  "?q=***&",
		"/s3cr%22t%20pa%2Fss/":  "/***/",
		"/s3cr%22t%20pa/ss/":    "/***/",
		"+ echo 'it'\\''s me'":  "+ echo '***'",
		`cannot use "\x1b[0m"`:  `cannot use "***"`,
		"overlapdog":            "***",
		"overlap lapdog":        "*** ***",
		"aaaaaaa":               "***",
		"aaa":                   "aaa",
		"overla":                "overla",
		"line":                  "***",
		"abc":                   "abc",
	} {
		if got := m.String(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A secret is found in base64 wherever in the encoded text it stands.
func TestMaskBase64(t *testing.T) {
	const secret = "hunter2-hunter2"
	var m Mask
	if err := m.Add(secret); err != nil {
		t.Fatal(err)
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding} {
		for before := range 7 {
			for after := range 4 {
				text := enc.EncodeToString([]byte(strings.Repeat("x", before) + secret + strings.Repeat("y", after)))
				got := m.String(text)
				if !strings.Contains(got, Replacement) || len(got)-len(Replacement) > len(text)-len(secret) {
					t.Errorf("%d before, %d after: %q", before, after, got)
				}
			}
		}
	}
}

// However a stream is split, it is masked as if it came whole, and no secret is
// left in any of its forms.
func FuzzMask(f *testing.F) {
	f.Add("the password is overlapdog!", "overlap", "lapdog", []byte{3, 9, 1})
	f.Add("aaaaaaaabaaaa", "aaaa", "aaab", []byte{1, 1, 1})
	f.Add("c2VjcmV0MTIz", "secret123", "\xff\xfe\xfd\xfc", []byte{5})
	f.Fuzz(func(t *testing.T, text, a, b string, splits []byte) {
		var m Mask
		m.Add(a, b)
		whole := m.String(text)
		var out bytes.Buffer
		w := m.Writer(&out)
		rest := []byte(text)
		for _, n := range splits {
			n := min(int(n), len(rest))
			w.Write(rest[:n])
			rest = rest[n:]
		}
		w.Write(rest)
		w.Flush()
		if out.String() != whole {
			t.Errorf("in pieces %q, whole %q", out.String(), whole)
		}
		for v := range m.values {
			if strings.Contains(whole, v) && !strings.Contains(Replacement, v) && !strings.Contains(v, "*") {
				t.Errorf("%q is left in %q", v, whole)
			}
			quoted, _ := json.Marshal(v)
			for _, form := range []string{url.QueryEscape(v), string(quoted)} {
				if got := m.String(form); got == form {
					t.Errorf("%q is not masked", form)
				}
			}
		}
	})
}

func BenchmarkMask(b *testing.B) {
	var m Mask
	m.Add("a-secret-that-is-long", "another-secret")
	chunk := bytes.Repeat([]byte("some ordinary text that mentions a thing or another one\n"), 1000)
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		w := m.Writer(discard{})
		w.Write(chunk)
		w.Flush()
	}
}

// BenchmarkMaskLong has a secret that is longer than what is written at once.
func BenchmarkMaskLong(b *testing.B) {
	var m Mask
	secret := []byte(strings.Repeat("0123456789abcdef", 1<<12))
	m.Add(string(secret) + "!")
	chunk := append(append(secret, '!'), secret...)
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		w := m.Writer(discard{})
		w.Write(chunk)
		w.Flush()
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// A secret of several lines is hidden line by line; short lines are not.
func TestMaskLines(t *testing.T) {
	var m Mask
	key := "-----BEGIN KEY-----\r\n  MIIEowIBAAKCAQEA\nshort\nq83vEjRWeJC=\n-----END KEY-----\n"
	if err := m.Add(key); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"line MIIEowIBAAKCAQEA ends": "line *** ends",
		"q83vEjRWeJC=":               "***",
		"a short word":               "a short word",
		"all: " + key + "|":          "all: ***\n|",
	} {
		if got := m.String(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

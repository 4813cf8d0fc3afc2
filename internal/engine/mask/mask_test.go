package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
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

// A secret is found in base64 at any offset of the encoded text.
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

// Programs wrap base64 at different widths: base64 at 76 columns, openssl and PEM at 64, some with
// CRLF. A secret is found wherever the lines end.
func TestMaskWrappedBase64(t *testing.T) {
	secret := "a-canary-of-more-than-fifty-seven-bytes-0123456789-abcdefghijklmnopqrstuvwxyz"
	for _, secret := range []string{secret, "hunter2-hunter2"} {
		var m Mask
		if err := m.Add(secret); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{64, 76} {
			for _, end := range []string{"\n", "\r\n"} {
				for before := range 80 {
					plain := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + secret + "\n"))
					var text strings.Builder
					for ; len(plain) > width; plain = plain[width:] {
						text.WriteString(plain[:width] + end)
					}
					text.WriteString(plain + end)
					got := m.String(text.String())
					if !strings.Contains(got, Replacement) || len(got)-len(Replacement) > text.Len()-len(secret) {
						t.Fatalf("%d columns, %q, %d before: %q", width, end, before, got)
					}
					var split bytes.Buffer
					w := m.Writer(&split)
					for i := range text.Len() {
						w.Write([]byte{text.String()[i]})
					}
					w.Flush()
					if split.String() != got {
						t.Fatalf("byte by byte %q, whole %q", split.String(), got)
					}
				}
			}
		}
	}
	var m Mask
	m.Add("hunter2-hunter2")
	if text := "aHVu\n\ndGVyMi1odW50ZXIy"; m.String(text) != text {
		t.Error("an empty line ends a base64 text")
	}
}

// Every shell and language quotes a secret in its own way.
func TestMaskQuoted(t *testing.T) {
	const secret = "can'ary $x `y` \"z\" \\ a,b=~c;é\U0001F511!"
	var m Mask
	if err := m.Add(secret, "two\nli'nes\x1b"); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`can\'ary\ \$x\ \` + "`y\\`" + `\ \"z\"\ \\\ a\,b=\~c\;é🔑\!`:     "***",   // printf %q
		`"can'ary \$x \` + "`y\\`" + ` \"z\" \\ a,b=~c;é🔑!"`:             `"***"`, // declare -p
		`'can'"'"'ary $x ` + "`y`" + ` "z" \ a,b=~c;é🔑!'`:                `'***'`, // shlex.quote
		`"can'ary $x ` + "`y`" + ` \"z\" \\ a,b=~c;\u00e9\ud83d\udd11!"`: `"***"`, // json.dumps
		`"can'ary $x ` + "`y`" + ` \"z\" \\ a,b=~c;\u00E9\uD83D\uDD11!"`: `"***"`,
		`$'two\nli\'nes\E'`: `$'***'`, // printf %q and declare -p, of control characters
	} {
		if got := m.String(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// JavaScript escapes URLs with a different set of characters than Go.
func TestMaskEscapedByJavaScript(t *testing.T) {
	var m Mask
	if err := m.Add("a b!'()*~;,/?:@&=+$#é%"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"encodeURIComponent": "a%20b!'()*~%3B%2C%2F%3F%3A%40%26%3D%2B%24%23%C3%A9%25",
		"encodeURI":          "a%20b!'()*~;,/?:@&=+$#%C3%A9%25",
		"URLSearchParams":    "a+b%21%27%28%29*%7E%3B%2C%2F%3F%3A%40%26%3D%2B%24%23%C3%A9%25",
	} {
		if got := m.String("x=" + text); got != "x=***" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The quoted forms are those that an installed shell writes.
func TestMaskQuotedByShell(t *testing.T) {
	bash := needtest.Program(t, "bash")
	for _, secret := range []string{"plain-canary", "can'ary", `a$b"c\d` + "`e", "sp ace\ttab", "~/x:~y=~z #h", "{a,b}[c]*?^!|&;<>()", "two\nlines'\x01"} {
		var m Mask
		if err := m.Add(secret); err != nil {
			t.Fatal(err)
		}
		for _, script := range []string{`printf %q "$S"`, `printf %q "x$S"`, `declare -p S`, `export -p | sed -n '/ S=/,$p'`, `set -x; : "$S"`, `echo "${S@Q}"`} {
			cmd := exec.Command(bash, "-c", script)
			cmd.Env = []string{"S=" + secret, "LC_ALL=C", "PATH=" + os.Getenv("PATH")}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v: %s", script, err, out)
			}
			if got := m.String(string(out)); !strings.Contains(got, Replacement) {
				t.Errorf("%q by %s: %q", secret, script, got)
			}
		}
	}
}

// A stream is masked the same however it is split, and contains no form of a secret.
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

// BenchmarkMaskLong has a secret that is longer than one write.
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

// A secret with several lines is hidden line by line, except short lines.
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

// Templates escape for HTML, and logs contain JSON inside JSON.
func TestMaskEscapedForHTML(t *testing.T) {
	const secret = `p<a>&"q'\w=ü/x`
	inner, _ := json.Marshal(map[string]string{"k": secret})
	outer, _ := json.Marshal(map[string]string{"m": string(inner)})
	var m Mask
	if err := m.Add(secret); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"Go's html":        html.EscapeString(secret),
		"between tags":     strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(secret),
		"Python's html":    strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace(secret),
		"PHP's html":       strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#039;").Replace(secret),
		"XML":              strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(secret),
		"JSON":             string(inner),
		"JSON in JSON":     string(outer),
		"Python's twice":   `{"m": "{\"k\": \"p<a>&\\\"q'\\\\w=\\u00fc/x\"}"}`,
		"Python's unicode": `{"m": "{\"k\": \"p<a>&\\\"q'\\\\w=ü/x\"}"}`,
	} {
		if got := m.String("<" + text + ">"); !strings.Contains(got, Replacement) || strings.Contains(got, "q") {
			t.Errorf("%s: %s became %s", name, text, got)
		}
	}
}

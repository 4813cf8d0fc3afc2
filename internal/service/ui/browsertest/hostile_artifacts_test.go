package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileTexts are contents that would do something if they were taken for more than text. HACK is code that would be
// noticed.
var hostileTexts = []string{
	`<script>HACK</script>`, `<img src=x onerror="HACK">`, `<svg xmlns="http://www.w3.org/2000/svg" onload="HACK"><script>HACK</script></svg>`,
	`<iframe srcdoc="<script>HACK</script>"></iframe>`, `<meta http-equiv="refresh" content="0;url=/logout">`, `<base href="https://example.com/"><script src="/assets/app.js"></script>`,
	`<form action="/logout" method="post"><button>x</button></form><script>document.forms[0].submit()</script>`, `<body onload="HACK">`, `<a href="javascript:HACK" autofocus onfocus="HACK">x</a>`,
	`<link rel="stylesheet" href="https://example.com/x.css"><style>@import "https://example.com/y.css"; * { background: url(https://example.com/z) }</style>`,
	`[x](javascript:HACK) <javascript:HACK> ![x](javascript:HACK)`, "```html\n<script>HACK</script>\n```\n> > > > > > > > > > > > deep", strings.Repeat("- ", 2000) + "x", strings.Repeat("*", 20000), strings.Repeat("[", 5000) + strings.Repeat("](", 5000),
	strings.Repeat("`", 9999) + "x", strings.Repeat("_a_", 5000), strings.Repeat("> ", 3000) + "x",
	`=HYPERLINK("javascript:HACK","x"),"` + "\n" + `",<script>HACK</script>`, `"` + strings.Repeat(`""`, 50000), strings.Repeat(",", 20000), strings.Repeat("a,b\n", 20000),
	`{"__proto__": {"HACK": 1}, "constructor": {"prototype": {"x": 1}}, "toString": "HACK"}`, strings.Repeat("[", 100000), strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
	"{\"a\": \"\u202e\u2066<script>HACK</script>\"}", "\x00\x01\xff\xfe<script>HACK</script>", "\ufeff<script>HACK</script>", "", "\n", strings.Repeat("x", 2<<20),
}

// TestHostileArtifacts: whatever a file holds and however it is called, the page shows it and nothing in it runs.
func TestHostileArtifacts(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(main.dir, "hostile")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	n := 0
	write := func(name, text string) {
		n++
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d", n)+name), []byte(strings.ReplaceAll(text, "HACK", "top.hacked=1;parent.document.title='hacked';alert(1)")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range hostileTexts {
		for _, end := range []string{".html", ".md", ".csv", ".json"} {
			write(end, text)
		}
	}
	for _, name := range []string{".svg", ".txt", ".png", ".pdf", ".jsonl", `"><img src=x onerror=alert(1)>.html`, "<script>alert(1)<\u2044script>.md", "\u202etxt.html", "a b&c=d#e?f%2F.json", "javascript:alert(1).csv"} {
		write(name, hostileTexts[2])
	}
	id := began(t, "collects", map[string]any{"FOLDER": "hostile"}, "succeeded")
	b := open(t, main)
	for _, part := range []string{"Blocked script execution", "Content Security Policy", "Blocked form submission", "policy violated", "Unsafe attempt", "sandboxed"} {
		b.expect(part)
	}
	b.goTo("/runs/" + id + "/artifacts")
	b.until(fmt.Sprintf(`document.querySelectorAll('.files button.link').length === %d`, n))
	for i := range n {
		b.clickOn(fmt.Sprintf(`document.querySelectorAll('.files button.link')[%d]`, i))
		b.until(`document.querySelector('.preview-box') && !document.querySelector('.preview-box .loading')`)
		if bad := eval[string](b, `window.hacked ? 'code ran' : document.title.includes('hacked') ? 'the title was changed' : !location.pathname.endsWith('/artifacts') ? location.href : document.querySelector('main .problem')?.innerText ?? ''`); bad != "" {
			t.Errorf("%s: %s", eval[string](b, fmt.Sprintf(`document.querySelectorAll('.files button.link')[%d].innerText`, i)), bad)
		}
	}
}

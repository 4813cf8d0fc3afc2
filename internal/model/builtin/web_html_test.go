package builtin

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestMarkdownOf is a small corpus of pages, and what is to be read of each.
func TestMarkdownOf(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"headings", "<h1>A</h1><h2>B <em>c</em></h2><p>d</p><h6>e", "# A\n\n## B c\n\nd\n\n###### e"},
		{"blanks", "<p>  a\n\n b\t<b>c</b>d </p>  <p> e", "a b cd\n\ne"},
		{"entities", "<p>a &amp; &lt;b&gt; &copy; &#x41;&nbsp;c", "a & <b> © A c"},
		{"break", "a<br>b<br/>c", "a\nb\nc"},
		{"list", "<ul><li>a<li>b</ul><p>c", "- a\n- b\n\nc"},
		{"numbers", "<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"},
		{"nested list", "<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>", "- a\n  - b\n  - c\n- d"},
		{"item without a list", "<li>a</li>", "- a"},
		{"links", `<a href="/x">a</a> <a href="y?q=1#z">b</a> <a href="https://other.example/">c</a>`, "a (https://example.com/x) b (https://example.com/dir/y?q=1#z) c (https://other.example/)"},
		{"no links", `<a href="#x">a</a> <a href="javascript:alert(1)">b</a> <a>c</a> <a href="data:,x">d</a> <a href="http://[">e</a>`, "a b c d e"},
		{"empty link", `a <a href="/x"></a> b`, "a b"},
		{"link around a block", `<a href="/x"><h2>T</h2></a>`, "## T (https://example.com/x)"},
		{"unclosed link", `<a href="/x">a`, "a"},
		{"code", "<p>Run <code>go  test</code> now", "Run `go test` now"},
		{"block of code", "<pre><code>a\n  b &lt;c&gt;\n</code></pre><p>d", "```\na\n  b <c>\n```\n\nd"},
		{"fences in code", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"},
		{"unclosed code", "<pre>a\n b", "```\na\n b\n```"},
		{"quote", "<blockquote><p>a<p>b</blockquote>c", "> a\n>\n> b\n\nc"},
		{"table", "<table><tr><th>a<th>b</tr><tr><td>1<td>2</tr></table>", "a | b\n1 | 2"},
		{"left out", "<style>p{}</style><script>alert('<p>no</p>')</script><noscript>no</noscript><svg><title>no</title></svg><template><p>no</template>yes", "yes"},
		{"nested left out", "<svg><svg>no</svg>no</svg>yes", "yes"},
		{"hidden", `<p>a<span hidden>no</span><div style="display: none">no<div>no</div></div><p>b`, "a\n\nb"},
		{"comments", "a<!-- no -->b<![CDATA[ no ]]>c", "abc"},
		{"pictures", `<img alt="A cat" src=x><img src=y>z`, "[picture: A cat]z"},
		{"rule", "a<hr>b", "a\n\n---\n\nb"},
		{"no tags", "just text", "just text"},
		{"broken", "<p>a</div></b><<p>b</p <i>c", "a\n<\n\nb\n\nc"},
		{"stray ends", "</ul></ol></blockquote></a></pre>a", "a"},
		{"characters that steer", "a&#27;[31m&#x202e;b&#0;", "a[31mb\uFFFD"},
		{"empty", "", ""},
		{"a script that is not closed", "a<script>no", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, got := markdownOf(c.page, "https://example.com/dir/page"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	title, _ := markdownOf("<head><title> A &amp;\n B </title></head><body><title>C</title>", "")
	if title != "A & B" {
		t.Errorf("the title is %q", title)
	}
}

// TestHostilePages: the work grows with a page's length and no faster, and what results from it
// stays small.
func TestHostilePages(t *testing.T) {
	for _, part := range []string{"<b>", "<div>", "<blockquote>a", "<ul><li>a", "<a href=x>", "<a href=x>a</a>", "<pre>", "<pre>`", "</p>", "<", "<!--", "&", "&amp;", "<svg>", "<td>", "<h6>a", " ", "a ", "<p hidden>", "<p style='" + strings.Repeat("x", 100) + "'>"} {
		work := func(size int) time.Duration {
			page := strings.Repeat(part, size/len(part))
			began := time.Now()
			_, text := markdownOf(page, "https://example.com/")
			took := time.Since(began)
			if len(text) > maxMarkdown+len(page) {
				t.Errorf("%q: %d bytes of %d", part, len(text), len(page))
			}
			return took
		}
		// 8 times as much: work that grows with the square takes 64 times as long, each time.
		// A busy machine interrupts the larger one more often, but not each time.
		small, large := work(80_000), time.Hour
		for n := 0; large > 40*max(small, time.Millisecond); n++ {
			if large = min(large, work(640_000)); n == 100 {
				t.Errorf("%q: 80 KB take %v, 640 KB %v", part, small, large)
				break
			}
		}
	}
}

func FuzzMarkdownOf(f *testing.F) {
	for _, page := range []string{"<p>a</p>", "<pre>`</pre>", "<ul><li><a href='x'>y</ul>", "<blockquote>\xff", "<svg><pre></svg>"} {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		title, text := markdownOf(decoded([]byte(page), webKind{html: true, written: "text/html; charset=utf-8"}), "https://example.com/")
		if !utf8.ValidString(title+text) || strings.ContainsAny(title+text, "\x1b\x00\u202e") {
			t.Errorf("%q %q", title, text)
		}
	})
}

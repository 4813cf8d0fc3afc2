package decode

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/markdown"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// isPage reports whether a file is Markdown, by its name.
func isPage(file string) bool { return strings.EqualFold(filepath.Ext(file), ".md") }

// readPage reads a Markdown tool: its front matter, then its blocks.
func readPage(d *keytable.Decoder, def *tool.Draft) {
	def.Format = tool.Markdown
	p := markdown.Split(d.Src)
	if why, hint := notToolReason(d.Src, p); why != "" {
		if why == unreadableFront {
			d.Within(p.Front, func() { d.Parse() }) // reports where it is wrong
		}
		d.Report(diagnostic.Diagnostic{Code: "not-a-tool", Severity: diagnostic.Error, Pos: diagnostic.Pos{File: d.Src.File, Line: 1, Col: 1}, Message: "this Markdown file is not a tool: " + why, Hint: hint})
		return
	}
	if problem, bad := d.Src.Problem(); bad {
		d.Report(problem)
		return
	}
	if len(d.Src.Text) > markdown.MaxSize {
		d.Report(diagnostic.Diagnostic{Code: "file-too-large", Severity: diagnostic.Error, Pos: diagnostic.Pos{File: d.Src.File, Line: 1, Col: 1},
			Message: fmt.Sprintf("cannot read the definition: a Markdown tool can have at most %d KiB", markdown.MaxSize>>10), Hint: "move long scripts or data into other tools or files"})
		return
	}
	if !p.Closed {
		d.Report(diagnostic.Diagnostic{Code: "unclosed-front-matter", Severity: diagnostic.Error, Pos: d.Src.Pos(p.Front.From), Len: 1,
			Message: "the front matter is not closed", Hint: "add a line with --- after its last line"})
		return
	}
	top := &pageDraft{Draft: def}
	d.Within(p.Front, func() {
		if root := tool.TopMapping(d, "the front matter"); root != nil {
			d.Root, def.Pos = pageTable().front, d.Pos(root)
			d.Object(d.Root, top, root)
		}
	})
	blocks := markdown.Fences(d.Src, p.Body)
	checkOneFrontMatter(d, p.Body, blocks)
	readBlocks(d, top, blocks)
}

const unreadableFront = "its front matter cannot be read"

// notToolReason returns the reason why a Markdown file is not a tool, and a hint. It returns "" if the file claims to
// be one; if such a file cannot be read, it is a tool with errors.
func notToolReason(s *diagnostic.Source, p markdown.Page) (why, hint string) {
	const begin = "begin the file with ---, tool: true, name:, type: and ---"
	if !p.HasFront {
		return "it has no front matter", begin
	}
	front := s.Between(p.Front)
	root, err := keytable.ParseOne([]byte(front))
	switch mapping := err == nil && root.Kind == yaml.MappingNode; {
	case mapping && claimsTool(root), !mapping && toolLine().MatchString(front):
		return "", ""
	case err != nil && !errors.Is(err, io.EOF):
		return unreadableFront, begin
	default:
		return "its front matter does not contain tool: true", "add tool: true to the front matter"
	}
}

// toolLine matches a line of front matter that cannot be read, if it shows that the file is meant as a tool. Its colon
// may be what is missing.
var toolLine = diagnostic.Pattern(`(?mi)^["']?(tool["']?[ \t]*[: \t][ \t]*["']?(true|yes|on)|type["']?[ \t]*[: \t][ \t]*["']?(single|chain))\b`)

// claimsTool reports whether the front matter claims that the file is a tool. Invalid ways of saying so count too: they
// are reported as errors later.
func claimsTool(front *yaml.Node) bool {
	v := keytable.ValueOf(front.Content, "tool")
	return v != nil && slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(keytable.Deref(v).Value))
}

// checkPage checks the front matter as a whole.
func checkPage(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	p := into.(*pageDraft)
	key := "name"
	switch {
	case p.id != nil:
		key, p.Name, p.NamePos = "id", p.id.S, p.id.Pos
		if p.name != nil {
			p.DisplayName = p.name.S
		}
	case p.name != nil:
		p.Name, p.NamePos = p.name.S, p.name.Pos
	default:
		d.Fail(n, "no-name", "the tool has no name", "add 'name:'")
	}
	if p.id != nil || p.name != nil {
		tool.CheckToolName(d, p.Draft, n, key, content)
	}
	if keytable.ValueOf(content, "type") == nil {
		d.Fail(n, "no-type", "the tool has no type", "add 'type: single' to run one tool, or 'type: chain' for steps")
	}
	if p.Description == "" && keytable.ValueOf(content, "description") == nil {
		d.Warn(n, "no-description", "the tool has no description", "add 'description:'; people and models choose the tool by it")
	}
	p.Parameters = slices.DeleteFunc(p.Parameters, func(prm *tool.Parameter) bool { return prm.Name == "" }) // the field has already reported a missing name
	checkUniqueParameters(d, p.Parameters)
	tool.CheckShared(d, p.Draft, content)
}

// checkPageParameter checks an entry of parameters.
func checkPageParameter(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	p := into.(*tool.ParameterDraft)
	if keytable.ValueOf(content, "name") == nil {
		d.Fail(n, "no-name", "the parameter has no name", "add 'name:'")
		return
	}
	if keytable.ValueOf(content, "type") == nil {
		d.Report(diagnostic.Diagnostic{Code: "no-type", Severity: diagnostic.Error, Pos: p.Pos, Path: d.Path.String(), Message: "the parameter " + diagnostic.Quote(p.Name) + " has no type",
			Hint: "add 'type:', one of " + strings.Join(tool.Keys().Field("parameters").Of.Field("type").Enum, ", ")})
	}
	tool.CheckParameter(d, into, n, content)
	if p.Default != nil {
		warnDefaultPlaceholders(d, *p.Default)
		data := asLiteral(*p.Default)
		p.Default = &data
	}
}

var pagePlaceholder = diagnostic.Pattern(`\{\{[ \t]*[A-Za-z_][^\s{}]*[ \t]*\}\}`)

// warnDefaultPlaceholders warns about placeholders in a default: they are not replaced there.
func warnDefaultPlaceholders(d *keytable.Decoder, v keytable.Value) {
	if v.Text != nil {
		for _, at := range pagePlaceholder().FindAllStringIndex(v.Text.S, -1) {
			found := v.Text.S[at[0]:at[1]]
			d.Report(diagnostic.Diagnostic{Code: "default-placeholder", Severity: diagnostic.Warning, Pos: v.Text.At(at[0]), Len: len([]rune(found)),
				Message: found + " is only text in a default: flowrun does not replace placeholders there",
				Hint:    "leave the parameter without a default, and set the value in pre-processing"})
		}
	}
	for _, e := range v.List {
		warnDefaultPlaceholders(d, e)
	}
	for _, e := range v.Map {
		warnDefaultPlaceholders(d, e.Value)
	}
}

// asLiteral returns a copy of a value whose texts contain no references.
func asLiteral(v keytable.Value) keytable.Value {
	v.Text = nil
	v.List = slices.Clone(v.List)
	for i := range v.List {
		v.List[i] = asLiteral(v.List[i])
	}
	v.Map = slices.Clone(v.Map)
	for i := range v.Map {
		v.Map[i].Value = asLiteral(v.Map[i].Value)
	}
	return v
}

// checkUniqueParameters reports parameters with the same name.
func checkUniqueParameters(d *keytable.Decoder, list []*tool.Parameter) {
	first := map[string]*tool.Parameter{}
	for i, p := range list {
		if before := first[p.Name]; before != nil {
			d.Report(diagnostic.Diagnostic{Code: "duplicate-parameter", Severity: diagnostic.Error, Pos: p.Pos, Len: len([]rune(p.Name)), Path: fmt.Sprintf("parameters[%d].name", i),
				Message: fmt.Sprintf("the parameter %s is given twice: on line %d and on line %d", diagnostic.Quote(p.Name), before.Pos.Line, p.Pos.Line),
				Hint:    "keep one of the two", Related: []diagnostic.Place{{Pos: before.Pos, Len: len([]rune(p.Name)), Message: "first given here"}}})
			continue
		}
		first[p.Name] = p
	}
}

// checkCall checks the use of a tool as a whole.
func checkCall(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	c := into.(*call)
	c.at = d.Pos(n)
	if !c.misspelled && c.tool == nil && c.name == nil && keytable.ValueOf(content, "tool") == nil && keytable.ValueOf(content, "name") == nil {
		d.Fail(n, "no-body", "the step does not name a tool", "add 'tool:' with the name of a tool")
	}
	if v := c.parameters; v.Pos.Line > 0 && v.Map == nil && v.Text == nil {
		written := keytable.Deref(keytable.ValueOf(content, "parameters"))
		d.Fail(written, "wrong-type", "expected a mapping of names, found "+keytable.Describe(written), keytable.FormHint("a mapping of names"))
	}
	for _, key := range []string{"pre", "post"} {
		if second := keytable.KeyOf(content, key+"-processing"); second != nil && keytable.KeyOf(content, key+"_processing") != nil {
			d.FailKey(second, "two-values", key+"_processing is given twice", "keep one of the two")
		}
	}
}

// role is the purpose of a block of a page, known from its marker or keys, never from the headings around it.
type role string

const (
	preBlock    role = "@preprocess"
	postBlock   role = "@postprocess"
	singleRole  role = "tool:"
	chainRole   role = "steps:"
	unknownRole role = ""
)

var (
	comments = diagnostic.Pattern(`^\s*(?://[^\n]*|/\*(?s:.*?)\*/)`)
	markers  = diagnostic.Pattern(`@([A-Za-z][A-Za-z_-]*)`)
)

// marker returns the first word with an @ in the comments at the beginning of a script, and its offset.
func marker(code string) (word string, at int) {
	for from := 0; ; {
		c := comments().FindStringIndex(code[from:])
		if c == nil {
			return "", 0
		}
		if m := markers().FindStringSubmatchIndex(code[from : from+c[1]]); m != nil {
			return code[from+m[2] : from+m[3]], from + m[2] - 1
		}
		from += c[1]
	}
}

// blockKeys returns the role of a block of YAML, from the top-level key that makes it a tool block. If the text is not
// valid YAML, a pattern searches it for the key.
func blockKeys(text string) role {
	if root, err := keytable.ParseOne([]byte(text)); err == nil {
		switch {
		case root.Kind != yaml.MappingNode:
		case keytable.ValueOf(root.Content, "steps") != nil:
			return chainRole
		case keytable.ValueOf(root.Content, "tool") != nil:
			return singleRole
		}
		return unknownRole
	}
	m := topKey(text).FindStringSubmatch(text)
	if m == nil {
		return unknownRole
	}
	return role(m[1] + ":")
}

// topKey returns a pattern that finds tool or steps with the same indentation as the first line of a text.
func topKey(text string) *regexp.Regexp {
	blanks := ""
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " \t"); strings.TrimSpace(rest) != "" && rest[0] != '#' {
			blanks = line[:len(line)-len(rest)]
			break
		}
	}
	return regexp.MustCompile(`(?m)^` + blanks + `(tool|steps)[ \t]*:`)
}

package findings

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/explain"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// The objects of SARIF 2.1.0 that are used here, with the names of the specification.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool `json:"tool"`
		ColumnKind string    `json:"columnKind"`
		Results    []result  `json:"results"`
	}
	sarifTool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name           string `json:"name"`
		Version        string `json:"version,omitempty"`
		InformationURI string `json:"informationUri"`
		Rules          []rule `json:"rules"`
	}
	rule struct {
		ID               string   `json:"id"`
		ShortDescription message  `json:"shortDescription"`
		FullDescription  *message `json:"fullDescription,omitempty"`
		Help             *help    `json:"help,omitempty"`
	}
	help struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	message struct {
		Text string `json:"text"`
	}
	result struct {
		RuleID           string     `json:"ruleId"`
		RuleIndex        int        `json:"ruleIndex"`
		Level            string     `json:"level"`
		Message          message    `json:"message"`
		Locations        []location `json:"locations,omitempty"`
		RelatedLocations []location `json:"relatedLocations,omitempty"`
		Fixes            []fix      `json:"fixes,omitempty"`
	}
	location struct {
		ID               *int     `json:"id,omitempty"`
		Message          *message `json:"message,omitempty"`
		PhysicalLocation physical `json:"physicalLocation"`
	}
	physical struct {
		ArtifactLocation artifact `json:"artifactLocation"`
		Region           *region  `json:"region,omitempty"`
	}
	artifact struct {
		URI string `json:"uri"`
	}
	region struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn"`
	}
	fix struct {
		Description     message  `json:"description"`
		ArtifactChanges []change `json:"artifactChanges"`
	}
	change struct {
		ArtifactLocation artifact      `json:"artifactLocation"`
		Replacements     []replacement `json:"replacements"`
	}
	replacement struct {
		DeletedRegion   region   `json:"deletedRegion"`
		InsertedContent *message `json:"insertedContent,omitempty"`
	}
)

// SARIF writes a log with one run. version is that of flowrun. Columns count UTF-16 code units; file returns the
// contents of the files, which are needed to convert them. name returns the path of a file as readers know it.
func SARIF(w io.Writer, ds tool.Diagnostics, version string, file func(name string) []byte, name func(file string) string) error {
	s := &sarif{read: file, name: name, texts: map[string][]byte{}, rules: map[string]int{}}
	r := sarifRun{ColumnKind: "utf16CodeUnits", Results: []result{}}
	for _, d := range ds {
		r.Results = append(r.Results, s.result(d))
	}
	r.Tool.Driver = driver{Name: "flowrun", Version: version, InformationURI: "https://github.com/flowrun/flowrun", Rules: append([]rule{}, s.list...)}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{r}})
}

type sarif struct {
	read  func(string) []byte
	name  func(string) string
	texts map[string][]byte
	rules map[string]int
	list  []rule
}

func (s *sarif) result(d tool.Diagnostic) result {
	r := result{RuleID: d.Code, RuleIndex: s.rule(d.Code), Level: string(d.Severity), Message: message{d.Message}}
	if d.Hint != "" {
		r.Message.Text += "; " + d.Hint
	}
	if d.Pos.File != "" {
		r.Locations = []location{{PhysicalLocation: s.place(d.Pos, d.Len)}}
	}
	for i, p := range d.Related {
		r.RelatedLocations = append(r.RelatedLocations, location{ID: &i, Message: &message{p.Message}, PhysicalLocation: s.place(p.Pos, p.Len)})
	}
	if len(d.Fix) > 0 && s.text(d.Pos.File) != nil {
		r.Fixes = []fix{s.fix(d)}
	}
	return r
}

func (s *sarif) rule(code string) int {
	if i, ok := s.rules[code]; ok {
		return i
	}
	r := rule{ID: code, ShortDescription: message{code}}
	if pages := explain.Find(code); len(pages) > 0 {
		r.ShortDescription.Text = pages[0].Title
		r.Help = &help{Text: pages[0].Text, Markdown: pages[0].Text}
	}
	s.rules[code] = len(s.list)
	s.list = append(s.list, r)
	return s.rules[code]
}

func (s *sarif) text(file string) []byte {
	if b, ok := s.texts[file]; ok {
		return b
	}
	s.texts[file] = s.read(file)
	return s.texts[file]
}

func (s *sarif) place(at tool.Pos, length int) physical {
	p := physical{ArtifactLocation: artifact{uri(s.name(at.File))}}
	if at.Line > 0 {
		end := at
		end.Col += max(1, length)
		p.Region = &region{StartLine: at.Line, StartColumn: at.Units(s.text(at.File)), EndColumn: end.Units(s.text(at.File))}
	}
	return p
}

func (s *sarif) fix(d tool.Diagnostic) fix {
	text := s.text(d.Pos.File)
	c := change{ArtifactLocation: artifact{uri(s.name(d.Pos.File))}}
	for _, e := range d.Fix {
		from, to := diagnostic.PosAt(d.Pos.File, text, e.From), diagnostic.PosAt(d.Pos.File, text, e.To)
		r := replacement{DeletedRegion: region{StartLine: from.Line, StartColumn: from.Units(text), EndLine: to.Line, EndColumn: to.Units(text)}}
		if e.Text != "" {
			r.InsertedContent = &message{e.Text}
		}
		c.Replacements = append(c.Replacements, r)
	}
	return fix{Description: message{"Fix by flowrun validate --fix"}, ArtifactChanges: []change{c}}
}

// uri returns the URI of a file's path. Relative paths stay relative: a viewer resolves them against the folder of the
// project.
func uri(file string) string {
	path := filepath.ToSlash(file)
	if filepath.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(path, "/")}).String()
	}
	return (&url.URL{Path: strings.TrimPrefix(path, "./")}).String()
}

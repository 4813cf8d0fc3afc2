package hooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/js/jscheck"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/js/jsworld"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// description is the result of module.js for "describe".
type description struct {
	Metadata     json.RawMessage
	Schema       json.RawMessage
	Dependencies json.RawMessage
	Errors       []tool.BusinessError
	Methods      []string
	Bridges      []string
	Problems     []moduleProblem
}

// moduleProblem is a problem that module.js found while it described a tool. Line and Col are in the file of the tool,
// whose path is not kept, because the same text may be described once for several files; 0 for elsewhere.
type moduleProblem struct {
	Code, Method, Path, Message, Where string
	Line, Col                          int
}

// locate replaces Where by the position in a file.
func (p *moduleProblem) locate(file string) {
	if at := jsrun.ParsePosition(p.Where); at.File == file {
		p.Line, p.Col = at.Line, at.Col
	}
	p.Where = ""
}

// metadata holds the keys of getMetadata that flowrun uses.
type metadata struct {
	ID, Name, Description, Version, Author string
	Category, Subcategory                  string
	Tags, Keywords                         []string
	Runtime                                string
}

// descriptionReader builds a Definition from a description and collects the diagnostics.
type descriptionReader struct {
	def    *tool.Definition
	module *tool.Module
	d      *description
	tree   *jscheck.Outline // nil until a position is needed
	found  tool.Diagnostics
}

// definition returns the definition for a description. name is the tool's name if it does not
// set one.
func (d *description) definition(m *tool.Module, name string) (*tool.Definition, tool.Diagnostics) {
	step := &tool.Step{Name: name, Body: &tool.JSCode{Role: tool.RoleTool, Module: m}}
	r := &descriptionReader{module: m, d: d, def: &tool.Definition{Name: name, File: m.File, Pos: tool.Pos{File: m.File, Line: 1, Col: 1},
		Format: tool.JavaScript, Single: true, Steps: []*tool.Step{step}}}
	r.problems()
	unread := func(p moduleProblem) bool { return p.Method == "" } // then further diagnostics would only be consequences
	if !slices.ContainsFunc(d.Problems, unread) {
		r.execute()
		r.metadata()
		r.schemas()
		if r.module.Environment == nil {
			r.module.Environment = r.envVars()
		}
		r.dependencies()
	}
	m.Errors = d.Errors
	step.Name, step.Pos = r.def.Name, r.def.Pos
	return r.def, r.found.Sorted()
}

// report adds a diagnostic about the value that a method returns, at a path in it; an empty path
// means the method itself.
func (r *descriptionReader) report(code string, severity tool.Severity, method, path, message, hint string) {
	if r.tree == nil {
		o := jscheck.OutlineOf(r.module)
		r.tree = &o
	}
	where := method
	if path != "" {
		where += "()." + path
	}
	r.found = append(r.found, tool.Diagnostic{Code: code, Severity: severity, Pos: r.tree.Position(method, path), Path: where, Message: message, Hint: hint})
}

// problemHints are hints for the problems that module.js finds.
var problemHints = map[string]string{
	"no-tool":            "write module.exports = { async execute(params) { ... } }, or export default",
	"tool-threw":         "fix the error, or move the code into execute: even with runtime: 'node', the top level of the file and its get... methods are read without environment, files and network",
	"bad-business-error": "write { code: 'API_RATE_LIMIT', match: /rate limit/i, solution: 'wait', retryable: true }",
}

// answerHints are hints with an example of what each method returns.
var answerHints = map[string]string{
	"getMetadata":       "write getMetadata() { return { id: 'my-tool', description: '...' } }",
	"getSchema":         "write getSchema() { return { parameters: { type: 'object', properties: { ... } } } }",
	"getDependencies":   "write getDependencies() { return { lodash: '^4.17.21' } }",
	"getBusinessErrors": "write getBusinessErrors() { return [{ code: 'API_RATE_LIMIT', match: /rate limit/i, solution: 'wait', retryable: true }] }",
	"getBridgeErrors":   "write getBridgeErrors() { return { 'api:call': [{ code: 'API_DOWN', match: /ECONNREFUSED/ }] } }",
	"getBridges":        "write getBridges() { return { 'api:call': { real: async (args, api) => ..., mock: async () => ... } } }",
}

func (r *descriptionReader) problems() {
	for _, p := range r.d.Problems {
		hint := problemHints[p.Code]
		if p.Code == "bad-answer" {
			hint = cmp.Or(answerHints[p.Method], "write it as a method: "+p.Method+"() { ... }")
		}
		r.report(p.Code, tool.Error, p.Method, p.Path, p.Message, hint)
		if p.Line > 0 {
			r.found[len(r.found)-1].Pos = tool.Pos{File: r.module.File, Line: p.Line, Col: p.Col}
		}
	}
}

func (r *descriptionReader) execute() {
	if !slices.Contains(r.d.Methods, "execute") && !slices.ContainsFunc(r.found, func(d tool.Diagnostic) bool { return d.Path == "execute" }) {
		r.report("no-execute", tool.Error, "execute", "", "the tool has no execute", "add async execute(params) { ... }, which runs the tool")
	}
}

// metadata reads the result of getMetadata. All keys are optional.
func (r *descriptionReader) metadata() {
	var m metadata
	keys := map[string]json.RawMessage{}
	if len(r.d.Metadata) > 0 {
		json.Unmarshal(r.d.Metadata, &keys) // module.js has checked that it is an object
	}
	for key, into := range map[string]any{"id": &m.ID, "name": &m.Name, "description": &m.Description, "version": &m.Version, "author": &m.Author,
		"category": &m.Category, "subcategory": &m.Subcategory, "tags": &m.Tags, "keywords": &m.Keywords, "runtime": &m.Runtime} {
		v, given := keys[key]
		if given && json.Unmarshal(v, into) != nil {
			want, form := "text", "'...'"
			if _, list := into.(*[]string); list {
				want, form = "a list of strings", "['...']"
			}
			r.report("wrong-type", tool.Error, "getMetadata", key, fmt.Sprintf("%s is %s, but must be %s", key, jsonKind(v), want), "write "+key+": "+form)
		}
	}
	r.name(m.ID)
	d := r.def
	d.DisplayName, d.Description, d.Version, d.Author = m.Name, m.Description, m.Version, m.Author
	d.Metadata = tool.Metadata{Category: m.Category, Subcategory: m.Subcategory, Tags: m.Tags, SearchKeywords: m.Keywords}
	d.Tags = m.Tags
	r.runtime(m.Runtime)
	if d.Description == "" {
		r.report("no-description", tool.Warning, "getMetadata", "", "the tool has no description", "add description to the result of getMetadata, because people and models use it to choose a tool")
	}
	r.policy(keys)
	r.warnSimilarKeys(keys)
}

func jsonKind(v json.RawMessage) string {
	switch strings.TrimLeft(string(v), " ")[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// name checks the tool's id and sets the name of the definition.
func (r *descriptionReader) name(id string) {
	switch {
	case id == "" && !tool.ValidName(r.def.Name):
		r.report("bad-name", tool.Error, "getMetadata", "", fmt.Sprintf("the name of the file, %q, is not a valid tool name", r.def.Name), "add id to the result of getMetadata")
	case id == "":
	case !tool.ValidName(id):
		r.report("bad-name", tool.Error, "getMetadata", "id", fmt.Sprintf("%q is not a valid tool id", id),
			"use up to 128 letters, digits, '_', '.' and '-', beginning with a letter, a digit or '_', and none of the device names of Windows")
	default:
		if id != r.def.Name {
			r.report("name-differs", tool.Warning, "getMetadata", "id", fmt.Sprintf("the id of the tool is %q, but its file is named %q; the id is used", id, r.def.Name), "rename one of them")
		}
		r.def.Name = id
	}
}

func (r *descriptionReader) runtime(word string) {
	switch word {
	case "", "goja", "builtin":
	case "node":
		r.module.Node = true
	default:
		r.report("bad-choice", tool.Error, "getMetadata", "runtime", fmt.Sprintf("unknown runtime %q", word), "write runtime: 'node' for a tool that needs Node.js, or remove it")
	}
}

// schemas reads the result of getSchema in both forms: an object with the schemas of the
// parameters, of the environment and of the output, or the schema of the parameters alone.
func (r *descriptionReader) schemas() {
	if len(r.d.Schema) == 0 || string(r.d.Schema) == "null" {
		return
	}
	var all struct{ Parameters, Environment, Output json.RawMessage }
	json.Unmarshal(r.d.Schema, &all)
	bare := all.Parameters == nil && all.Environment == nil && all.Output == nil
	prefix := "parameters"
	if bare {
		all.Parameters, prefix = r.d.Schema, ""
	}
	if s := r.schema(all.Parameters, prefix, dataschema.Parse); s != nil && !(bare && string(r.d.Schema) == "{}") {
		r.def.Schema = s
		r.def.Parameters = tool.ParametersOf(s)
	}
	r.module.Environment = r.schema(all.Environment, "environment", dataschema.Parse)
	r.def.OutputSchema = r.schema(all.Output, "output", dataschema.ParseOutput)
}

// schema reads one JSON Schema of an object. path is its path in the result of getSchema.
func (r *descriptionReader) schema(source json.RawMessage, path string, parse func([]byte) (*dataschema.Schema, error)) *dataschema.Schema {
	if len(source) == 0 || string(source) == "null" {
		return nil
	}
	s, err := parse(source)
	if err == nil {
		r.warnNoProperties(source, path)
		return s
	}
	for _, p := range dataschema.Problems(err) {
		at := strings.Trim(path+"."+p.Field, ".")
		r.report("bad-schema", tool.Error, "getSchema", at, strings.TrimLeft(at+": ", ": ")+p.Message, "getSchema must return JSON Schema, as in { type: 'object', properties: { NAME: { type: 'string' } }, required: ['NAME'] }")
	}
	return nil
}

// dependencies reads the result of getDependencies in both forms: an object, or the older list
// of name@range.
func (r *descriptionReader) dependencies() {
	if len(r.d.Dependencies) == 0 || string(r.d.Dependencies) == "null" {
		return
	}
	var list []any
	if json.Unmarshal(r.d.Dependencies, &list) == nil {
		for i, e := range list {
			text, _ := e.(string)
			name, versions := splitDependency(text)
			r.dependency(fmt.Sprintf("[%d]", i), name, versions)
		}
		return
	}
	var byName map[string]any
	json.Unmarshal(r.d.Dependencies, &byName)
	for _, name := range sortedKeys(byName) {
		versions, _ := byName[name].(string)
		r.dependency(name, name, versions)
	}
}

// splitDependency splits name@range. The name itself may begin with @.
func splitDependency(s string) (name, versions string) {
	if at := strings.LastIndexByte(s, '@'); at > 0 {
		return s[:at], s[at+1:]
	}
	return s, "*"
}

// dependency adds an npm package. Node's own modules are not packages, although some authors list
// them; a tool has them, or not, without a package.
func (r *descriptionReader) dependency(path, name, versions string) {
	if jsworld.OfNode(name) {
		return
	}
	if !packageName().MatchString(name) || strings.TrimSpace(versions) == "" || strings.ContainsAny(versions, "\n\x00") {
		r.report("bad-dependency", tool.Error, "getDependencies", path, fmt.Sprintf("%q is not the name of an npm package with a version range", name), answerHints["getDependencies"])
		return
	}
	r.module.Dependencies = append(r.module.Dependencies, tool.Dependency{Name: name, Range: versions})
}

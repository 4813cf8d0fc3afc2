package compile

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/sqlstep"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/sqltext"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// sqlKind compiles steps that ask a database.
type sqlKind struct{}

func (sqlKind) traits() traits { return traits{} }

func (sqlKind) compile(c *stepCompiler, s *plan.Step) {
	c.reportKeysOfCommands("a step that asks a database", "use the keys of sql", "the rows")
	q := c.step.Body.(*tool.SQL)
	r := &sqlstep.Runner{Def: q, Limit: c.step.Output.BufferLimit, URL: c.text(&q.URL, "sql.url", expr.Plain), SaveAs: c.text(q.SaveAs, "sql.save-as", expr.Plain)}
	s.Runner, s.OwnWork = r, plan.WorkInQuery
	for i, at := range q.Queries {
		key := "sql.query"
		if len(q.Queries) > 1 {
			key = fmt.Sprintf("sql.query[%d]", i)
		}
		if t := c.text(&at, key, expr.Plain); t != nil {
			r.Queries = append(r.Queries, compileQuery(c.stepTexts, at, key, t))
		}
	}
	checkDatabase(c.stepTexts, q.URL, r)
}

// checkDatabase checks an address that is known, and who chooses the host of one that is not.
func checkDatabase(c *stepTexts, at tool.Text, r *sqlstep.Runner) {
	if r.URL == nil || at.Pos.Line == 0 { // there is none: the decoder has reported it
		return
	}
	if !r.URL.Static() {
		r.HostChosen = hostChosen(c, at, "sql.url", "database", r.URL.AuthorityRefs())
		return
	}
	err := checkKnown(r.URL, func(text string) error {
		u, _, err := sqlstep.ParseURL(text)
		if u != nil {
			warnNotPermitted(c, at, "sql.url", u.Hostname())
			if _, ok := u.User.Password(); ok {
				c.problem(at, "sql.url", "unknown-secret", tool.Warning, "the password is in the definition, where everybody who can read it has it", "pass the address as a secret, such as {env.DATABASE_URL}")
			}
		}
		return err
	})
	if err != nil {
		c.problem(at, "sql.url", "bad-address", tool.Error, err.Error(), "")
	}
}

// compileQuery finds out the places of the values of a statement, and refuses those that no database could bind.
func compileQuery(c *stepTexts, at tool.Text, key string, t *expr.Template) sqlstep.Query {
	parts := expr.Parts(t)
	texts := []string{""}
	for _, p := range parts {
		if !p.Static() {
			texts = append(texts, "")
			continue
		}
		text, _ := p.Text(nil) // it has no placeholders
		texts[len(texts)-1] += text
	}
	read := sqltext.Scan(texts)
	q := sqlstep.Query{Parts: parts, Names: make([]bool, len(parts)), Reads: read.Reads()}
	if read.Verb == "" {
		c.problem(at, key, "no-body", tool.Error, "the query is empty", "write a statement, such as select * from users where id = {ID}")
	}
	if read.More {
		c.problem(at, key, "two-bodies", tool.Error, "a second statement follows the semicolon", "write a list of statements; one transaction runs them all")
	}
	n := 0
	for i, p := range parts {
		if p.Static() {
			continue
		}
		place := read.Places[n]
		n++
		if place == sqltext.Name && c.listsNames(p.Sources()) {
			q.Names[i] = true
		} else if what, hint := misplaced(place); what != "" {
			ref := p.Refs()[0]
			c.Report(tool.Diagnostic{Code: "unbindable", Severity: tool.Error, Pos: at.At(ref.Off), Len: ref.Len, Path: c.key(key), Message: ref.String() + " " + what, Hint: hint})
		}
	}
	return q
}

// misplaced says what is wrong with a value at a place, and what to do.
func misplaced(p sqltext.Place) (what, hint string) {
	switch p {
	case sqltext.Name:
		return "is in the place of a name or a word of SQL, which cannot be a parameter of the statement", "write the name as fixed text, or give the parameter an enum of the possible names; where a value belongs, put it in parentheses to say so"
	case sqltext.InText:
		return "is in quotes, where it would be the text of the placeholder", "take the quotes away: the value is a parameter of the statement; join texts with ||"
	case sqltext.InName:
		return "is in a quoted name, which cannot be a parameter of the statement", "write the name as fixed text, or give the parameter an enum of the possible names and take the quotes away"
	case sqltext.InComment:
		return "is in a comment", "take it out of the comment"
	case sqltext.InWord:
		return "is part of a word", "put spaces around it, or give the parameter an enum of whole words; join texts with ||"
	}
	return "", ""
}

// listsNames reports whether all references are parameters whose values the author lists, each a plain name.
func (c *stepTexts) listsNames(refs []expr.Ref) bool {
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(r expr.Ref) bool {
		i := slices.IndexFunc(c.definition.Parameters, func(p *tool.Parameter) bool { return p.Name == r.Root })
		if r.Class != expr.Parameter || len(r.Path) > 0 || i < 0 {
			return true
		}
		list := c.definition.Parameters[i].Validation.Enum
		return len(list) == 0 || slices.ContainsFunc(list, func(v tool.Value) bool { return !sqltext.IsName(v.Spelling()) })
	})
}

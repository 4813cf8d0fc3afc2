package tool

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// SQL is what a step of kind sql asks a database.
type SQL struct {
	Pos     Pos
	URL     Text   // postgres://… or sqlite:PATH
	Queries []Text // in one transaction; at least one
	Format  string // json, jsonl or csv; "" = json
	SaveAs  *Text  // path of a file for the rows
}

// Outputs returns the outputs that every step of kind sql has.
func (*SQL) Outputs() []*DeclaredOutput {
	return []*DeclaredOutput{{Name: "rows", Type: "integer"}, {Name: "changed", Type: "integer"}}
}

// Text returns the statements, as they are written.
func (q *SQL) Text() string {
	var list []string
	for _, one := range q.Queries {
		list = append(list, strings.TrimSpace(one.S))
	}
	return strings.Join(list, ";\n")
}

// Saved returns the path of the file for the rows, nil for none.
func (q *SQL) Saved() *Text { return q.SaveAs }

// sqlField returns the field sql. Its object is made when it is: most programs never ask for it.
func sqlField() keytable.Field {
	object := keytable.NewObject("sql", "What a database is asked.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Text("url", "", "Database: postgres://USER:PASSWORD@HOST:PORT/NAME, or sqlite:PATH.", func(q *SQL, v Text) { q.URL = v }).AsRequired(),
			keytable.Texts("query", "", "Statement, or a list of statements that one transaction runs. A value in it is a parameter of the statement, never text.", func(q *SQL, v []Text) { q.Queries = v }).AsRequired(),
			keytable.Choice("format", "", []string{"json", "jsonl", "csv"}, "How the rows of the last statement are written: a list in JSON, a line of JSON for each row, or CSV with a header.", func(q *SQL, v string) { q.Format = v }).WithDefault("json"),
			keytable.Text("save-as", "", "File for the rows, which are then not the output of the step.", func(q *SQL, v Text) { q.SaveAs = &v }),
		}
	}).WithCheck(checkSQL)
	return keytable.Nested(string(Query), "", object, "Asks a database. The rows are the output of the step. See sql.md.", bodyOf[SQL]).AsBody()
}

func checkSQL(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	q := into.(*SQL)
	q.Pos = d.Pos(n)
	if keytable.KeyOf(content, "url") == nil {
		d.Fail(n, "bad-address", "the step has no url", "add url, such as {env.DATABASE_URL} or sqlite:data.db")
	}
	if keytable.KeyOf(content, "query") == nil {
		d.Fail(n, "no-body", "the step has no query", "add query, such as select * from users where id = {ID}")
	}
}

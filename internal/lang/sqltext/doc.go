// Package sqltext finds the places of values in a statement of SQL. A statement comes as the texts between its values; each
// value gets a Place: a database can bind it as a parameter, it is a name (no database binds those), or it is inside a
// text, a name in quotes, a comment or a word, where it would be no value at all.
//
// The package reads tokens and not grammar, because each database has its own. It knows the quotes of PostgreSQL and
// SQLite together. What it does not know is a name, so a name is not taken for a value; a value in the parentheses of an
// expression is a value. Whatever it says, values are bound and do not become text, so a wrong answer opens no door.
package sqltext

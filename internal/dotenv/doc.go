// Package dotenv reads files of environment variables: .env files, by the rules
// that Docker Compose documents for them.
//
// A file is lines of NAME=VALUE. "export " may stand in front, blanks may stand
// around "=", and empty lines and lines that begin with # mean nothing. A value is
// written in one of three ways:
//
//	A=plain text # comment     up to the end of the line, or to a # after a blank
//	B='as it is'               nothing but \' is special; may have several lines
//	C="with \n and ${A}"       \n \r \t \" \\ \$ are escapes; may have several lines
//
// Outside single quotes ${NAME} and $NAME stand for a variable of the file further
// up, else for one of the surroundings; a name that is neither is empty, with a
// warning. A $ before anything else is a $. Nothing is ever run.
//
// The last of two variables with one name counts, with a warning. A byte order mark
// and line ends of Windows are taken off. Everything that is wrong with a file is
// told at once, each with its place, and never with a value: a line that is no
// variable may be part of a secret.
package dotenv

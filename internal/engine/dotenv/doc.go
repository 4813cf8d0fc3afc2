// Package dotenv reads .env files, which set environment variables, by the rules that Docker
// Compose documents for them.
//
// A file consists of lines NAME=VALUE. "export " may precede the name, spaces may surround
// "=", and empty lines and lines that start with # are ignored. A value has one of three
// forms:
//
//	A=plain text # comment     up to the end of the line, or to a # after a space
//	B='as it is'               only \' is an escape; may have several lines
//	C="with \n and ${A}"       \n \r \t \" \\ \$ are escapes; may have several lines
//
// Outside of single quotes, ${NAME} and $NAME are replaced by a variable set further up in
// the file, otherwise by one of the environment. An unset name is replaced by nothing, with a
// warning. A $ before anything else is literal. Nothing is ever executed.
//
// If a name occurs twice, the last value applies, with a warning. A byte order mark and
// Windows line ends are removed. All problems of a file are reported together, each with its
// location and never with a value: an invalid line may be part of a secret.
package dotenv

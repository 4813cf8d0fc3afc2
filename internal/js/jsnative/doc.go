// Package jsnative holds Go functions that the built-in modules of package jsworld call, for what
// JavaScript would do badly or cannot do: random bytes, digests, time zones, and the order of text
// in a language. The functions depend only on their arguments and on the machine's time zone data.
package jsnative

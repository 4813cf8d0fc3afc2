// Package attention finds the states of a history and of its tools that need a person, so that nobody has to look for them.
//
// # The model
//
// An [Item] is one such state: a run that waits for an answer, or that no service continues after a crash; a scheduled time
// that was missed; a definition that cannot run. A [Kind] is a row of a table: its name, what it means, and the function that
// finds its items. [Find] asks all of them.
//
// Nothing is stored. Find derives the items from the history and the definitions each time, so an item ends when its cause
// does, whoever ends it: all items of a run end when the run continues. Commands call Find when they show something. A service
// has a [Watcher], which calls it when something has changed and at least every 30 seconds, and passes on what is new.
//
// The key of an item says which state of which thing it is, and since when. It is the same in every process, so that a
// service can know that somebody was notified before it started.
//
// The package does not know how items are shown. Every channel shows every kind: TestAttentionChannels in internal/cli.
package attention

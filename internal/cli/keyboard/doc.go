// Package keyboard shares the terminal that flowrun was started on. An interactive step gets every
// key, as on a terminal of its own. A person who is asked a question types lines. Only one of them
// has the terminal at a time, and a live view is suspended meanwhile.
package keyboard

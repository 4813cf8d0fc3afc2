// Package sshcommand is what flowrun and a remote shell say to each other when a step runs over ssh. It starts
// nothing: steps does.
//
// # The model
//
// A [Target] is the account to connect to; its Argv is the command line of the ssh client. That command line contains no
// value of a step, because everybody can see it in the process table. It makes the remote shell read a program from its
// standard input: the supervisor, a POSIX shell script that [Job] writes. The supervisor contains the script of the step
// and its values, as quoted text.
//
// The supervisor runs the script in a session of its own. flowrun keeps the standard input of the connection open: when it
// ends, because flowrun wants to stop the step, was killed, or lost the connection, the supervisor ends all processes of
// the script, first with TERM, then with KILL.
//
// When the script has ended, the supervisor writes a trailer to stderr: the exit code of the script, and the files in
// which it has written values. [Trailer] separates it from what the script has printed. Without a trailer the connection
// has failed: the exit code of ssh alone cannot say so, because a script can exit with 255, too.
package sshcommand

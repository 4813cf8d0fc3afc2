# Runs the script of a step and ends all its processes when standard input ends. $d is a folder that is removed at the end.

# sweep prints the processes that have the mark of this step in their environment: they may have left the session.
sweep() { grep -lsF "FLOWRUN_SSH=$d" /proc/[0-9]*/environ | sed 's/[^0-9]//g'; }

signal() {
	kill -s "$1" -"$p" 2>/dev/null
	[ -z "$stopped" ] || kill -s "$1" "$p" 2>/dev/null # it may not have its session yet
	for q in $(sweep); do kill -s "$1" "$q" 2>/dev/null; done
}

running() { kill -s 0 -"$p" 2>/dev/null || { [ -n "$stopped" ] && kill -s 0 "$p" 2>/dev/null; } || [ -n "$(sweep)" ]; }

pause() { sleep 0.1 2>/dev/null || sleep 1; }

# finish ends all processes of the script: TERM, $1 seconds, KILL.
finish() {
	running || return
	signal TERM
	end=$(($(date +%s) + $1))
	while running && [ "$(date +%s)" -lt "$end" ]; do pause; done
	n=0
	while running && [ "$n" -lt 20 ]; do
		signal KILL
		pause
		n=$((n + 1))
	done
}

# collect copies a file that the script has written, from standard input: the file that this script has made. A file
# that was put in its place is not read.
collect() {
	: >"$d/$1.sent"
	[ -f "$d/$1" ] && [ ! -L "$d/$1" ] || { size=missing; return; }
	head -c "$limit" >"$d/$1.sent"
	size=$(($(wc -c <"$d/$1.sent")))
}

report() {
	collect output <&8
	sizes=$size
	collect state <&9
	printf '%s %s %s %s\n' "$mark" "$1" "$sizes" "$size" >&2
	cat "$d/output.sent" "$d/state.sent" >&2
}

main() {
	trap '' PIPE # nobody reads any more if the connection is lost; the rest still has to be done
	printf %s+ "$mark" >&2
	rm -f -- "$d/run"
	printf %s "$script" >"$d/script"
	printf %s "$values" >"$d/values"
	printf %s "$input" >"$d/input"
	: >"$d/output"
	: >"$d/state"
	exec 3<&0 8<"$d/output" 9<"$d/state" </dev/null
	umask "$u"
	if ! cd -- "${dir:-$HOME}"; then
		report 127
		exit 0
	fi
	FLOWRUN_OUTPUT= FLOWRUN_STATE=
	[ -z "$output" ] || FLOWRUN_OUTPUT=$d/output
	[ -z "$state" ] || FLOWRUN_STATE=$d/state
	stopped=
	trap 'stopped=yes' TERM HUP INT
	command -v setsid >/dev/null 2>&1 || set -m
	(
		set +m
		[ -z "$FLOWRUN_OUTPUT" ] || export FLOWRUN_OUTPUT
		[ -z "$FLOWRUN_STATE" ] || export FLOWRUN_STATE
		trap - TERM HUP INT EXIT PIPE
		FLOWRUN_SSH=$d
		export FLOWRUN_SSH
		! command -v setsid >/dev/null 2>&1 || set -- setsid "$@"
		exec "$@" "$d/script" <"$d/input" 3<&- 8<&- 9<&-
	) &
	p=$!
	set +m
	(
		trap - TERM HUP INT EXIT PIPE
		read -r seconds <&3 || seconds=
		case $seconds in '' | *[!0-9]*) seconds=$grace ;; esac
		echo "$seconds" >"$d/grace"
		# Again and again: the shell may not have reached its wait, which only a signal during it ends.
		while kill -s TERM $$; do pause; done
	) >/dev/null 2>&1 &
	w=$!
	code=0
	while :; do
		wait "$p"
		code=$?
		[ -z "$stopped" ] || break
		kill -s 0 "$p" 2>/dev/null || break
	done
	trap '' TERM HUP INT
	[ -z "$stopped" ] || grace=$(cat "$d/grace" 2>/dev/null || echo "$grace")
	kill -s KILL "$w" 2>/dev/null
	finish "$grace"
	report "$code"
	exit 0
}


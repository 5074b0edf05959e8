# shellcheck shell=bash
# Sourced: named stages of a check, each with its log and its duration, and a table of them at the end.
# A stage prints its output once it has ended, so that stages may run at the same time; with
# STAGES_QUIET only one that fails does.

# begin_stages FOLDER: where the logs go; from here on the table is printed when the script ends.
begin_stages() {
	stages=$1
	rm -rf "$stages"
	mkdir -p "$stages"
	trap 'end_lanes; print_stages' EXIT
	trap 'exit 130' INT TERM HUP
	lanes=()
}

# stage NAME COMMAND...: runs it; ends the script, or the lane, where it fails.
stage() {
	local name=$1 from=$SECONDS status=0
	shift
	echo "== $name: begins after $from s"
	"$@" >"$stages/$name.log" 2>&1 </dev/null || status=$?
	if [ "$status" -ne 0 ] || [ -z "${STAGES_QUIET:-}" ]; then
		cat "$stages/$name.log"
	fi
	local result=passed
	[ "$status" -eq 0 ] || result="failed ($status)"
	printf '%-20s %6d %9d  %s\n' "$name" "$from" $((SECONDS - from)) "$result" >>"$stages/table"
	echo "== $name: $result, $((SECONDS - from)) s"
	[ "$status" -eq 0 ] || exit "$status"
}

# lane FUNCTION: runs its stages while the script goes on.
lane() {
	# Job control gives it a process group of its own, which can be ended as a whole.
	set -m
	(
		trap - EXIT
		"$1"
	) &
	lanes+=($!)
	set +m
}

# wait_for_lanes: until all have ended; ends the script when one has failed.
wait_for_lanes() {
	local _
	for _ in "${lanes[@]}"; do
		wait -n || exit
	done
	lanes=()
}

end_lanes() {
	local pid
	for pid in "${lanes[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null || true
	done
}

print_stages() {
	echo
	printf '%-20s %6s %9s\n' stage 'from s' 'seconds'
	cat "$stages/table" 2>/dev/null || true
	echo "all: $SECONDS s; logs: $stages"
}

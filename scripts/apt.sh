# shellcheck shell=sh
# Sourced by scripts that install Debian packages.

# apt_install SCRIPT PACKAGE...: installs packages, as root or with sudo, and says so. Fails with
# one line that says what to do. PROOFMARK_APT=no installs nothing.
apt_install() {
	script=$1
	shift
	if [ "${PROOFMARK_APT:-}" = no ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "$script: please install: $*" >&2
		return 1
	fi
	as_root=""
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null 2>&1 || {
			echo "$script: not root and no sudo; as root: apt-get install $*" >&2
			return 1
		}
		as_root=sudo
	fi
	echo "$script: installing $*" >&2
	$as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends "$@" >&2
}

# apt_update: gets the lists of packages, where packages may be installed.
apt_update() {
	[ "${PROOFMARK_APT:-}" != no ] && command -v apt-get >/dev/null 2>&1 || return 0
	if [ "$(id -u)" -eq 0 ]; then
		apt-get update -qq
	elif command -v sudo >/dev/null 2>&1; then
		sudo apt-get update -qq
	fi
}

# apt_version PACKAGE: the version that apt would install; nothing if it has none.
apt_version() {
	apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \([^(].*\)/\1/p'
}

# apt_need SCRIPT COMMAND PACKAGE: whether COMMAND succeeds, now or once PACKAGE is installed.
apt_need() {
	$2 >/dev/null 2>&1 && return
	apt_update
	apt_install "$1" "$3" && $2 >/dev/null 2>&1
}

# shellcheck shell=sh
# Sourced by scripts that install Debian packages.

# True if packages can be installed here. PROOFMARK_APT=no forbids it.
apt_allowed() {
	[ "${PROOFMARK_APT:-}" != no ] && command -v apt-get >/dev/null 2>&1 &&
		{ [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null 2>&1; }
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# apt_update: updates the lists of packages, if packages can be installed.
apt_update() {
	! apt_allowed || as_root apt-get update -qq
}

# apt_install SCRIPT PACKAGE...: installs packages, or prints in one line what to install.
apt_install() {
	script=$1
	shift
	apt_allowed || {
		echo "$script: please install, as root: $*" >&2
		return 1
	}
	echo "$script: installing $*" >&2
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends "$@" >&2
}

# apt_version PACKAGE: prints the version that apt would install; nothing if there is none.
apt_version() {
	LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \([^(].*\)/\1/p'
}

# apt_need SCRIPT COMMAND PACKAGE: true if COMMAND succeeds, now or after installing PACKAGE.
apt_need() {
	$2 >/dev/null 2>&1 && return
	apt_update
	apt_install "$1" "$3" && $2 >/dev/null 2>&1
}

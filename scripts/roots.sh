# shellcheck shell=sh
# Sourced by scripts that use clean Debian roots. The roots come from the archives of this machine's
# apt, and are kept in target/roots.

# sources SUITE: prints apt's lines for a suite and its security updates.
sources() {
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(SUITE)' 'Created-By: Packages' |
		awk -v suite="$1" '
			/security/ { security = $1; next }
			!main { main = $1 }
			END {
				print "deb " main " " suite " main"
				if (security) print "deb " security " " suite "-security main"
			}'
}

# make_root NAME SUITE PACKAGES: creates target/roots/NAME.tar, of the minimal variant, if missing.
make_root() {
	[ ! -s "target/roots/$1.tar" ] || return 0
	new=target/roots/$1-new.tar
	mkdir -p target/roots
	# Old releases have no archive of security updates.
	if ! sources "$2" | mmdebstrap --quiet --variant=minbase --include="$3" "$2" "$new" -; then
		sources "$2" | sed 1q | mmdebstrap --quiet --variant=minbase --include="$3" "$2" "$new" - || return
	fi
	mv "$new" "target/roots/$1.tar"
}

# inside ROOT COMMANDS [OPTION...]: runs commands in a root, in their own namespaces; --net gives them no
# network.
inside() {
	root=$1
	commands=$2
	shift 2
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child "$@" sh -eu -c '
		# proofmark looks up the mount of a file, so the root must be a mount.
		mount --bind "$0" "$0"
		mount -t proc proc "$0/proc"
		mount --rbind /sys "$0/sys"
		mount --rbind /dev "$0/dev"
		exec chroot "$0" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			HOME=/root LC_ALL=C.UTF-8 TERM=dumb sh -eu -c "$1"' "$root" "$commands"
}

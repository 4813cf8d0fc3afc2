#!/bin/sh
# Installs flowrun from a release, after checking its checksum:
#
#   curl -fsSL https://raw.githubusercontent.com/flowrun/flowrun/main/install.sh | sh
#
# VERSION=1.2.3          the release; by default the newest
# FLOWRUN_INSTALL_DIR    the folder for flowrun and flowrun-temporal; by default ~/.local/bin
# FLOWRUN_RELEASES       where releases are; by default those of GitHub
#
# Nothing is changed before the checksum is right, and each program is replaced in one step.
# docs/reference/release.md says how to check who made a release, and lists other ways to install.
set -eu

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

main() {
	releases=${FLOWRUN_RELEASES:-https://github.com/flowrun/flowrun/releases}
	into=${FLOWRUN_INSTALL_DIR:-${HOME:?set HOME, or FLOWRUN_INSTALL_DIR}/.local/bin}
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no release for $(uname -s); on Windows, unpack the .zip of $releases" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no release for $(uname -m); with Go: go install github.com/flowrun/flowrun/cmd/flowrun@latest" ;;
	esac
	command -v curl >/dev/null || command -v wget >/dev/null || fail "curl or wget is needed"
	command -v sha256sum >/dev/null || command -v shasum >/dev/null || fail "sha256sum or shasum is needed"

	temp=$(mktemp -d)
	new=
	trap 'rm -rf "$temp" ${new:+"$new"}' EXIT
	trap 'exit 130' INT TERM
	version=${VERSION:-}
	version=${version#v}
	[ -n "$version" ] || version=$(newest)
	name=flowrun_${version}_${os}_$arch
	echo "installing flowrun $version for $os/$arch in $into" >&2
	fetch "$releases/download/v$version/SHA256SUMS" "$temp/SHA256SUMS" || fail "there is no release $version at $releases"
	fetch "$releases/download/v$version/$name.tar.gz" "$temp/$name.tar.gz" || fail "release $version has no archive for $os/$arch"
	want=$(awk -v file="$name.tar.gz" '$2 == file || $2 == "*" file {print $1}' "$temp/SHA256SUMS")
	[ -n "$want" ] || fail "SHA256SUMS does not list $name.tar.gz; nothing was installed"
	got=$(checksum "$temp/$name.tar.gz")
	[ "$got" = "$want" ] || fail "the checksum of $name.tar.gz is $got, but should be $want; nothing was installed"
	tar -xzf "$temp/$name.tar.gz" -C "$temp"
	mkdir -p "$into" || fail "cannot create $into; set FLOWRUN_INSTALL_DIR to a folder you can write to"
	for program in flowrun-temporal flowrun; do
		new=$into/.$program.$$
		cp "$temp/$name/$program" "$new" && chmod 755 "$new" && mv -f "$new" "$into/$program" ||
			fail "cannot write $into/$program; set FLOWRUN_INSTALL_DIR to a folder you can write to"
	done
	case :${PATH:-}: in
	*:"$into":*) ;;
	*) echo "add it to your PATH: export PATH=\"$into:\$PATH\"" >&2 ;;
	esac
	"$into/flowrun" version
}

# newest prints the version of the newest release: the page redirects to the page of its tag.
newest() {
	if command -v curl >/dev/null; then
		page=$(curl -fsSLI -o /dev/null -w '%{url_effective}' "$releases/latest") || fail "cannot reach $releases"
	else
		page=$(wget -S --spider "$releases/latest" 2>&1 | awk 'tolower($1) == "location:" {print $2}' | tail -n 1)
	fi
	case $page in
	*/v[0-9]*) echo "${page##*/v}" ;;
	*) fail "cannot find out the newest release at $releases; set VERSION" ;;
	esac
}

fetch() {
	if command -v curl >/dev/null; then curl -fsSL -o "$2" "$1"; else wget -q -O "$2" "$1"; fi
}

checksum() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

main # only now, so that half a download does nothing

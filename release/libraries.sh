#!/usr/bin/env bash
# Puts the libraries that Node and workerd load into the folder $2, for Debian's architecture $1, without running anything of it: from
# Debian's packages, whose signatures apt checks. Needs apt and dpkg, and no right of root.
set -euo pipefail
arch="$1"
image="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# apt's own folders, so that the machine's are not touched.
mkdir -p "$work"/{lists/partial,cache/archives/partial,parts,packages,root}
touch "$work/status"
mirror="${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
key="/usr/share/keyrings/debian-archive-keyring.gpg"
{
  echo "deb [arch=$arch signed-by=$key] $mirror bookworm main"
  echo "deb [arch=$arch signed-by=$key] ${mirror/%debian/debian-security} bookworm-security main"
} >"$work/sources.list"
apt() {
  apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
    -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts="$work/parts" \
    -o Dir::State="$work" -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" \
    -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}
apt update
(cd "$work/packages" && apt download libc6 libstdc++6 libgcc-s1)
for package in "$work"/packages/*.deb; do dpkg-deb --extract "$package" "$work/root"; done

case "$arch" in
amd64) triplet=x86_64-linux-gnu loader=/lib64/ld-linux-x86-64.so.2 ;;
arm64) triplet=aarch64-linux-gnu loader=/lib/ld-linux-aarch64.so.1 ;;
*) echo "$arch: expected amd64 or arm64" >&2 && exit 2 ;;
esac
mkdir -p "$image/lib/$triplet" "$(dirname "$image$loader")"
# What they are linked with, and what glibc loads for a name of the network.
for library in libc libm libdl libpthread librt libresolv libnss_dns libnss_files libgcc_s libstdc++; do
  cp -L "$(find "$work/root" -name "$library.so.[0-9]" | head -n 1)" "$image/lib/$triplet/"
done
cp -L "$(find "$work/root" -name "$(basename "$loader")" | head -n 1)" "$image$loader"

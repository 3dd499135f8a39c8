#!/usr/bin/env bash
# Pushes the images in the folder $1 to the registry $2, such as ghcr.io/anna, under their version and as `latest`; a version with a suffix
# only as itself. Needs skopeo, which is signed in there. DRY_RUN=1 only says what it would do.
set -euo pipefail
out="$1"
registry="$(tr '[:upper:]' '[:lower:]' <<<"$2")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

for archive in "$out"/edgecall-*-image.tar.gz; do
  name="$(basename "$archive")"
  [[ $name =~ ^(edgecall-[a-z-]+)-([0-9].*)-image\.tar\.gz$ ]] || { echo "$archive: expected edgecall-NAME-VERSION-image.tar.gz" >&2 && exit 2; }
  image="${BASH_REMATCH[1]}" version="${BASH_REMATCH[2]}"
  tags=("$version")
  [[ $version == *-* ]] || tags+=(latest)
  mkdir "$work/$image"
  tar -C "$work/$image" -xf "$archive"
  for tag in "${tags[@]}"; do
    echo "$archive → $registry/$image:$tag"
    [ -n "${DRY_RUN:-}" ] || skopeo copy --all "dir:$work/$image" "docker://$registry/$image:$tag"
  done
done

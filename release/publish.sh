#!/usr/bin/env bash
# Publishes a part ($1) of what release/build.sh made in the folder $2, after its sums were checked:
#   npm      the package, which waits there for a person's second factor
#   images   to the registry REGISTRY, such as ghcr.io/anna, under the version; without a suffix also as `latest`. skopeo is signed in there
#   forge    a release of the tag TAG, with all files
# DRY_RUN=1 says each command and runs none of them.
set -euo pipefail
part="$1"
out="$2"

run() {
  printf '+ %s\n' "$*"
  [ -n "${DRY_RUN:-}" ] || "$@"
}

(cd "$out" && sha256sum --check --quiet SHA256SUMS)
case "$part" in
npm)
  run npm stage publish "$(echo "$out"/edgecall-[0-9]*.tgz)" --access public
  ;;
images)
  registry="${REGISTRY:?such as ghcr.io/anna}"
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  for archive in "$out"/edgecall-*-image.tar.gz; do
    [[ $(basename "$archive") =~ ^(edgecall-[a-z-]+)-([0-9].*)-image\.tar\.gz$ ]] || { echo "$archive: expected edgecall-NAME-VERSION-image.tar.gz" >&2 && exit 2; }
    name="${BASH_REMATCH[1]}" version="${BASH_REMATCH[2]}"
    mkdir "$work/$name"
    run tar -C "$work/$name" -xf "$archive"
    for tag in "$version" latest; do
      if [ "$tag" = latest ] && [[ $version == *-* ]]; then continue; fi
      run skopeo copy --all "dir:$work/$name" "docker://${registry,,}/$name:$tag"
    done
  done
  ;;
forge)
  run gh release create "$TAG" "$out"/* --repo "$GITHUB_REPOSITORY" --verify-tag --title "$TAG" --notes "CHANGELOG.md has what changed."
  ;;
*)
  echo "usage: release/publish.sh npm|images|forge FOLDER" >&2
  exit 2
  ;;
esac

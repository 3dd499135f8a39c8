#!/usr/bin/env bash
# The release's workflow on this machine, in its order and without publishing: $1 the folder, $2 the tag, if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
export DRY_RUN=1 TAG="${2:-none}" REGISTRY="${REGISTRY:-ghcr.io/owner}" GITHUB_REPOSITORY="${GITHUB_REPOSITORY:-owner/edgecall}"
step() {
  local since=$SECONDS
  "$@"
  printf '── %s: %s s\n' "$*" $((SECONDS - since))
}
step node_modules/.bin/node release/check.ts
step release/build.sh "$@"
for part in npm images forge; do step release/publish.sh "$part" "$1"; done

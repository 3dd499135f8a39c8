#!/usr/bin/env bash
# Makes all that a release publishes in the folder $1, and publishes nothing: npm's package, executables, the gateway's archive, the list of
# what is in the package (SBOM), the images, Home Assistant's repository of apps, and the sums. REGISTRY: where its image is. $2: the tag; without one the changelog may still say "unreleased".
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
out="$(cd "$1" && pwd)"
node=node_modules/.bin/node

step() { printf '\n── %s\n' "$*"; }

step "one version"
"$node" release/version.mjs --check ${2:+"$2"}

step "programs"
npm run --silent build -- --executables --gateway
cp dist/edgecall.cjs dist/edgecall-linux-x64 dist/edgecall-linux-arm64 dist/edgecall-gateway-linux-*.tar.gz "$out"

step "images"
if command -v buildah >/dev/null && [ "$(id -u)" -eq 0 ]; then "$node" release/images.ts "$out" >/dev/null
elif [ -z "${CI:-}" ]; then echo "left out: they need buildah and root"
else echo "they need buildah and root" >&2 && exit 1; fi

step "Home Assistant's repository of apps"
"$node" release/home-assistant.ts "$out" ${REGISTRY:+"$REGISTRY"}

step "npm's package"
npm run --silent package
version="$("$node" -p 'require("./package.json").version')"
tarball="$out/edgecall-$version.tgz"
cp "dist/edgecall-$version.tgz" "$out"

step "what is in it, and that it runs"
installed="$(mktemp -d)"
trap 'rm -rf "$installed"' EXIT
(
  cd "$installed"
  echo "{\"name\": \"installed\", \"version\": \"$version\"}" >package.json
  npm install --no-audit --no-fund --no-update-notifier "$tarball"
  npm sbom --sbom-format cyclonedx --omit dev >"$out/sbom.cdx.json"
  "$OLDPWD/$node" node_modules/.bin/edgecall version
)

step "sums"
(cd "$out" && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)

step "npm publish --dry-run"
npm publish --dry-run --ignore-scripts --access public "$tarball"

#!/usr/bin/env bash
# Home Assistant in the folder $1, pinned by home-assistant.txt: it needs a newer Python than Debian has. That comes from a Go
# module, which Go's proxy keeps unchanged and which holds a Python that runs anywhere.
set -euo pipefail
cd "$(dirname "$0")"
PYTHON=v0.0.0-3.14.6-20260610-1
SHA256=fa0d4ee2e90380a416d767e98ba500ce38d12f221eeb7af10cbe01fede77ee3a
target="$1"
curl -fsS --retry 3 -o "$target/python.zip" \
  "https://proxy.golang.org/github.com/kluctl/go-embed-python/@v/$PYTHON.zip"
echo "$SHA256  $target/python.zip" | sha256sum -c --quiet
python3 - "$target/python.zip" "$target/python" <<'UNPACK'
import gzip, json, os, sys, zipfile

archive, target = sys.argv[1:]
with zipfile.ZipFile(archive) as module:
    names = set(module.namelist())
    listing = next(name for name in names if name.endswith("/linux-amd64/files.json"))
    base = listing.removesuffix("files.json")
    for file in json.loads(module.read(listing))["files"]:
        path = os.path.join(target, file["name"])
        # Go's bit of a folder.
        if file["perm"] & 0x80000000:
            os.makedirs(path, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if "symlink" in file:
            os.symlink(file["symlink"], path)
            continue
        packed = f"{base}{file['name']}.gz"
        data = gzip.decompress(module.read(packed)) if packed in names else module.read(base + file["name"])
        with open(path, "wb") as out:
            out.write(data)
        os.chmod(path, file["perm"] & 0o777)
UNPACK
rm "$target/python.zip"
python/bin/uv venv -q --python "$target/python/bin/python3.14" "$target/venv"
python/bin/uv pip install -q --no-deps --python "$target/venv/bin/python" -r home-assistant.txt

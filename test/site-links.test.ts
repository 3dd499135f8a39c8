import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../site/check-links.mjs", import.meta.url));

/** @param pages the content of each page, by its path */
function checked(pages: Record<string, string>, base = "/") {
  const folder = mkdtempSync(join(tmpdir(), "site-"));
  for (const [path, main] of Object.entries(pages)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    // A list of all pages beside the content does not make them reachable.
    writeFileSync(join(folder, path), `<nav><a href="/lost">x</a></nav><main>${main}</main>`);
  }
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, folder], {
    encoding: "utf8",
    env: { ...process.env, SITE_BASE: base },
  });
  return { status, wrong: stderr.trim().split("\n") };
}

test("dead links, missing places and pages that no page leads to are named", () => {
  const front =
    '<a href="/docs/">a</a><a href="/gone">b</a><a href="docs/#there">c</a><a href="/docs/#not">d</a><a href="https://example.org/x">e</a>';
  const { status, wrong } = checked({
    "index.html": front,
    "docs/index.html": '<h2 id="there">x</h2><a href="../#top">up</a>',
    "lost.html": "",
  });
  expect(status).toBe(1);
  expect(wrong).toEqual([
    "/: /gone leads nowhere",
    "/: /docs/#not has no such place",
    "/docs: ../#top has no such place",
    "/lost: no page leads to it",
  ]);
});

test("a site below a path", () => {
  const pages = { "index.html": '<a href="/at/docs/x#y">x</a>', "docs/x.html": '<i id="y"></i>' };
  expect(checked(pages, "/at/")).toEqual({ status: 0, wrong: [""] });
});

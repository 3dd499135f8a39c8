import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { writeHomeAssistantApp } from "./home-assistant-app.ts";

test("O15: the app of Home Assistant has no build.yaml, starts as root, and leaves to Home Assistant what its linter wants", async () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-app-"));
  const program = join(dir, "built.mjs");
  writeFileSync(program, "// the bridge");
  const to = join(dir, "app");
  await writeHomeAssistantApp(fileURLToPath(new URL("../bridge/", import.meta.url)), program, to);
  expect(readdirSync(to).sort()).toEqual(
    [
      "DOCS.md",
      "Dockerfile",
      "README.md",
      "apparmor.txt",
      "config.yaml",
      "dist",
      "icon.png",
      "translations",
    ].sort(),
  );
  expect(readFileSync(join(to, "dist/bridge.mjs"), "utf8")).toBe("// the bridge");
  const lines = readFileSync(join(to, "Dockerfile"), "utf8").split("\n");
  // The last of each counts.
  expect(lines.findLast((line) => line.startsWith("USER "))).toBe("USER 0:0");
  const check = lines.findLastIndex((line) => line.startsWith("HEALTHCHECK "));
  expect(lines[check + 1]).toContain('"health", "alive"]');
  // Options with the value that they have anyway, and the watchdog's address, are errors of the community's linter.
  const keys = readFileSync(join(to, "config.yaml"), "utf8").match(/^\w+(?=:)/gm);
  expect(keys).toContain("schema");
  for (const key of ["watchdog", "boot", "startup", "backup", "advanced"]) expect(keys).not.toContain(key);
});

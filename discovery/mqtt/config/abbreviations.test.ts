/** The short names are those of Home Assistant's own package. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { HOME_ASSISTANT } from "../../../test/needs.ts";
import { DEVICE_ABBREVIATIONS, ENTITY_ABBREVIATIONS, ORIGIN_ABBREVIATIONS } from "./abbreviations.ts";

/** The file alone: the package would import all that it needs. */
const PROGRAM = `
import importlib.util, json, os, runpy
root = os.path.dirname(importlib.util.find_spec("homeassistant").origin)
found = runpy.run_path(os.path.join(root, "components/mqtt/abbreviations.py"))
print(json.dumps([found[name] for name in ("ABBREVIATIONS", "DEVICE_ABBREVIATIONS", "ORIGIN_ABBREVIATIONS")]))
`;

test("each short name of Home Assistant's is ours, with the same meaning", {
  tags: ["needs/home-assistant"],
}, () => {
  const { stdout, stderr } = spawnSync(HOME_ASSISTANT, ["-c", PROGRAM], { encoding: "utf8" });
  expect(stderr).toBe("");
  // A name that is its own short name needs no entry.
  const tables = (JSON.parse(stdout) as Record<string, string>[]).map((table) =>
    Object.fromEntries(Object.entries(table).filter(([short, long]) => short !== long)),
  );
  expect([ENTITY_ABBREVIATIONS, DEVICE_ABBREVIATIONS, ORIGIN_ABBREVIATIONS]).toEqual(tables);
  expect(Object.keys(ENTITY_ABBREVIATIONS).length).toBeGreaterThan(250);
});

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { AGENT } from "../service/services.ts";
import { mustHaveItsState } from "./run.ts";

let folder: string;
let service: typeof AGENT;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgecall-run-"));
  mkdirSync(join(folder, "etc"));
  const settings = join(folder, "etc/agent.toml");
  service = { ...AGENT, places: { ...AGENT.places, settings, state: join(folder, "state") } };
  writeFileSync(settings, 'agent_id = "pi"\n');
});

test("the service's settings are not run with another state folder, and the error says what is right", () => {
  const { settings, state } = service.places;
  expect(() => mustHaveItsState(settings, {}, service)).toThrow(
    `sudo -u edgecall env STATE_DIRECTORY=${state} edgecall agent run`,
  );
  expect(() => mustHaveItsState(`${folder}/etc/../etc/agent.toml`, {}, service)).toThrow("--config FILE");
});

test("they are run with the service's state, with a state that they name, or from elsewhere", () => {
  const { settings, state } = service.places;
  mustHaveItsState(settings, { STATE_DIRECTORY: state }, service);
  writeFileSync(settings, `agent_id = "pi"\nstate_dir = "${state}"\n`);
  mustHaveItsState(settings, {}, service);
  const own = join(folder, "agent.toml");
  writeFileSync(own, 'agent_id = "pi"\n');
  mustHaveItsState(own, {}, service);
});

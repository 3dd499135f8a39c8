import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withEnvFile } from "./env-file.ts";

/** @returns the environment with the file's settings, and what was said */
function read(text: string | undefined, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-env-"));
  if (text !== undefined) writeFileSync(join(folder, ".env"), text);
  const said: string[] = [];
  const all = withEnvFile(env, folder, (line) => said.push(line.replace(folder, "FOLDER")));
  return { all, said };
}

test("settings of ours come from .env, the environment wins, and it is said which came from there", () => {
  const text = 'LLM_MODEL="qwen3:8b"\nPORT=8000\nMQTT_URL=mqtt://broker\nTIMEZONE=Europe/Berlin\n';
  const { all, said } = read(text, { PORT: "9000" });
  expect(all).toEqual({
    LLM_MODEL: "qwen3:8b",
    PORT: "9000",
    MQTT_URL: "mqtt://broker",
    TIMEZONE: "Europe/Berlin",
  });
  expect(said).toEqual(["settings from FOLDER/.env: LLM_MODEL, MQTT_URL, TIMEZONE"]);
});

test("what another program keeps in .env stays there", () => {
  const text =
    "NODE_OPTIONS=--require=./x.cjs\nPATH=/tmp\nOPENAI_API_KEY=k\nEDGECALL_BUILT=/tmp/x\nHTTPS_PROXY=x\n";
  expect(read(text)).toEqual({ all: {}, said: [] });
});

test("without the file nothing changes", () => {
  expect(read(undefined, { PORT: "1" })).toEqual({ all: { PORT: "1" }, said: [] });
});

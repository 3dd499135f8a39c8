/** Which gateway a command asks, and with which token. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claim } from "@edgecall/node/running.ts";
import { expect, onTestFinished, test } from "vitest";
import { keepConnection, readConnection } from "./connection.ts";

const TOKEN = "a-token-of-this-machine";
const folder = () => mkdtempSync(join(tmpdir(), "edgecall-connection-"));

/** A gateway that `edgecall start` runs: this process has its folder. */
function startedIn(dir: string, url: string): void {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "tokens.json"), JSON.stringify({ api: TOKEN, bridge: "b" }));
  const claimed = claim(dir, url);
  if (!claimed.ok) throw new Error("it is taken");
  onTestFinished(() => claimed.release());
}

test("without a login it is the gateway that runs here", () => {
  const [HOME, EDGECALL_DIR] = [folder(), folder()];
  const env = { HOME, EDGECALL_DIR };
  expect(() => readConnection(env)).toThrow("no gateway runs here, and none is known: `edgecall start`");
  startedIn(join(EDGECALL_DIR, "demo"), "http://127.0.0.1:8001");
  expect(readConnection(env)).toMatchObject({ url: "http://127.0.0.1:8001", token: TOKEN });
  // The person's own home comes before the demo's.
  startedIn(EDGECALL_DIR, "http://127.0.0.1:8000");
  expect(readConnection(env)).toEqual({
    url: "http://127.0.0.1:8000",
    token: TOKEN,
    from: join(EDGECALL_DIR, "tokens.json"),
    keptIn: join(EDGECALL_DIR, "tokens.json"),
  });
  const EDGECALL_TOKEN = "a-token-of-the-person";
  expect(readConnection({ ...env, EDGECALL_TOKEN })).toMatchObject({ token: EDGECALL_TOKEN });
});

test("what a person named counts more, and this machine's token goes nowhere else", () => {
  const env = { HOME: folder(), EDGECALL_DIR: folder() };
  startedIn(env.EDGECALL_DIR, "http://127.0.0.1:8000");
  expect(() => readConnection({ ...env, EDGECALL_URL: "https://elsewhere.example" })).toThrow(
    "no token for https://elsewhere.example is known here",
  );
  keepConnection(env, { url: "https://mine.example", token: "a-token-of-my-gateway" });
  expect(readConnection(env)).toMatchObject({ url: "https://mine.example", token: "a-token-of-my-gateway" });
});

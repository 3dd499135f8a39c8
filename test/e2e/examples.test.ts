/** Rules, clients and the Worker of examples/, run as they stand there, in the demo home and without a model. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, Response } from "miniflare";
import { parse as parseToml } from "smol-toml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DemoHome, startDemoHome } from "../../local/demo/demo.ts";
import { furnish } from "../../local/demo/furnish.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { RULE_VARS } from "./home-rules.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const run = promisify(execFile);
const EXAMPLES = join(ROOT, "examples");
const read = (path: string) => readFileSync(join(EXAMPLES, path), "utf8");
const folder = mkdtempSync(join(tmpdir(), "edgecall-examples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const COLD = /Freezer.*−?-?1\d(\.\d)? °C/;

describe("the examples", { timeout: 120_000 }, () => {
  const vars = { ...RULE_VARS, LLM_BASE_URL: "", LLM_MODEL: "" };
  const stack = useStack({ vars, bridge: { BRIDGE_STATE: folder } });
  let house: DemoHome;

  beforeAll(async () => {
    house = await startDemoHome({ url: stack.mqttUrl, seed: 4 });
    await furnish({ url: stack.gateway.url, token: TOKENS.owner });
    // Devices on a battery are heard when they report by themselves.
    const reports = async () => {
      const known = await new HostedDevices(stack).list();
      const hasReported = (name: string) =>
        known.some((one) => one.name === name && one.readings?.length > 0);
      return hasReported("Freezer") && hasReported("Bedroom window");
    };
    await until(reports, { within: 60_000, what: "freezer and window report" });
  });
  afterAll(() => house?.stop());

  const RULES = readdirSync(join(EXAMPLES, "rules"));

  test("there are three rules", () => expect(RULES).toEqual(["freezer.txt", "plants.txt", "window.txt"]));

  test.each(RULES)("the rule of %s is made by its sentence", async (name) => {
    const rules = async () =>
      ((await (await stack.gateway.fetch("/v1/rules")).json()) as { rules: unknown[] }).rules;
    const before = await rules();
    const turn = await stack.gateway.ask(read(`rules/${name}`).trim(), `rule-${name.replace(".txt", "")}`);
    expect(turn.status, turn.answer ?? "").toBe("done");
    expect(await rules(), turn.answer ?? "").toHaveLength(before.length + 1);
  });

  const asked = (program: string, args: string[], token: string = TOKENS.owner) =>
    run(program, args, { env: { ...process.env, EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: token } });

  test.each([
    ["ask.mjs", process.execPath],
    ["ask.py", "python3"],
  ])(
    "the client %s prints the home's answer, and the gateway's reason when it is refused",
    async (file, program) => {
      const client = join(EXAMPLES, "clients", file);
      const { stdout } = await asked(program, [client, "How", "cold", "is", "the", "freezer?"]);
      expect(stdout).toMatch(COLD);
      const refused = await asked(program, [client, "x"], "no-token-of-this-home").catch((error) => error);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/token/);
    },
  );

  test("the Worker has the home as a binding, and answers one question alone", async () => {
    const { services, main, compatibility_date } = parseToml(read("worker/wrangler.toml")) as {
      services: [{ binding: string }];
      main: string;
      compatibility_date: string;
    };
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        cf: false,
        log: new Log(LogLevel.ERROR),
        workers: [
          {
            name: "home-page",
            modules: true,
            script: read(`worker/${main}`),
            compatibilityDate: compatibility_date,
            bindings: { EDGECALL_TOKEN: TOKENS.owner },
            serviceBindings: {
              // The gateway of the stack stands for the Worker of that name.
              [services[0].binding]: async (request: Request) => {
                const { pathname } = new URL(request.url);
                const body = await request.text();
                const headers = { authorization: request.headers.get("authorization") ?? "" };
                const answer = await fetch(stack.gateway.url + pathname, {
                  method: request.method,
                  headers,
                  body,
                });
                return new Response(await answer.text(), { status: answer.status });
              },
            },
          },
        ],
      } as Parameters<typeof convertV4MiniflareOptions>[0]),
    );
    try {
      const answer = await miniflare.dispatchFetch("https://page.example/freezer");
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(COLD)]);
      expect((await miniflare.dispatchFetch("https://page.example/other")).status).toBe(404);
    } finally {
      await miniflare.dispose();
    }
  });
});

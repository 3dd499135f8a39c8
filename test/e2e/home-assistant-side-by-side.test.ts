// @module-tag needs/home-assistant
/**
 * Home Assistant's own tools for models and edgecall's, both over MCP, on the same Home Assistant: 100 commands, a fifth of them to devices
 * that do not obey, and 50 questions. What each says of them is compared with what the lab did.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { HomeAssistant } from "./home-assistant.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const START_WITHIN_MS = 240_000;
const PLUGS = 100;
const AREAS = 20;
const AT_ONCE = 10;
/** Each takes two of the 20 bad commands: its light and its switch. */
const BAD = [
  "dead",
  "away",
  "raises",
  "timeout",
  "validation",
  "hang",
  "late",
  "optimistic",
  "dead",
  "away",
] as const;
const CHARS_A_TOKEN = 4;

const bridge: Record<string, string> = { STATE_DIRECTORY: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) };
let home: HomeAssistant;

beforeAll(async () => {
  home = await HomeAssistant.start([]);
  await home.addLab(0);
  await home.addLab(PLUGS);
  await home.exposeAll();
  await home.serveMcp();
  bridge.HA_URL = home.url;
  bridge.HA_TOKEN = await home.addUser("edgecall");
}, START_WITHIN_MS);

afterAll(async () => {
  await home?.stop();
});

const stack = useStack({ bridge });

type Answer = { text: string; isError: boolean };

/** An MCP client that counts what its model reads and writes. */
class CountedClient {
  readonly #url: string;
  readonly #token: string;
  chars = 0;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  get tokens(): number {
    return Math.round(this.chars / CHARS_A_TOKEN);
  }

  /** Characters of the definitions, which are in each request to a model. */
  async definitions(): Promise<{ tools: number; tokens: number }> {
    const { tools } = await this.#request<{ tools: unknown[] }>("tools/list", {});
    return { tools: tools.length, tokens: Math.round(JSON.stringify(tools).length / CHARS_A_TOKEN) };
  }

  async call(name: string, args: object): Promise<Answer> {
    const { content, isError } = await this.#request<{ content: { text?: string }[]; isError?: boolean }>(
      "tools/call",
      { name, arguments: args },
    );
    const text = content.map((one) => one.text ?? "").join("\n");
    this.count(name, args, text);
    return { text, isError: isError === true };
  }

  /** What a model wrote, and what it read. */
  count(name: string, args: object, text: string): void {
    this.chars += JSON.stringify(args).length + name.length + text.length;
  }

  async #request<Result>(method: string, params: object): Promise<Result> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${this.#token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(120_000),
    });
    const body = await response.text();
    const json = body.startsWith("{") ? body : (/^data: (\{.*"id":1.*\})$/m.exec(body)?.[1] ?? body);
    const { result, error } = JSON.parse(json) as { result?: Result; error?: unknown };
    if (result === undefined) throw new Error(`${method}: ${response.status} ${JSON.stringify(error)}`);
    return result;
  }
}

const theirs = () => new CountedClient(`${home.url}/api/mcp`, home.token);
const ours = () => new CountedClient(`${stack.gateway.url}/mcp`, TOKENS.owner);

/** Does all of it, some at once. */
async function each<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [at, item] of queue) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

type Command = { name: string; kind: "light" | "switch"; obeys: boolean };

function commands(): Command[] {
  const areas = [...plugNames()];
  const good = areas.slice(0, 80).map((name) => ({ name, kind: "light" as const, obeys: true }));
  const bad = BAD.flatMap((behaviour) =>
    (["light", "switch"] as const).map((kind) => ({
      name: `${kind === "light" ? "Light" : "Switch"} ${behaviour}`,
      kind,
      obeys: false,
    })),
  );
  return [...good, ...bad];
}

/** As the lab names them. */
const LAB_AREAS =
  "Kitchen,Living room,Bedroom,Bathroom,Hall,Office,Garage,Garden,Cellar,Attic,Nursery,Guest room,Laundry,Terrace,Balcony,Workshop,Library,Dining room,Pantry,Porch".split(
    ",",
  );

function* plugNames(): Generator<string> {
  for (let n = 0; n < PLUGS; n += 1) yield `${LAB_AREAS[n % AREAS]} plug ${n}`;
}

const agentOf = (name: string) => name.toLowerCase().replaceAll(" ", "-");

test("of 100 commands done is told of the 80 that were, and of 50 questions none is answered wrongly", async () => {
  const all = commands();
  const devices = new HostedDevices(stack);
  await devices.known([...plugNames()].map(agentOf));
  const known = await devices.list();
  for (const device of known)
    if (all.some(({ name }) => agentOf(name) === device.id)) await devices.allow(device);

  const [our, their] = [ours(), theirs()];
  const definitions = { ours: await our.definitions(), theirs: await their.definitions() };
  const ourDone = await each(all, async ({ name }) => {
    const args = { agent_id: agentOf(name), action: "set", params: { on: true } };
    // Over MCP a person is asked first. What a model writes and reads of a call is the same.
    const { text, status } = await devices.ask(args.agent_id, args.action, args.params);
    our.count("edge_call", args, text);
    return status === "success" && !text.startsWith("Sent to");
  });
  const ourCommands = our.tokens;
  const isWrong = (done: readonly boolean[]) =>
    all.filter(({ obeys }, at) => done[at] === true && !obeys).map(({ name }) => name);
  expect(isWrong(ourDone)).toEqual([]);
  expect(ourDone.filter(Boolean)).toHaveLength(80);

  // Now 80 lights are on, four of the five of each area.
  const questions = await ask(our, their);
  const theirQuestions = their.tokens;
  const theirDone = await each(all, async ({ name, kind }) => {
    const { text, isError } = await their.call("intent__HassTurnOff", { name, domain: [kind] });
    return !isError && text.includes("action_done");
  });
  console.info(
    JSON.stringify(
      {
        definitions,
        commands: {
          ours: { said: ourDone.filter(Boolean).length, wrong: isWrong(ourDone).length, tokens: ourCommands },
          theirs: {
            said: theirDone.filter(Boolean).length,
            wrong: isWrong(theirDone).length,
            tokens: their.tokens - theirQuestions,
          },
        },
        questions: {
          ours: { right: questions.ours, tokens: our.tokens - ourCommands },
          theirs: { right: questions.theirs, tokens: theirQuestions },
        },
      },
      undefined,
      1,
    ),
  );
  expect(questions.ours).toBe(50);
}, 600_000);

/** 30 about one device, and 20 about the lights of an area. @returns how many were answered as Home Assistant's states say */
async function ask(our: CountedClient, their: CountedClient): Promise<{ ours: number; theirs: number }> {
  const states = await home.states();
  const stateOf = (kind: string, name: string) =>
    states.find(
      ({ entity_id, attributes }) =>
        entity_id.startsWith(`${kind}.`) && attributes.friendly_name?.toLowerCase() === name.toLowerCase(),
    )?.state ?? "";
  const single = [...plugNames()].slice(60, 90);
  const right = { ours: 0, theirs: 0 };
  for (const name of single) {
    const temperature = stateOf("sensor", `${name} Temperature`);
    const own = await our.call("edge_call", {
      agent_id: agentOf(name),
      action: "read",
      params: { names: ["Temperature"] },
    });
    if (own.text.includes(`${temperature} °C`)) right.ours += 1;
    const other = await their.call("homeassistant__GetLiveContext", { name: `${name} Temperature` });
    if (other.text.includes(temperature)) right.theirs += 1;
  }
  for (const area of LAB_AREAS) {
    const on = [...plugNames()].filter(
      (name) => name.startsWith(`${area} plug`) && stateOf("light", name) === "on",
    );
    const own = await our.call("find_agents", {
      text: "plug light",
      area,
      kind: "light",
      reading: "light on",
      limit: 20,
    });
    const found = [...plugNames()].filter((name) => new RegExp(`"${agentOf(name)}"`).test(own.text));
    if (found.join() === on.join()) right.ours += 1;
    const other = await their.call("homeassistant__GetLiveContext", { area, domain: ["light"] });
    if (other.text.includes(area) && on.every((name) => other.text.includes(name))) right.theirs += 1;
  }
  return right;
}

/**
 * Makes the home that README.md describes, with the checked-out version: `node test/kept/make-home.ts VERSION`. Real programs take part:
 * `npm start`, a paired device, a publisher of devices, and a person at the API and on Telegram.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { freePort } from "../../local/port.ts";
import { edgecall, startEdgecall } from "../e2e/command.ts";
import { GatewayClient } from "../e2e/gateway-client.ts";
import { HostedDevices } from "../e2e/hosted-devices.ts";
import { plainEnvironment, ROOT } from "../e2e/program.ts";
import { PNG } from "../platforms/server.ts";
import { BOT_TOKEN, FakeTelegram } from "../platforms/telegram.ts";
import { type Step, script, startScriptedModel } from "../scripted-model.ts";
import { until } from "../wait.ts";

const [, , version] = process.argv;
if (!version) throw new Error("usage: node test/kept/make-home.ts VERSION");
const folder = mkdtempSync(join(tmpdir(), "edgecall-kept-"));
const at = (path: string) => join(folder, path);

/** A person's words, and below them what the model replies. */
const says = (words: string, ...steps: Step[]) => `${words}\n${script(...steps)}`;
/** Calls of `edge_call`, numbered anew in each reply as some servers do. */
const calls = (...all: object[]) => all.map((args, n) => ({ id: `call_${n}`, arguments: args }));

const model = await startScriptedModel();
const telegram = await FakeTelegram.start();
const stack = spawn("npm", ["start", "--silent"], {
  cwd: ROOT,
  env: {
    ...plainEnvironment(),
    EDGECALL_DIR: at("home"),
    PORT: String(await freePort()),
    LLM_BASE_URL: model.url,
    LLM_MODEL: "scripted",
    GATEWAY_TOOLS: "rules",
    TIMEZONE: "Europe/Berlin",
  },
  stdio: ["ignore", "pipe", "inherit"],
  detached: true,
});
const endStack = () => process.kill(-(stack.pid ?? 0), "SIGINT");
process.once("exit", endStack);
let out = "";
stack.stdout.on("data", (data) => {
  out += data;
});
const printed = () => /gateway\s+(http:\S+)\s+token\s+(\S+)/.exec(out);
const [, url = "", token = ""] = await until(printed, { within: 60_000, what: "npm start's address" });
const broker = `mqtt://127.0.0.1:${readFileSync(at("home/broker-port"), "utf8").trim()}`;
const gateway = new GatewayClient(url, token);

async function request<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await gateway.fetch(path, { method, ...(body && { body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

// A device.
const { code } = await request<{ code: string }>("POST", "/v1/device-codes", {});
const how = ["--gateway", url, "--code", code, "--into", at("eye"), "--id", "eye", "--broker", broker];
const paired = await edgecall(["agent", "pair", ...how], {});
if (paired.code !== 0) throw new Error(paired.err);
const eye = startEdgecall(["agent", "run", "--config", at("eye/agent.toml")], {});
const endEye = () => eye.signal("SIGTERM");
process.once("exit", endEye);
await gateway.online("eye");

// Two devices of the broker: what the lamp does is allowed.
const publisher = await PlayedPublisher.connect(broker);
const lamp = await publisher.plug("lamp");
const radio = await publisher.plug("radio");
const devices = new HostedDevices({ gateway });
await devices.known([lamp, radio]);
for (const name of ["lamp", "radio"]) await publisher.say(`plugs/${name}/state`, "OFF");
for (const device of await devices.list()) if (device.id === lamp) await devices.allow(device);

const tablet = { name: "tablet", role: "member", scopes: ["ask"] };
const { token: tabletToken } = await request<{ token: string }>("POST", "/v1/tokens", tablet);

// Calls of tools: two at once, one that fails, one of a device of the broker, a picture.
const on = { action: "set", params: { on: true } };
await gateway.ask(
  says(
    "How much memory and disk is in use on eye?",
    {
      text: "I look at both.",
      calls: calls({ agent_id: "eye", action: "memory" }, { agent_id: "eye", action: "disk" }),
    },
    { text: "eye says: $results" },
  ),
  "kept",
);
await gateway.ask(
  says(
    "Start its fan.",
    { calls: calls({ agent_id: "eye", action: "fan" }) },
    { calls: calls({ agent_id: "eye", action: "cpu" }) },
    { text: "There is no fan: $results" },
  ),
  "kept",
);
await gateway.ask(
  says("Switch the lamp on.", { calls: calls({ agent_id: lamp, ...on }) }, { text: "It said: $results" }),
  "lamp",
);
writeFileSync(at("eye/state/workspace/door.png"), PNG);
await gateway.ask(
  says(
    "Show me door.png of eye.",
    { calls: calls({ agent_id: "eye", action: "read", params: { path: "door.png" } }) },
    { text: "I see $pictures" },
  ),
  "pictures",
);
await request("POST", "/v1/conversations/pictures/messages", {
  text: says("And what is this?", { text: "I see $pictures" }),
  images: [`data:image/png;base64,${PNG.toString("base64")}`],
});

// A chat: its person is let in, makes two rules, and sends a picture.
await request("POST", "/v1/connections", {
  channel: "telegram",
  connection: "family",
  token: BOT_TOKEN,
  base_url: telegram.server.url,
});
const person = 1001;
let update = 500;
async function writes(content: object, answer: RegExp): Promise<void> {
  update += 1;
  const from = { id: person, is_bot: false, first_name: "Ada" };
  const message = { message_id: update, from, chat: { id: person, type: "private" }, ...content };
  telegram.push({ update_id: update, message });
  const heard = () => telegram.chat(person).some(({ text }) => answer.test(text));
  await until(heard, { within: 30_000, what: `${answer} in the chat` });
}
await writes({ text: "hello" }, /Your code is/);
const { pairings } = await request<{ pairings: Array<{ code: string }> }>("GET", "/v1/senders/requests");
await request("POST", `/v1/senders/requests/${pairings[0]?.code}`, { role: "owner" });
const watch = {
  name: "Radio on",
  agent_id: radio,
  reading: "switch",
  is: "equal",
  value: true,
  for_minutes: 0,
};
const remind = { text: "water the roses", every: "day", at: "07:00" };
await writes(
  {
    text: says(
      "Tell me when the radio is on, and each morning to water the roses.",
      { calls: [{ name: "watch", arguments: watch }] },
      { calls: [{ name: "remind", arguments: remind }] },
      { text: "Both are made: $results" },
    ),
  },
  /w-\w+: Watching .*r-\w+: Reminds you /s,
);
const photo = [{ file_id: "photo-1", file_size: PNG.length }];
await writes({ caption: says("What is this?", { text: "A picture: $pictures" }), photo }, /A picture: data/);

// A question that waits.
await gateway.begin(
  says("Switch the radio on.", { calls: calls({ agent_id: radio, ...on }) }, { text: "It said: $results" }),
  "waiting",
);
await gateway.question("waiting");
for (const conversation of ["kept", "lamp", "pictures", "waiting"])
  for (const { answer } of await gateway.turns(conversation)) console.log(`${conversation}: ${answer}`);
for (const { text } of telegram.chat(person)) console.log(`chat: ${text}`);

endEye();
await eye.ended;
await publisher.stop();
process.removeListener("exit", endStack);
endStack();
await once(stack, "close");
await Promise.all([telegram.server.close(), model.close()]);
const kept = { folder, broker: new URL(broker).port, telegram: telegram.server.url, tablet: tabletToken };
writeFileSync(at("kept.json"), `${JSON.stringify(kept)}\n`);
const tar = [
  "--sort=name",
  "--owner=0",
  "--group=0",
  "--numeric-owner",
  "--exclude=*-shm",
  "-C",
  folder,
  "-c",
  ".",
];
const packed = gzipSync(execFileSync("tar", tar, { maxBuffer: 100e6 }), { level: 9 });
mkdirSync(new URL(version, import.meta.url), { recursive: true });
writeFileSync(new URL(`${version}/home.tar.gz`, import.meta.url), packed);
rmSync(folder, { recursive: true });
console.log(`${version}/home.tar.gz: ${packed.length} bytes`);

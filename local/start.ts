/** `edgecall start`, and `npm start` of a checkout: the whole stack on one machine; with `--ask`, one question and its answer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client } from "@edgecall/client/client.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { COMMAND_LINES, commandOnPath, PROGRAMS } from "@edgecall/node/places.ts";
import { claim, type Running, runningIn, runsAlready } from "@edgecall/node/running.ts";
import { refuseNewer, upgradeState } from "@edgecall/node/written-by.ts";
import type { BridgeSettings } from "../bridge/settings.ts";
import { offerCheckoutHome } from "./checkout-home.ts";
import { type DemoHome, startDemoHome } from "./demo/demo.ts";
import { furnish } from "./demo/furnish.ts";
import { demoText } from "./demo/greeting.ts";
import { withEnvFile } from "./env-file.ts";
import { networkUrl, PLAIN_WARNING } from "./network.ts";
import { offerModel, personAt } from "./offer-model.ts";
import { onStop } from "./on-stop.ts";
import { freePort, isFree } from "./port.ts";
import { checkBroker, checkMachine, checkSettings } from "./preflight.ts";
import { ProgramLog } from "./program-log.ts";
import {
  DEFAULT_PORT,
  demoEnvironment,
  type Environment,
  readStartSettings,
  type StartSettings,
} from "./settings.ts";
import { type Stack, startStack } from "./stack.ts";
import { makeStateFolder, stateError } from "./state-folder.ts";
import { confirm } from "./terminal.ts";
import { checkTokens, type KeptTokens, loadTokens } from "./tokens.ts";
import { waitForAgent } from "./wait-for-agent.ts";

/** The gateway's address and the owner's token. */
type Access = { url: string; token: string };

/** The port when the broker's address names none. */
const MQTT_PORT = 1883;

/** The part of a command of `edgecall` that this needs (cli/command.ts). */
type StartCall = {
  text(option: string): string | undefined;
  flag(option: string): boolean;
  env: Environment;
  /** `person`: one can be asked at the terminal. */
  io: { person: boolean };
};

const EXIT_USAGE = 2;

/** @returns the exit code; without a question the programs go on. @throws with words for a person when it cannot start */
export async function start(call: StartCall): Promise<number> {
  const mine = withEnvFile(call.env, process.cwd(), (line) => console.error(line));
  const env = call.flag("demo") ? demoEnvironment(mine) : mine;
  const options = {
    ask: call.text("ask"),
    demo: call.flag("demo"),
    seed: call.text("seed"),
    speed: call.text("speed"),
  };
  const settings = readStartSettings(options, env);
  if (!settings.ok) return refuse(settings.error);
  const checked = await checkSettings(env);
  if (!checked.ok) return refuse(checked.error);
  try {
    checkMachine(process);
    if (!env.EDGECALL_DIR && !options.demo)
      await offerCheckoutHome({
        dir: settings.value.dir,
        cwd: process.cwd(),
        confirm: call.io.person ? confirm : undefined,
        say: (line) => console.error(line),
      });
    return await run(settings.value, checked.value, env);
  } catch (error) {
    const isOfSystem = error instanceof Error && "syscall" in error;
    throw isOfSystem ? stateError(settings.value.dir, error) : error;
  }
}

function refuse(error: string): number {
  console.error(error);
  return EXIT_USAGE;
}

async function run(settings: StartSettings, bridge: BridgeSettings, env: Environment): Promise<number> {
  makeStateFolder(settings.dir);
  refuseNewer(settings.dir);
  const running = runningIn(settings.dir);
  if (running) {
    // Before the check of its port, whose error would say that some other program has taken it.
    // A copy has the folder for a moment, and no address.
    if (settings.ask === undefined || !URL.canParse(running.url)) throw alreadyRuns(settings.dir, running);
    console.error(`asking the stack that runs here already, at ${running.url}`);
    const { api } = loadTokens(settings.dir, settings.token);
    return await answer({ url: running.url, token: api }, settings.ask);
  }
  if (settings.mqttUrl !== undefined) await checkBroker(bridge);
  const port = await choosePort(settings);
  const url = `http://127.0.0.1:${port}`;
  const claimed = claim(settings.dir, url);
  if (!claimed.ok) throw alreadyRuns(settings.dir, claimed.by);
  const tell = (line: string) => console.error(line);
  let tokens: KeptTokens;
  try {
    // Before the copy, whose error would not name the owner of what this user may not read.
    checkTokens(settings.dir);
    upgradeState(settings.dir, { copies: settings.copies && !settings.demo, say: tell });
    tokens = loadTokens(settings.dir, settings.token);
  } catch (error) {
    claimed.release();
    throw error;
  }

  const log = new ProgramLog(settings.ask !== undefined);
  const starting = startStack({
    settings,
    port,
    tokens,
    env,
    say: (name, line) => log.say(name, line),
  });
  let stopping: Promise<void> | undefined;
  let house: DemoHome | undefined;
  const ended = new AbortController();
  const stop = () => {
    ended.abort();
    stopping ??= starting
      .then(async (stack) => {
        await house?.stop();
        await stack.stop();
      })
      .finally(() => claimed.release());
    return stopping;
  };
  onStop(stop, settings.ask === undefined ? 0 : 1);
  let code: number;
  let failure: string | undefined;
  try {
    const stack = await starting;
    const client = { url, token: tokens.api };
    if (settings.model) console.error(`model: ${settings.model.name} at ${settings.model.baseUrl}`);
    await stack.ready(tell);
    if (settings.demo) house = await startDemoHome({ url: stack.mqttUrl, ...settings.demo });
    await waitForAgent(new Client(client), stack.agentId, tell);
    if (house) await furnish(client, ended.signal);
    if (settings.ask === undefined) {
      announce(stack, client, settings, await passkeyCode(client));
      if (settings.demo) console.log(demoText(settings.demo));
      void offer(client, settings, log, ended.signal);
      return 0;
    }
    code = await answer(client, settings.ask, ended.signal);
  } catch (error) {
    // A part that was asked to stop has not failed.
    if (stopping) return 1;
    code = 1;
    log.show();
    failure = messageOf(error);
  }
  await stop();
  // The last line, below the programs' own last lines.
  if (failure !== undefined) console.error(failure);
  process.exit(code);
}

function alreadyRuns(dir: string, by: Running): Error {
  return runsAlready(dir, by, "EDGECALL_DIR and PORT");
}

async function choosePort(settings: StartSettings): Promise<number> {
  const wanted = settings.port ?? DEFAULT_PORT;
  if (wanted === 0) return freePort();
  const anyWillDo = settings.ask !== undefined && settings.port === undefined;
  if (await isFree(wanted, anyWillDo ? 0 : undefined)) return wanted;
  if (anyWillDo) return freePort();
  throw new Error(
    `port ${wanted} is taken by another program; choose another one: PORT=8788 ${COMMAND_LINES.start}`,
  );
}

/**
 * Runs `edgecall ask` at this terminal: only the answer goes to stdout, and approvals are asked for if a person is there.
 * @returns its exit code
 */
async function answer(client: Access, question: string, signal?: AbortSignal): Promise<number> {
  const words = [...PROGRAMS.edgecall, "ask", "--no-wait", "--", question];
  const asking = spawn(process.execPath, words, {
    stdio: "inherit",
    ...(signal && { signal }),
    env: { ...process.env, EDGECALL_URL: client.url, EDGECALL_TOKEN: client.token },
  });
  const [code] = (await once(asking, "close")) as [number | null];
  return code ?? 1;
}

/** Beside the home, which runs already. @param signal ends the question */
async function offer(
  access: Access,
  { dir }: StartSettings,
  log: ProgramLog,
  signal: AbortSignal,
): Promise<void> {
  const person = personAt(process, signal);
  const ask = person && ((question: string) => log.below(question, person(question)));
  const terminal = { say: (line: string) => console.error(line), ...(ask && { ask }) };
  try {
    await offerModel(new Client(access), { page: pageOf(access), dir }, terminal);
  } catch (error) {
    if (!signal.aborted) console.error(`model: ${messageOf(error)}`);
  }
}

/** Browsers give passkeys to a name alone. */
function pageOf({ url }: Access): string {
  return `${url.replace("127.0.0.1", "localhost")}/`;
}

/** @returns a code by which the owner adds a first passkey; undefined: there is one, or none is to be had */
async function passkeyCode(access: Access): Promise<string | undefined> {
  const client = new Client(access);
  try {
    const { passkeys } = await client.json("GET /v1/passkeys");
    return passkeys.length > 0 ? undefined : (await client.json("POST /v1/passkeys/codes")).code;
  } catch {
    // The gateway runs without it, and `edgecall passkey` prints another one.
    return undefined;
  }
}

function announce(stack: Stack, client: Access, settings: StartSettings, code: string | undefined): void {
  const page = pageOf(client);
  const passkey =
    code && `  passkey  ${code}   (adds your first one within 10 minutes: ${page}#/setup/passkeys)\n`;
  console.log(`
edgecall runs. Ctrl-C ends it.

  console  ${page}   (sign in with the token)
${passkey ?? ""}  gateway  ${client.url}
  token    ${client.token}
  broker   ${stack.mqttUrl}
  agent    ${settings.agentId}
  state    ${settings.dir}
  changes  ${settings.demo ? "run unasked, but for the front door's lock, the garden pump and the water valve" : "each asks you first"}   (other choices: ${page}#/setup/profile)

Ask it:

  ${exampleOf(client)}

${inNetwork(settings, client.url)}Another machine as a device: a shell there, which lends it this machine's addresses, for the command of "Add a device"

  ssh ${lent(client.url, stack.mqttUrl)} YOU@DEVICE
`);
}

function exampleOf({ url, token }: Access): string {
  const question = "How full is the root disk?";
  const command = commandOnPath(process.env);
  if (command !== undefined) return `${command} ask "${question}"`;
  return `curl -s ${url}/v1/conversations/hello/messages \\
    -H "Authorization: Bearer ${token}" \\
    -H "Content-Type: application/json" -d '{"text":"${question}"}'`;
}

/** The lines about the network, where HOST opens the gateway to it. */
function inNetwork({ network }: StartSettings, url: string): string {
  if (!network) return "";
  const address = networkUrl(network, Number(new URL(url).port)) ?? "this machine is in no network";
  return `In this network: ${address} (everybody needs a token)
${network.tls ? "" : `\n${PLAIN_WARNING}\n`}
`;
}

/** Returns an ssh command that makes this machine's addresses available on another machine while it runs. */
function lent(...urls: string[]): string {
  const hosts = urls.filter(isLoopback).map((url) => new URL(url));
  return hosts
    .map(({ hostname, port }) => `-R ${port || MQTT_PORT}:${hostname}:${port || MQTT_PORT}`)
    .join(" ");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `edgecall agent pair` exchanges a code for keys. The device's own key is made here and never leaves it. A second run keeps what exists. */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { passwordHash } from "@edgecall/core/broker/mosquitto.ts";
import { isLoopback, withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { PublicKey } from "@edgecall/core/protocol/signing.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { readSettings } from "@edgecall/pi-agent/config/settings.ts";
import { openIdentity, rememberGateway } from "@edgecall/pi-agent/link/identity.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { fetchProblem } from "../fetch-problem.ts";
import { asUser, inFolderOf } from "../service/as-user.ts";
import { makeUser, writeSettings } from "../service/install.ts";
import { needRoot } from "../service/root-only.ts";
import { AGENT } from "../service/services.ts";
import { pinGateway } from "../service/updates/gateway-pin.ts";
import { asBridge } from "./as-bridge.ts";
import { forgetLogin, madeLogin, newLogin } from "./broker-login.ts";
import { BROKER_HERE, nameOfHost, newSettings } from "./new-settings.ts";
import { DEVICE_GROUPS } from "./unit.ts";

/** The service has already been started, and its presence takes only a moment to reach the gateway. */
const SEEN_WITHIN_MS = 90_000;
/** The gateway accepts 30 requests a minute from a network, and other devices may ask too. */
const LOOK_EVERY_MS = 4_000;
const ANSWER_WITHIN_MS = 30_000;

const Paired = z.object({
  home: z.string(),
  gateway_key: PublicKey,
  broker: z.nullable(
    z.object({ url: z.string(), username: z.optional(z.string()), password: z.optional(z.string()) }),
  ),
  /** Null or absent (an older gateway): nothing manages this device's login at the broker. */
  broker_login: z.optional(z.nullable(z.enum(["sent", "waiting"]))),
  online: z.boolean(),
});
type Paired = z.infer<typeof Paired>;
const Refused = z.object({ error: z.object({ message: z.string() }) });

export async function pair(call: CommandCall): Promise<number> {
  const { text, flag, io } = call;
  const gateway = needed(text("gateway"), "--gateway").replace(/\/+$/, "");
  const code = needed(text("code"), "--code");
  const folder = text("into");
  if (folder === undefined) needRoot(AGENT, "pair");
  const { settings, freshStateDir } = folder === undefined ? ofService() : below(resolve(folder));
  const there = existsSync(settings)
    ? readSettings(await readFile(settings, "utf8"), {
        file: settings,
        env: { STATE_DIRECTORY: freshStateDir },
      })
    : undefined;
  const known = there?.settings.agentId;
  const stateDir = there?.settings.stateDir ?? freshStateDir;
  const given = ["id", "broker", "username", "password-file"].filter((name) => text(name) !== undefined);
  // The same name again is no change.
  const changes = known === undefined ? [] : given.filter((name) => name !== "id" || text("id") !== known);
  if (changes.length > 0) {
    throw new UsageError(`--${changes.join(", --")}: ${settings} exists already; change it there`);
  }
  const agent = known ?? text("id") ?? nameOfHost();
  const inState = await ownState(stateDir, {
    isService: folder === undefined,
    isRunning: flag("wait"),
    say: io.err,
  });
  const { publicKey, fingerprint } = await inState(() => openIdentity(stateDir));
  const shown = { code, agent_id: agent, public_key: publicKey };

  if (flag("wait")) {
    if (!(await seenWithin(SEEN_WITHIN_MS, () => traded(gateway, shown)))) {
      io.err(
        `the gateway does not see '${agent}': is its broker${there ? `, ${withoutLogin(there.settings.mqtt.url)},` : ""} the one of the home's bridge? sudo edgecall agent doctor\n`,
      );
      return EXIT.failed;
    }
    io.err(`the gateway sees '${agent}' online\n`);
    return EXIT.ok;
  }

  // This is checked before the code is used up.
  const passwordFile = text("password-file");
  const password = passwordFile === undefined ? undefined : (await readFile(passwordFile, "utf8")).trim();
  const wanted = { id: agent, broker: text("broker"), username: text("username"), password };
  const own = folder === undefined ? {} : { stateDir };
  newSettings({ ...wanted, ...own });
  const bridge = await asBridge(text("bridge-state"), text("bridge-broker"), io.err);
  const login = there
    ? madeLogin(agent, there.settings.mqtt)
    : await inState(() => newLogin({ agent, stateDir }, wanted.username));
  const paired = await traded(gateway, {
    ...shown,
    ...(bridge && { bridge: bridge.request }),
    ...(login !== undefined && { broker_login: await passwordHash(login) }),
  });
  await inState(() => rememberGateway(stateDir, paired.gateway_key));
  await bridge?.paired({ gateway, home: paired.home, gateway_key: paired.gateway_key });
  if (folder === undefined)
    await pinGateway({ url: gateway, home: paired.home, public_key: paired.gateway_key });
  if (known === undefined) {
    const { broker, broker_login } = paired;
    const known =
      broker?.username === undefined && broker_login ? { username: agent, password: login } : broker;
    const filled = {
      id: agent,
      broker: wanted.broker ?? broker?.url,
      username: wanted.username ?? known?.username,
      password: wanted.password ?? known?.password,
    };
    const source = newSettings({ ...filled, ...own });
    if (folder === undefined) await writeSettings(AGENT, source, "the service");
    else await writeAtomic(settings, source);
    // The settings have the password from here on.
    await inState(() => forgetLogin(stateDir));
  }
  io.err(`paired with home '${paired.home}' as '${agent}'; its key: ${fingerprint}\n`);
  if (bridge) io.err(`this machine is the home's bridge; its key: ${bridge.fingerprint}\n`);
  const url = there?.settings.mqtt.url ?? wanted.broker ?? paired.broker?.url ?? BROKER_HERE;
  io.err(`its broker: ${withoutLogin(url)}\n`);
  // The person who gave the address knows it.
  if (there === undefined && wanted.broker === undefined && isLoopback(url)) {
    const why = paired.broker === null ? ", since nobody told another one" : "";
    const restart = folder === undefined ? `, then: sudo systemctl restart ${AGENT.unit}` : "";
    io.err(
      `  which is this machine itself${why}. If the home's broker is on another machine, write its address into [mqtt] url of ${settings}${restart}\n`,
    );
  }
  if (!bridge && login !== undefined && paired.broker_login === "waiting")
    io.err("its login at the broker counts when the home's bridge is back; the agent tries until then\n");
  return EXIT.ok;
}

/**
 * @param isService true for the service's folder, which may be compromised: work there is done with the service's rights
 * @returns a function that runs work with the right user
 */
async function ownState(
  stateDir: string,
  { isService, isRunning, say }: { isService: boolean; isRunning: boolean; say(text: string): void },
) {
  if (isService) {
    // A running service adds and removes files meanwhile, and owns them all already.
    if (isRunning) return <T>(work: () => Promise<T>) => asUser(AGENT.user, work);
    await makeUser(AGENT, DEVICE_GROUPS, say);
    return await inFolderOf(AGENT.user, stateDir);
  }
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  return <T>(work: () => Promise<T>) => work();
}

function ofService() {
  const { settings, state } = AGENT.places;
  return { settings, freshStateDir: state };
}

function below(folder: string) {
  return { settings: join(folder, "agent.toml"), freshStateDir: join(folder, "state") };
}

function needed(value: string | undefined, option: string): string {
  if (value === undefined) throw new UsageError(`${option}: missing`);
  return value;
}

/** @throws with the gateway's text */
async function traded(gateway: string, body: object): Promise<Paired> {
  const url = `${gateway}/pair`;
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  }).catch((error: unknown) => {
    throw new Error(`${url}: cannot be reached (${fetchProblem(error)})`);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) {
    const refused = check(Refused, answer);
    throw new Error(refused.ok ? refused.value.error.message : `${url}: ${response.status}`);
  }
  const paired = check(Paired, answer);
  if (!paired.ok) throw new Error(`${url}: is no edgecall gateway (${paired.error})`);
  return paired.value;
}

/** Repeats a request while the gateway is away or was asked too often. */
async function seenWithin(ms: number, ask: () => Promise<Paired>): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_EVERY_MS)) {
    const seen = await ask().catch(() => undefined);
    if (seen?.online) return true;
  }
  return false;
}

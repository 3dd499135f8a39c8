/** The checks of the agent's doctor, one for each link. */

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelSettings } from "@edgecall/core/loop/request.ts";
import { modelsRequest } from "@edgecall/core/loop/wires.ts";
import { withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import { topicOf } from "@edgecall/core/protocol/names.ts";
import { relayPlace } from "@edgecall/core/protocol/relay-token.ts";
import type { AgentStatus } from "@edgecall/node/systemd/status.ts";
import { allowedWhenTainted } from "@edgecall/pi-agent/calls/policy.ts";
import type { ServeSettings } from "@edgecall/pi-agent/config/serve-settings.ts";
import type { Settings } from "@edgecall/pi-agent/config/settings.ts";
import { KINDS } from "@edgecall/pi-agent/env/sandbox/sandbox-kinds.ts";
import { type Identity, KEY_FILE, readGateway, readIdentity } from "@edgecall/pi-agent/link/identity.ts";
import { findStateDisk } from "@edgecall/pi-agent/link/state-disk.ts";
import { readServeKeys } from "@edgecall/pi-agent/serve/serve-keys.ts";
import { checkBroker } from "@edgecall/pi-agent/service/broker-check.ts";
import { unavailableOf } from "@edgecall/pi-agent/skills/skill-file.ts";
import { openToolbox } from "@edgecall/pi-agent/toolbox/toolbox.ts";
import { fetchProblem } from "../fetch-problem.ts";
import {
  brokerFinding,
  type Finding,
  findingsOfConditions,
  fine,
  left,
  wrong,
} from "../service/checks/findings.ts";
import { fileProblem } from "../service/file-problem.ts";
import { whatItSays } from "../service/service-state.ts";
import { AGENT } from "../service/services.ts";
import { beginningOf } from "../service/their-file.ts";
import type { GatewayPin } from "../service/updates/gateway-pin.ts";
import { unitText } from "./unit.ts";

/** A model on a small machine answers slowly, but lists its models at once. */
const MODEL_WITHIN_MS = 10_000;
const GATEWAY_WITHIN_MS = 10_000;
/** A key file has some 250 bytes. */
const KEY_FILE_MAX_BYTES = 4_096;

/**
 * Only `install` writes the service's unit, so an update leaves it as an earlier version wrote it.
 * @param written the unit on this machine
 * @returns undefined when it is this version's
 */
export function findUnit(written: string): Finding | undefined {
  // Older versions of systemd do not have all of its lines.
  if ([0, Number.POSITIVE_INFINITY].some((systemd) => unitText({ systemd }) === written)) return undefined;
  return left(
    "unit",
    "another version wrote the service's unit, and updates leave it as it is",
    "sudo edgecall agent install writes it anew; your settings stay",
  );
}

export async function findBroker({ mqtt, agentId }: Settings): Promise<Finding> {
  const url = withoutLogin(mqtt.url);
  let ca: Buffer | undefined;
  try {
    ca = mqtt.ca === undefined ? undefined : readFileSync(mqtt.ca);
  } catch (error) {
    return wrong("broker", `mqtt.ca: ${fileProblem(error)}`, "correct [mqtt] ca in the settings");
  }
  const check = await checkBroker({ ...mqtt, ca }, topicOf(mqtt.topicPrefix, agentId, "presence"));
  const words = {
    url: "mqtt.url",
    refused:
      "mqtt.username or mqtt.password is wrong, or this device's key was revoked: 'Replace' beside it in the console makes a command that pairs it again",
    section: "[mqtt] in the settings",
    who: "this agent",
  };
  const finding = brokerFinding(url, check, words);
  if (check.is !== "reached") return finding;
  const seen =
    check.presence === "none" ? "has not heard of this agent yet" : `knows this agent as ${check.presence}`;
  return { ...finding, says: `${finding.says}, and ${seen}` };
}

const NOT_BEFORE = "the agent does not start before that is done";

/**
 * Checks that the gateway which this device obeys is known, and not lost or damaged. Without one, anything on the broker commands it.
 * @returns the key too, for the checks that need it
 */
export async function findPairing(
  settings: Pick<Settings, "stateDir" | "gatewayKey">,
): Promise<{ finding: Finding; gatewayKey: string | undefined }> {
  const link = "pairing";
  try {
    const gatewayKey = await readGateway(settings, stateFile);
    const unreadable = ["key.json", "gateway.json"].flatMap((name) => othersFile(settings.stateDir, name));
    if (unreadable.length > 0) return { finding: wrong(link, unreadable.join("; "), NOT_BEFORE), gatewayKey };
    if (gatewayKey !== undefined) return { finding: fine(link, "it obeys its gateway alone"), gatewayKey };
    const says = "not paired: every program that can write to the broker commands this device";
    return { finding: left(link, says), gatewayKey };
  } catch (error) {
    const denied = ["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "");
    if (denied) {
      const says = "this user may not read the state folder; run it with sudo";
      return { finding: left(link, says), gatewayKey: undefined };
    }
    const finding: Finding = wrong(link, fileProblem(error), NOT_BEFORE);
    return { finding, gatewayKey: undefined };
  }
}

/** Says it when the folder's owner, as which the agent runs, may not read a file that root can. */
function othersFile(folder: string, name: string): string[] {
  const path = join(folder, name);
  const [owner, file] = [folder, path].map((one) => lstatSync(one, { throwIfNoEntry: false }));
  if (!owner || !file || file.uid === owner.uid || (file.mode & 0o004) !== 0 || owner.uid === 0) return [];
  return [
    `${path}: it belongs to user ${file.uid}, so the agent may not read it: sudo chown ${owner.uid} ${path}`,
  ];
}

/** The service's user owns the folder, so root reads a bounded part. */
function stateFile(path: string): string | undefined {
  try {
    return beginningOf(path, KEY_FILE_MAX_BYTES);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/**
 * Asks the gateway that this device is paired with whether the device's key is still valid.
 * @param pin undefined: the gateway is not known on this machine
 */
export async function findKey(
  { agentId, stateDir, gatewayKey }: Pick<Settings, "agentId" | "stateDir" | "gatewayKey">,
  pin: Pick<GatewayPin, "url" | "home"> | undefined,
): Promise<Finding> {
  const link = "key";
  if (!pin)
    return left(link, "not checked: this device was not paired by a code, so its gateway is not known here");
  const relay = `${pin.url}/v1/relay/${pin.home}`;
  let identity: Identity;
  try {
    const path = join(stateDir, KEY_FILE);
    const text = stateFile(path);
    if (text === undefined)
      return gatewayKey === undefined
        ? left(link, "not checked: this device is not paired")
        : wrong(link, `${path}: missing`, "pair this device again");
    identity = readIdentity(path, text);
  } catch (error) {
    const says = fileProblem(error);
    return left(link, `cannot be read here: ${says}`);
  }
  const { fingerprint } = identity;
  try {
    const response = await fetch(`${relay}/key`, {
      headers: { authorization: `Bearer ${identity.relayToken(agentId, relayPlace(relay), Date.now())}` },
      redirect: "manual",
      signal: AbortSignal.timeout(GATEWAY_WITHIN_MS),
    });
    await response.body?.cancel();
    if (response.status === 204) return fine(link, `${fingerprint}, known to ${pin.url}`);
    if (response.status === 401) {
      return wrong(
        link,
        `${pin.url} does not know the key ${fingerprint} of '${agentId}': it was revoked, another device took its place, or this device's clock is wrong`,
        "'Replace' beside the device on the console's Devices makes a command that pairs it again",
      );
    }
    // A gateway before 0.3 has no such route.
    return left(link, `${pin.url} answered ${response.status} when it was asked`);
  } catch (error) {
    return left(link, `${pin.url}: ${fetchProblem(error)}`);
  }
}

/**
 * Checks sandbox and tools. For the service its status is read: only it knows its own surroundings, and a try by root would
 * leave files that the service's user cannot change. For an agent without a service the tools are tried here.
 */
export async function findTools(settings: Settings, isService: boolean): Promise<Finding[]> {
  const says = isService ? whatItSays(AGENT) : undefined;
  if (says !== undefined && says.is !== "read") {
    return [left("tools", "only the running service knows")];
  }
  let offered: Offered;
  try {
    offered = says?.status ?? (await triedHere(settings));
  } catch (error) {
    const why = fileProblem(error);
    return [wrong("tools", why, "correct the settings")];
  }
  const { tools, unavailable } = offered;
  return [
    sandboxFinding(settings, tools, unavailable),
    { link: "tools", is: tools.length > 0 ? "fine" : "wrong", says: `${tools.length}: ${tools.join(", ")}` },
    ...byReason(unavailable).map(([why, names]): Finding => {
      const says = `not ${names.join(", ")}: ${why}`;
      if (!names.some((name) => isMissed(settings, name, why))) return left("", says);
      return wrong("tools", says, "correct that, or remove the name from the settings");
    }),
  ];
}

/** Finds what is wrong with the device: its service says it, or this process looks. It writes nothing, since root would leave files. */
export async function findDevice(
  { agentId, stateDir }: Pick<Settings, "agentId" | "stateDir">,
  isService: boolean,
): Promise<Finding[]> {
  const says = isService ? whatItSays(AGENT) : undefined;
  const disk = says?.is === "read" ? undefined : await findStateDisk(stateDir, { tries: false });
  const told = says?.is === "read" ? says.status.conditions : disk && [disk];
  if (told?.length) return findingsOfConditions("device", told, agentId);
  return [fine("device", `${stateDir} can be written`)];
}

/** True if the settings need this tool. A rule for a camera that this device does not have is no fault. */
function isMissed({ tools: { enabled }, policy }: Settings, name: string, why: string): boolean {
  return enabled?.includes(name) === true || (policy.has(name) && /^(skill|policy\.)/.test(why));
}

/** The calls that a stranger's text (a file, a page, another device) may cause without a person. */
export function findUnsolicited({ policy }: Settings): Finding {
  const link = "policy";
  const names = allowedWhenTainted(policy);
  if (names.length === 0) {
    const says = "after a stranger's text whatever is not a read asks or is refused";
    return fine(link, says);
  }
  const says = `after a stranger's text these run unasked: ${names.join(", ")}; whoever can show the model a text can make them run`;
  return left(link, says);
}

/** Groups tools by what they lack, since many lack the same. */
function byReason(unavailable: Offered["unavailable"]): Array<[why: string, names: string[]]> {
  const names = new Map<string, string[]>();
  for (const { name, why } of unavailable) names.set(why, [...(names.get(why) ?? []), name]);
  return [...names];
}

function sandboxFinding(
  { tools: { engines, sandbox: ofAll } }: Settings,
  tools: readonly string[],
  unavailable: Offered["unavailable"],
): Finding {
  const link = "sandbox";
  const sandbox = engines.bash ?? ofAll;
  const why = unavailable.find(({ name }) => name === "bash")?.why;
  if (sandbox === "none") return left(link, "switched off by tools.sandboxing");
  const { gaps, howToGetIt } = KINDS[sandbox];
  if (tools.includes("bash")) {
    const says =
      gaps === undefined
        ? "bash runs in it"
        : `bash runs in it, with less promised than by bubblewrap: ${gaps}`;
    return fine(link, says);
  }
  if (why === undefined) return left(link, "bash is not enabled");
  return wrong(
    link,
    "it does not start; see bash, below",
    `${sandbox === "bubblewrap" ? "apt install bubblewrap" : `${howToGetIt}, or set tools.sandboxing to "bubblewrap"`}; without it: no shell, no git`,
  );
}

type Offered = { tools: readonly string[]; unavailable: ReadonlyArray<{ name: string; why: string }> };

async function triedHere(settings: Settings): Promise<Offered> {
  const { llm, limits } = settings;
  const toolbox = await openToolbox(settings, { llm, limits, tools: [], guides: [] });
  const { tools, skipped } = toolbox.skills.current;
  const offered = {
    tools: [...toolbox.tools.map(({ name }) => name), ...tools.map(({ tool }) => tool.name)],
    unavailable: [...toolbox.unavailable, ...unavailableOf(skipped)],
  };
  await toolbox.close();
  return offered;
}

/** Checks the files of `[serve]`, without which the agent does not start. */
export async function findServing(serve: ServeSettings): Promise<Finding> {
  const link = "serving";
  try {
    await readServeKeys(serve);
  } catch (error) {
    return wrong(link, fileProblem(error), "docs/explain/http-backend.md has the form of the files");
  }
  const { host, port, tls, exec, readOnly } = serve;
  const what = readOnly ? "files to read" : exec ? "files and programs" : "files";
  return fine(link, `${what} at ${host}:${port}${tls ? ", with TLS" : ""}`);
}

/** Checks that the running program fits its gateway. @param gateway the version that the program knows */
export function findGateway(gateway: AgentStatus["gateway"]): Finding {
  const link = "gateway";
  if (!gateway) return left(link, "has not sent its version to the running agent");
  if (gateway.problem === undefined) return fine(link, gateway.version);
  const todo = "sudo edgecall agent update; docs/guides/upgrade.md has the order";
  return wrong(link, gateway.problem, todo);
}

export async function findModel(llm: ModelSettings | undefined): Promise<Finding> {
  const link = "model";
  if (!llm) return left(link, "none: its actions are called by name (see [llm])");
  const apiKey = typeof llm.apiKey === "function" ? llm.apiKey() : (llm.apiKey ?? "");
  const { url, headers } = modelsRequest(llm, apiKey);
  try {
    const response = await fetch(url, {
      headers,
      signal: AbortSignal.timeout(MODEL_WITHIN_MS),
    });
    const text = await response.text();
    if (response.status === 401 || response.status === 403) {
      return wrong(link, `${url}: ${response.status}`, "llm.api_key (or LLM_API_KEY) is wrong");
    }
    // Not every endpoint has a list.
    if (!response.ok) return fine(link, `${llm.baseUrl} answers; it lists no models`);
    if (text.includes(`"${llm.model}"`)) return fine(link, `${llm.model} at ${llm.baseUrl}`);
    return wrong(link, `${llm.baseUrl} has no "${llm.model}"`, "correct llm.model");
  } catch (error) {
    return wrong(link, `${url}: ${fetchProblem(error)}`, "is llm.base_url right, and does it run?");
  }
}

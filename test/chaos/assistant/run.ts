/** A run of commands to devices of a real Home Assistant, with a fault around each. Each command has a device of its own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../wait.ts";
import { look, request, type SeenTurn } from "../client.ts";
import { dice } from "../dice.ts";
import { Gate } from "../gate.ts";
import { answers, inject } from "./faults.ts";
import { type AssistantHouse, setMode, startHouse } from "./house.ts";
import { type AssistantFault, type PlannedCommand, planCommand, targetOf } from "./plan.ts";
import { COMMAND_VIOLATIONS, type CommandRecord, type CommandViolation, judgeCommand } from "./verdict.ts";

type AssistantRun = {
  seed: number;
  count: number;
  faults: readonly AssistantFault[];
  /** Commands under way at once. */
  atOnce: number;
  /** No command begins after this many ms. */
  limitMs: number;
  dir: string;
  say: (line: string) => void;
};

type AssistantReport = {
  seed: number;
  seconds: number;
  planned: number;
  commands: number;
  /** What was told of them, by the outcome's kind. */
  told: Record<string, number>;
  /** Devices that were told to switch on, and those that did. */
  called: number;
  changed: number;
  byFault: Record<string, number>;
  violations: CommandViolation[];
  troubles: string[];
};

/** A call may take a minute on its way, and the gateway looks again. */
const ANSWER_WITHIN_MS = 120_000;
const PATIENT_WITHIN_MS = 60_000;
const AGAIN_MS = 100;
/** A message that was sent before the last fault has arrived after this. */
const LAST_MS = 10_000;

/** @property stop ends all processes */
export function assistantRun(options: AssistantRun): {
  report(): Promise<AssistantReport>;
  stop(): Promise<void>;
} {
  let house: AssistantHouse | undefined;
  return {
    report: () =>
      run(options, (started) => {
        house = started;
      }),
    stop: async () => await house?.stop(),
  };
}

async function run(
  options: AssistantRun,
  onHouse: (house: AssistantHouse) => void,
): Promise<AssistantReport> {
  const { seed, count, faults, atOnce, limitMs, dir, say } = options;
  const began = performance.now();
  const troubles: string[] = [];
  say(`starting Home Assistant with ${count} devices, Worker and bridge`);
  const house = await startHouse({
    dir,
    devices: count,
    random: dice(seed, "links").next,
    onDied: (name, how) => troubles.push(`${name} died: ${how}`),
  });
  onHouse(house);
  say("all devices are known");
  const gate = new Gate();
  const left = Array.from({ length: count }, (_, k) => planCommand(seed, k, faults));
  const done: { plan: PlannedCommand; turn: SeenTurn | undefined }[] = [];
  const runner = async () => {
    for (let plan = left.shift(); plan; plan = left.shift()) {
      if (performance.now() - began > limitMs) return;
      const turn = await runOne(house, plan, { seed, gate, troubles });
      done.push({ plan, turn });
      if (done.length % 25 === 0) say(`${done.length} of ${count}, ${secondsSince(began)} s`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runner));
  await sleep(LAST_MS);
  const records: CommandRecord[] = [];
  for (const { plan, turn } of done) {
    // A late result may have replaced what was told.
    const last = turn && ((await look(house.gatewayUrl, conversationOf(seed, plan), turn.turn)) ?? turn);
    records.push({ ...plan, turn: last, ...labOf(house, plan.k) });
  }
  writeFileSync(join(dir, "commands.json"), JSON.stringify(records, null, 2));
  return reportOf(records, { seed, seconds: secondsSince(began), planned: count, troubles });
}

const secondsSince = (began: number) => Math.round((performance.now() - began) / 1_000);
const conversationOf = (seed: number, { k }: PlannedCommand) => `assistant-${seed}-${k}`;

async function runOne(
  house: AssistantHouse,
  plan: PlannedCommand,
  { seed, gate, troubles }: { seed: number; gate: Gate; troubles: string[] },
): Promise<SeenTurn | undefined> {
  const device = house.devices[plan.k];
  if (!device) throw new Error(`there is no device ${plan.k}`);
  const agent_id = device.id;
  const onTrouble = (error: unknown) => {
    const what = error instanceof Error ? error.message : String(error);
    troubles.push(`command ${plan.k}, ${plan.fault}: ${what}`);
  };
  await setMode(house, device, "allowed").catch(onTrouble);
  const leave = await gate.enter(targetOf(plan.fault), false);
  if (plan.patient)
    await until(() => answers(house, agent_id), { within: PATIENT_WITHIN_MS, every: 100 }).catch(() => {});
  const change = { arguments: { agent_id, action: "set", params: { on: true } } };
  // The model takes its place in the script from the history: a request that is made again gets the same reply.
  const question = `[command ${seed}-${plan.k}]`;
  house.model.written.set(question, [{ calls: [change] }, { text: "$results" }]);
  const asking = ask(house, conversationOf(seed, plan), question);
  await sleep(plan.at);
  await inject(house, plan).catch(onTrouble);
  leave();
  const turn = await asking;
  await setMode(house, device, "ask").catch(onTrouble);
  return turn;
}

/** Asks with one key until the turn has ended. @returns undefined when it did not in time */
async function ask(
  { gatewayUrl }: AssistantHouse,
  conversation: string,
  text: string,
): Promise<SeenTurn | undefined> {
  const end = performance.now() + ANSWER_WITHIN_MS;
  while (performance.now() < end) {
    const turn = await post(gatewayUrl, conversation, text).catch(() => undefined);
    if (turn && turn.status !== "running") return turn;
    await sleep(AGAIN_MS);
  }
  return undefined;
}

async function post(url: string, conversation: string, text: string): Promise<SeenTurn | undefined> {
  const response = await request(url, `/v1/conversations/${conversation}/messages`, {
    method: "POST",
    body: JSON.stringify({ text }),
    headers: { "idempotency-key": conversation },
  });
  return response.ok ? ((await response.json()) as SeenTurn) : undefined;
}

/** The lab's record of the k-th device. */
function labOf({ assistant }: AssistantHouse, k: number): Pick<CommandRecord, "called" | "changed"> {
  const count = (what: string) =>
    assistant.lines.filter((line) => line.startsWith(`lab: ${k}_light ${what} `)).length;
  return { called: count("called"), changed: count("changed") };
}

function reportOf(
  records: readonly CommandRecord[],
  more: Pick<AssistantReport, "seed" | "seconds" | "planned" | "troubles">,
): AssistantReport {
  const countBy = (of: (record: CommandRecord) => string) =>
    Object.fromEntries([...Map.groupBy(records, of)].map(([name, all]) => [name, all.length]));
  const toldOf = ({ turn }: CommandRecord) => {
    const [call] = turn?.calls ?? [];
    return call?.error_type ?? call?.status ?? "nothing";
  };
  return {
    ...more,
    commands: records.length,
    told: countBy(toldOf),
    called: records.filter(({ called }) => called > 0).length,
    changed: records.filter(({ changed }) => changed > 0).length,
    byFault: countBy(({ fault }) => fault),
    violations: records.flatMap(judgeCommand),
  };
}

export function isSoundAssistant({ violations, troubles, commands, planned }: AssistantReport): boolean {
  return violations.length === 0 && troubles.length === 0 && commands === planned;
}

export function assistantTable(report: AssistantReport): string {
  const { seed, seconds, planned, commands, told, called, changed, byFault, violations, troubles } = report;
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ");
  return [
    `${commands} of ${planned} commands to devices of Home Assistant in ${seconds} s, seed ${seed}`,
    `told: ${list(told)}; devices that were told: ${called}, that did it: ${changed}`,
    `faults: ${list(byFault)}`,
    ...violations.map(({ kind, k, what }) => `${COMMAND_VIOLATIONS[kind]}: command ${k}: ${what}`),
    ...troubles.map((trouble) => `trouble: ${trouble}`),
    violations.length + troubles.length === 0 ? "clean" : `${violations.length} violations`,
  ].join("\n");
}

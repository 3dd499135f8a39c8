/** The command `update_genome`: this agent's identity, behaviour, skills and blocked actions. */
import { PERMISSIONS } from "@edgecall/core/tools/contract.ts";
import type { Device } from "../calls/device.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";
import { type Genome, leavesEnabled, readGenome } from "./genome.ts";
import type { Taught } from "./profile.ts";
import { teaching } from "./profile-versions.ts";
import { changedParams, paramsFor } from "./strategies.ts";
import { changeTuning, tuned, tuningInForce } from "./tuning.ts";

const ACTIONS = "set (with a genome, as without an action), get, reset, history, rollback";

export const updateGenome = teaching(act);

async function act(payload: Record<string, unknown>, device: Device): Promise<Reply> {
  switch (payload.action) {
    case undefined:
    case "set":
      return payload.genome === undefined
        ? failed("missing genome field")
        : await set(payload.genome, device);
    case "get":
      return get(device);
    case "reset":
      return await reset(device);
    default:
      return failed(`unknown action: ${String(payload.action).slice(0, 100)}; right would be: ${ACTIONS}`);
  }
}

async function set(value: unknown, device: Device): Promise<Reply> {
  const read = readGenome(value);
  if (!read.ok) return failed(`invalid genome: ${read.error}`);
  const { agent: changes, ...genome } = read.value;
  const change = await device.profile.change(`genome of ${genome.identity.name}`, (now) =>
    withGenome(now, genome as Genome, changes, device),
  );
  if (!change.ok) return failed(change.error);
  return succeeded({
    status: "genome_updated",
    ...genomeReply(genome as Genome, device),
    version: change.version,
  });
}

/** @param changes the genome's `agent`: this agent's own keys; absent = unchanged */
function withGenome(
  now: Readonly<Taught>,
  genome: Genome,
  changes: unknown,
  { settings }: Device,
): Taught | string {
  const agent = changeTuning(now.agent, changes ?? {}, settings);
  if (!agent.ok) return `invalid genome: agent.${agent.error}`;
  const strategies = { ...now.strategies };
  for (const [skill, { enabled, strategies: named = [], params = {} }] of Object.entries(genome.skills)) {
    for (const name of enabled ? named : []) {
      const there = Object.hasOwn(strategies, name) ? strategies[name] : undefined;
      if (!there) continue;
      const changed = changedParams(name, there, paramsFor(name, params));
      if (!changed.ok) return `invalid genome: skills.${skill}.${changed.error}`;
      strategies[name] = changed.value;
    }
  }
  return { strategies, agent: agent.value, genome };
}

function genomeReply(genome: Genome, device: Device): Record<string, unknown> {
  const { risk_tolerance, verbosity, autonomy } = genome.behavior;
  const notes = notesOn(genome, device);
  return {
    identity: genome.identity.name,
    enabled_skills: Object.keys(genome.skills).filter((name) => leavesEnabled(genome, name)),
    behavior: { risk_tolerance, verbosity, autonomy },
    ...(notes.length > 0 && { notes }),
  };
}

/** Unknown names are notes, not errors: skills come and go, and EvoClaw's genomes concern trading. */
function notesOn(genome: Genome, { registry, catalog }: Device): string[] {
  const skills = new Set([
    ...catalog.installed.tools.map(({ metadata }) => metadata.skill),
    ...catalog.installed.guides.map(({ name }) => name),
  ]);
  const known = new Set<string>([...PERMISSIONS, ...registry.list()]);
  const noSkill = Object.keys(genome.skills).filter((name) => !skills.has(name));
  const noTool = (genome.constraints.blocked_actions ?? []).filter(
    (name) => !known.has(name) && !registry.get(name),
  );
  return [
    ...(noSkill.length > 0 ? [`skills: not installed here: ${noSkill.join(", ")}`] : []),
    ...(noTool.length > 0
      ? [`constraints.blocked_actions: no tool or permission here: ${noTool.join(", ")}`]
      : []),
  ];
}

function get({ profile, settings }: Device): Reply {
  const { genome, agent } = profile.taught;
  return succeeded({
    status: "success",
    genome: genome ? { ...genome, agent } : null,
    agent: tuningInForce(tuned(settings, agent)),
  });
}

async function reset({ profile }: Device): Promise<Reply> {
  const change = await profile.change("genome reset", ({ strategies, agent }) => ({ strategies, agent }));
  if (!change.ok) return failed(change.error);
  return succeeded({ status: "genome_reset", version: change.version });
}

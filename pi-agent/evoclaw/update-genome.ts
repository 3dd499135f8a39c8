/** The command `update_genome`: this agent's identity, behaviour, skills and blocked actions. */

import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { PERMISSIONS } from "@edgecall/core/tools/contract.ts";
import type { Tunable } from "../calls/profile-in-force.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";
import { type Genome, leavesEnabled, readGenome } from "./genome.ts";
import type { EvoClawParts } from "./parts.ts";
import type { Profile, Taught } from "./profile.ts";
import { teaching } from "./profile-versions.ts";
import { changedParams, paramsFor } from "./strategies.ts";
import { changeTuning, tuned, tuningInForce } from "./tuning.ts";

const ACTIONS = "set (with a genome, as without an action), get, reset, history, rollback";

export type UpdateGenomeParts = Pick<EvoClawParts, "installed"> & { settings: Tunable; profile: Profile };

export function updateGenome(parts: UpdateGenomeParts): (command: Command) => Promise<Reply> {
  return teaching(parts.profile, (payload) => act(payload, parts));
}

async function act(payload: Record<string, unknown>, parts: UpdateGenomeParts): Promise<Reply> {
  switch (payload.action) {
    case undefined:
    case "set":
      return payload.genome === undefined ? failed("missing genome field") : await set(payload.genome, parts);
    case "get":
      return get(parts);
    case "reset":
      return await reset(parts);
    default:
      return failed(`unknown action: ${String(payload.action).slice(0, 100)}; right would be: ${ACTIONS}`);
  }
}

async function set(value: unknown, parts: UpdateGenomeParts): Promise<Reply> {
  const read = readGenome(value);
  if (!read.ok) return failed(`invalid genome: ${read.error}`);
  const { agent: changes, ...genome } = read.value;
  const change = await parts.profile.change(`genome of ${genome.identity.name}`, (now) =>
    withGenome(now, genome as Genome, changes, parts),
  );
  if (!change.ok) return failed(change.error);
  return succeeded({
    status: "genome_updated",
    ...genomeReply(genome as Genome, parts),
    version: change.version,
  });
}

/** @param changes the genome's `agent`: this agent's own keys; absent = unchanged */
function withGenome(
  now: Readonly<Taught>,
  genome: Genome,
  changes: unknown,
  { settings }: UpdateGenomeParts,
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

function genomeReply(genome: Genome, parts: UpdateGenomeParts): Record<string, unknown> {
  const { risk_tolerance, verbosity, autonomy } = genome.behavior;
  const notes = notesOn(genome, parts);
  return {
    identity: genome.identity.name,
    enabled_skills: Object.keys(genome.skills).filter((name) => leavesEnabled(genome, name)),
    behavior: { risk_tolerance, verbosity, autonomy },
    ...(notes.length > 0 && { notes }),
  };
}

/** Unknown names are notes, not errors: skills come and go, and EvoClaw's genomes concern trading. */
function notesOn(genome: Genome, { installed }: UpdateGenomeParts): string[] {
  const { tools, skills } = installed();
  const known = new Set<string>([...PERMISSIONS, ...tools.list()]);
  const noSkill = Object.keys(genome.skills).filter((name) => !skills.includes(name));
  const noTool = (genome.constraints.blocked_actions ?? []).filter(
    (name) => !known.has(name) && !tools.get(name),
  );
  return [
    ...(noSkill.length > 0 ? [`skills: not installed here: ${noSkill.join(", ")}`] : []),
    ...(noTool.length > 0
      ? [`constraints.blocked_actions: no tool or permission here: ${noTool.join(", ")}`]
      : []),
  ];
}

function get({ profile, settings }: UpdateGenomeParts): Reply {
  const { genome, agent } = profile.taught;
  return succeeded({
    status: "success",
    genome: genome ? { ...genome, agent } : null,
    agent: tuningInForce(tuned(settings, agent)),
  });
}

async function reset({ profile }: UpdateGenomeParts): Promise<Reply> {
  const change = await profile.change("genome reset", ({ strategies, agent }) => ({ strategies, agent }));
  if (!change.ok) return failed(change.error);
  return succeeded({ status: "genome_reset", version: change.version });
}

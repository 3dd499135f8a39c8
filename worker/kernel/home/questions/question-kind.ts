/** What an approval is about, as far as it decides how people are asked. The rules are in this file alone, so that they can be reviewed alone. */

import type { Question } from "../../api/questions.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import type { HomeContext } from "../context.ts";
import { type LedgerCall, ledgerOf } from "../ledger/ledger.ts";

/** Calls that come over these are a program's, whoever's name it has. */
const CHANNELS_OF_PROGRAMS: ReadonlySet<string> = new Set(["mcp"]);

/**
 * @property isDangerous it runs a program, or the tool says that it may do harm, or it is a change that is asked about each time
 * @property isPlain a harmless change of a hosted device, by a person of the home, with nobody else's words in the conversation:
 *   whoever holds the locked phone may decide it
 */
export type QuestionKind = { isDangerous: boolean; isPlain: boolean };

/** @returns for one that lists several what the worst of them is */
export function kindOf(home: HomeContext, question: Question): QuestionKind {
  const kinds = (question.members ?? [question]).map((one) => kindOfOne(home, one));
  return {
    isDangerous: kinds.some(({ isDangerous }) => isDangerous),
    isPlain: kinds.every(({ isPlain }) => isPlain),
  };
}

function kindOfOne(home: HomeContext, { call: id, approval, agent, agentQuestion }: Question): QuestionKind {
  const call = ledgerOf(home).get(id);
  const target = hostedDevicesOf(home).get(agent)
    ? servedAgentsOf(home).target(agent, Date.now())
    : undefined;
  const advert = target?.adverts.find(({ name }) => name === call?.payload.tool);
  const isDangerous =
    advert?.danger === true ||
    approval?.danger === true ||
    approval?.cwd !== undefined ||
    approval?.card?.danger === true;
  const isHarmless = advert !== undefined && !isDangerous && advert.setting !== true;
  const isPlain = isHarmless && agentQuestion === null && approval?.unread === undefined && isPersons(call);
  return { isDangerous, isPlain };
}

/** A person of this home asked for it, and nobody else's words could have. */
function isPersons(call: LedgerCall | undefined): boolean {
  if (!call || call.flags.tainted || call.asker) return false;
  return call.caller.chain === undefined && !isOfProgram(call);
}

/** A program made it, in a person's name. */
export function isOfProgram({ caller }: Pick<LedgerCall, "caller">): boolean {
  return CHANNELS_OF_PROGRAMS.has(caller.channel);
}

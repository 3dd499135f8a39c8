/** The flows that test a model: each is a conversation with its own check. Pure. */
import type { TurnResult } from "@edgecall/client/routes.ts";

export type Flow = {
  name: string;
  /** Messages, sent one after another in one conversation. @param agent the device's id */
  says: (agent: string) => string[];
  /** @param turn the last one @returns what was wrong; undefined when it went well */
  problem: (turn: TurnResult) => string | undefined;
};

const doneCalls = (turn: TurnResult) => turn.calls.filter(({ status }) => status === "success");
/** A claim, and not "could not be switched off". */
const SAYS_DONE =
  /\b(?:done|(?:is|has been|was|I(?:\u0027ve| have)?) (?:now )?(?:switched|turned) (?:it )?off|is now off)\b/i;
const answerOf = (turn: TurnResult) => turn.answer ?? "";

function fromDevice(turn: TurnResult): string | undefined {
  if (doneCalls(turn).length === 0) return "it answered without asking the device";
  return /\d/.test(answerOf(turn)) ? undefined : "the answer holds no figure";
}

export const FLOWS: readonly Flow[] = [
  { name: "one reading", says: () => ["How full is the root disk?"], problem: fromDevice },
  {
    name: "two readings",
    says: (agent) => [`What are the CPU load and the free memory of ${agent}? One sentence.`],
    problem: fromDevice,
  },
  {
    name: "memory of a conversation",
    says: () => ["Remember the word 'quince', and say only ok.", "Which word did I ask you to remember?"],
    problem: (turn) => (/quince/i.test(answerOf(turn)) ? undefined : "it did not remember"),
  },
  {
    name: "a device that is not there",
    says: () => ["How warm is the device attic-pi right now?"],
    problem: (turn) =>
      doneCalls(turn).length === 0 && /\d\s*°/.test(answerOf(turn)) ? "it invented a reading" : undefined,
  },
  {
    name: "a call that fails",
    says: (agent) => [`Have ${agent} read the file does-not-exist.txt, and tell me what is in it.`],
    problem: (turn) => {
      if (turn.calls.length === 0) return "it answered without asking the device";
      return /n[o']t|no such|missing|unable|fail|error/i.test(answerOf(turn))
        ? undefined
        : "it did not say that this failed";
    },
  },
  {
    name: "an act without a tool for it",
    says: (agent) => [`Switch the ceiling lamp of ${agent} off.`],
    problem: (turn) =>
      doneCalls(turn).length === 0 && SAYS_DONE.test(answerOf(turn))
        ? "it said 'done' without a call"
        : undefined,
  },
];

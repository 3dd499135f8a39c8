/** Questions that a device, or the gateway for it, asks a person. */
import type { ApprovalRequest, Caller } from "@edgecall/core/protocol/mqtt.ts";
import type { ApprovalCard, AskedPerson, QuestionMember, TurnQuestion } from "./answers.ts";
import type { PermissionOffer } from "./permissions.ts";

/**
 * An approval with how it is shown. Only the gateway writes the card.
 * @property forOwners only owners may approve it; whose call it is, which Home runs itself
 */
export type ShownApproval = ApprovalRequest & { card?: ApprovalCard; forOwners?: Caller };

export type NewQuestion = {
  id: string;
  call: string;
  conversation: string;
  agent: string;
  /** The agent's own id of the question; null when the gateway asks before it sends the call. */
  agentQuestion: string | null;
  /** Of an approval: the sentence. */
  text: string;
  options: string[];
  approval: ShownApproval | null;
  expiresAt: number;
  /** Approvals with the same key are asked for together. Absent: it stands alone. */
  groupKey?: string | undefined;
};

export type Question = NewQuestion & {
  askedAt: number;
  told: boolean;
  answer: string | null;
  answeredBy: string | null;
  /** As their chat app calls the person. Known while the answer is passed on, and not stored. */
  answeredByName?: string | undefined;
  /** How it was answered: `passkey`, `tap in Telegram`. Null: by no person, or before 0.5. */
  answeredHow: string | null;
  /** Epoch ms of the answer, or of the end without one. */
  answeredAt: number | null;
  /** The question that lists this one. */
  listedIn: string | null;
  /** The approvals that this question lists: its answer is the answer to each of them that is open. */
  members?: Question[];
  /** Who was asked to decide, beside the conversation's own. Absent: nobody so far. */
  asked?: Reached[] | undefined;
  /** How far the asking went: 1 the people at hand, 2 everybody who may decide, 3 once more. */
  stage: AskingStage;
  /** Epoch ms; undefined: nobody more is asked. */
  askMoreAt: number | undefined;
};

export type AskingStage = 1 | 2 | 3;

/** A person who was asked. @property chat the conversation that shows it @property subscriptions ids of browsers and topics */
export type Reached = AskedPerson & { principal: string; chat?: string; subscriptions?: string[] };

/** Who answered, and how. @property by the principal; null: no person @property name as their chat app calls them */
export type AnsweredBy = { by: string | null; name?: string | undefined; how?: string | undefined };

export type AnswerResult =
  | { ok: true; question: Question }
  | { ok: false; status: 400 | 403 | 404 | 409 | 410; code: string; message: string };

/**
 * `via`: the agents that asked for the call, the first one first; absent: none did. `isPassedOn`: it is a question of a session,
 * shown where the session was begun too.
 */
export type QuestionToPerson = Pick<
  NewQuestion,
  "id" | "call" | "agent" | "text" | "options" | "expiresAt" | "approval"
> & {
  via?: readonly string[] | undefined;
  isPassedOn?: true;
  /** As in `TurnQuestion`. */
  asked?: AskedPerson[];
  /** The approvals that it lists; absent: it stands alone. */
  members?: QuestionMember[];
  /** What can be kept with a yes. Absent: nothing. */
  offers?: PermissionOffer[];
};

/** A call is given up this long after its question expired: the device says so itself before. */
export const AFTER_EXPIRY_MS = 15_000;

/** The other ends of a question. They are stored in `answer`, so that it is closed exactly once. */
export const EXPIRED = "(expired)";
export const CLOSED = "(closed)";

/** The answer to an approval that also accepts the texts for which it is asked (`unread`). */
export const ACCEPT = "accept";

/** A question as it is shown to whoever waits for a call that belongs to no conversation. */
export type AskedQuestion = {
  id: string;
  text: string;
  options: string[];
  /** It is a yes or no to exactly one thing, and only somebody with the scope `approve` may answer. */
  approval: boolean;
  expiresAt: number;
};

/**
 * @param reader a principal; absent: several people read it, and each chooses by `card.own`
 * @returns the fields of an approval for a person; only device and gateway need its hash
 */
export function approvalView(
  approval: ShownApproval,
  reader?: string,
): NonNullable<TurnQuestion["approval"]> {
  const { tool, parameters, cwd, reason, unread, card } = approval;
  return {
    tool,
    parameters,
    ...(cwd !== undefined && { cwd }),
    reason,
    ...(unread && { unread }),
    ...(card && { card: reader === undefined ? card : cardFor(card, reader) }),
  };
}

function cardFor({ own, ...card }: ApprovalCard, reader: string): ApprovalCard {
  return own?.principal === reader ? { ...card, asker: own.text } : card;
}

/** Returns the question as a conversation stores it. */
export function turnQuestion({
  approval,
  expiresAt: expires_at,
  isPassedOn: _,
  ...rest
}: QuestionToPerson): TurnQuestion {
  return { ...rest, expires_at, ...(approval && { approval: approvalView(approval) }) };
}

/** Who was asked, for people: each once, as they were first asked. */
export function askedPeople(asked: readonly Reached[]): AskedPerson[] {
  return asked
    .filter(({ name }, at) => asked.findIndex((one) => one.name === name) === at)
    .map(({ name, at, time }) => ({ name, at, time }));
}

/** The approvals that a question lists, for whoever is shown it. They are of calls that a conversation made itself. */
export function listedMembers(members: readonly Question[]): QuestionMember[] {
  return members.map(({ id, call, agent, text }) => ({ id, call, agent, text }));
}

/** `title`: of the conversation, if it is listed. `via`: as above. */
export type OpenQuestion = Question & {
  title?: string;
  via?: readonly string[] | undefined;
  offers?: PermissionOffer[] | undefined;
  plain?: boolean;
};
/** `total`: of all that the caller may see, in this answer or not. */
export type OpenQuestions = { questions: OpenQuestion[]; total: number };

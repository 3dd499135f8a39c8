/**
 * The rows of what people are asked in the middle of a call, and the rules of who may answer. The rules are in this file
 * alone, so that they can be reviewed alone.
 *
 * An approval is for exactly one thing: its hash is over agent, tool, arguments and working directory, and
 * the device checks it again before it runs anything. Only a token with the scope `approve` can give one.
 * No model has such a token, and no tool's argument counts as an approval.
 */

import type {
  AnswerResult,
  AskingStage,
  NewQuestion,
  Question,
  Reached,
  ShownApproval,
} from "../../api/questions.ts";
import { acceptSocket, closeQuietly } from "../../sockets.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";
import { listedParameters } from "./listed.ts";

type QuestionRow = {
  id: string;
  call: string;
  conversation: string;
  agent: string;
  agent_question: string | null;
  text: string;
  options: string;
  approval: string | null;
  asked_at: number;
  expires_at: number;
  told: number;
  answer: string | null;
  answered_by: string | null;
  answered_at: number | null;
  group_key: string | null;
  listed_in: string | null;
  asked: string | null;
  stage: AskingStage;
  ask_more_at: number | null;
  answered_how: string | null;
};

/** Approvals that are being gathered. @property first when the first one was asked, and the last one (epoch ms) */
export type Gathering = { key: string; first: number; last: number };

/** Selects what a person is shown: no approvals that are being gathered, and none that another question lists. */
const IS_SHOWN = "(listed_in = id OR (listed_in IS NULL AND group_key IS NULL))";
const IS_GATHERED = "answer IS NULL AND group_key IS NOT NULL AND listed_in IS NULL";

const KEEP_CLOSED_MS = 48 * 3_600_000;

/** The tag of the sockets of one person's pages. */
const pageTag = (principal: string) => `page:${principal}`;

/** The tag of sockets that get a message when the set of open questions changes. */
const SUBSCRIBERS = "questions";

class Questions extends SqlStore {
  readonly #ctx: DurableObjectState;
  /** The calls of all questions that are open, and of some that were; undefined: not read yet. */
  #asked: Set<string> | undefined;

  constructor(ctx: DurableObjectState) {
    super(ctx.storage);
    this.#ctx = ctx;
  }

  /** A socket that gets "changed" when the set of open questions changes, and nothing more. Home may sleep meanwhile. @param principal whose page it is */
  subscribe(principal: string): Response {
    return acceptSocket(this.#ctx, [SUBSCRIBERS, pageTag(principal)]).response;
  }

  /** True if a page that shows this person the open questions is open. */
  hasPage(principal: string): boolean {
    return this.#ctx.getWebSockets(pageTag(principal)).length > 0;
  }

  #notifySubscribers(): void {
    for (const socket of this.#ctx.getWebSockets(SUBSCRIBERS)) {
      try {
        socket.send("changed");
      } catch {
        closeQuietly(socket, "bye");
      }
    }
  }

  /**
   * @param askMoreAt more people are asked then, epoch ms; undefined: never
   * @returns false when the agent asked this before: it repeats until it is answered
   */
  add(asked: NewQuestion, now: number, askMoreAt: number | undefined): boolean {
    if (asked.agentQuestion !== null && this.#ofAgent(asked.call, asked.agentQuestion)) return false;
    this.sql.insert("INTO question", {
      id: asked.id,
      call: asked.call,
      conversation: asked.conversation,
      agent: asked.agent,
      agent_question: asked.agentQuestion,
      text: asked.text,
      options: JSON.stringify(asked.options),
      approval: asked.approval && JSON.stringify(asked.approval),
      asked_at: now,
      expires_at: asked.expiresAt,
      group_key: asked.groupKey ?? null,
      ask_more_at: askMoreAt ?? null,
    });
    this.#asked?.add(asked.call);
    if (asked.groupKey === undefined) this.#notifySubscribers();
    return true;
  }

  /** The groups that are being gathered. Most times there is none. */
  gathering(): Gathering[] {
    return this.sql.all<Gathering>(`SELECT group_key AS key, MIN(asked_at) AS first, MAX(asked_at) AS last FROM question
         WHERE ${IS_GATHERED} GROUP BY group_key`);
  }

  /** The approvals of a group that nobody was shown yet, the oldest first. */
  ofGroup(key: string): Question[] {
    return this.#select(`WHERE ${IS_GATHERED} AND group_key = ? ORDER BY asked_at`, key);
  }

  /**
   * Shows approvals of a group. One alone is a question like any other.
   * @param listOf makes the question that lists several
   * @returns what a person is shown
   */
  list(
    members: readonly Question[],
    now: number,
    listOf: (members: readonly Question[]) => NewQuestion,
  ): Question {
    const [only] = members;
    const shown = members.length === 1 && only ? only : listOf(members);
    if (shown === only) this.sql.exec("UPDATE question SET group_key = NULL WHERE id = ?", shown.id);
    else {
      // They were asked within a few seconds.
      this.add(shown, now, members.find(({ askMoreAt }) => askMoreAt !== undefined)?.askMoreAt);
      for (const { id } of [...members, shown])
        this.sql.exec("UPDATE question SET listed_in = ? WHERE id = ?", shown.id, id);
    }
    this.#notifySubscribers();
    const [question] = this.#select("WHERE id = ?", shown.id);
    if (!question) throw new Error("the question has no row");
    return question;
  }

  get(id: string): Question | undefined {
    return this.#select("WHERE id = ?", id)[0];
  }

  /** Those that a person is shown. */
  open(): Question[] {
    return this.#select(`WHERE answer IS NULL AND ${IS_SHOWN} ORDER BY asked_at`);
  }

  openOf(call: string): Question[] {
    // Every call that ends is looked for here, and hardly one was asked about.
    this.#asked ??= new Set(
      this.sql
        .all<{ call: string }>("SELECT call FROM question WHERE answer IS NULL")
        .map(({ call }) => call),
    );
    if (!this.#asked.has(call)) return [];
    return this.#select("WHERE call = ? AND answer IS NULL", call);
  }

  /** The number of an agent's own open questions. Those that are asked together are one. */
  openBy(agent: string): number {
    const where = "agent = ? AND agent_question IS NOT NULL AND answer IS NULL";
    const what = "COUNT(DISTINCT COALESCE(listed_in, group_key, id))";
    return this.sql.one<{ n: number }>(`SELECT ${what} AS n FROM question WHERE ${where}`, agent).n;
  }

  /** Whether somebody is asked to approve this tool of a call. */
  asksFor(call: string, tool: unknown): boolean {
    return this.openOf(call).some(({ approval }) => approval?.tool === tool);
  }

  /** The gateway's own about a call that are closed, the oldest first. */
  decisionsOf(call: string): Question[] {
    return this.#select(
      "WHERE call = ? AND agent_question IS NULL AND answer IS NOT NULL ORDER BY asked_at",
      call,
    );
  }

  /** The gateway's own about a call, when it is closed. */
  decidedOf(call: string): Question | undefined {
    return this.#select("WHERE call = ? AND agent_question IS NULL AND answer IS NOT NULL", call)[0];
  }

  /** Approvals of a conversation that a person decided, asked since then (epoch ms), the oldest first. */
  decidedSince(conversation: string, since: number): Question[] {
    const where =
      "WHERE conversation = ? AND asked_at >= ? AND approval IS NOT NULL AND answered_by IS NOT NULL ORDER BY asked_at";
    return this.#select(where, conversation, since);
  }

  /** Open questions that their conversation does not have yet. */
  undelivered(): Question[] {
    return this.#select(`WHERE told = 0 AND answer IS NULL AND ${IS_SHOWN}`);
  }

  setDelivered(id: string): void {
    this.sql.exec("UPDATE question SET told = 1 WHERE id = ?", id);
  }

  /** Takes a person's answer, once. It is the answer to each open one that the question lists. */
  answer(
    id: string,
    answer: string,
    by: { principal: string; mayApprove: boolean; how: string },
    now: number,
  ): AnswerResult {
    const question = this.get(id);
    if (!question) return refuse(404, "not_found", "no such question");
    if (question.answer !== null) {
      const how = question.answeredBy ? `was answered by ${question.answeredBy}` : "is closed";
      return refuse(409, "answered", `the question ${how} already`);
    }
    if (question.expiresAt <= now) return refuse(410, "expired", "the question has expired; nothing was run");
    if (question.approval && !by.mayApprove) {
      return refuse(403, "forbidden", "approving needs a token with the scope 'approve'");
    }
    const allowed = question.approval ? ["approve", "deny"] : question.options;
    if (allowed.length > 0 && !allowed.includes(answer)) {
      return refuse(
        400,
        "invalid_body",
        `answer: expected one of ${allowed.map((one) => `'${one}'`).join(", ")}`,
      );
    }
    const decided = { answer, answeredBy: by.principal, answeredHow: by.how, answeredAt: now };
    // One that ran out of time is closed as that, by the alarm.
    const members = question.members?.filter((one) => one.answer === null && one.expiresAt > now);
    for (const one of [...(members ?? []), question]) this.close(one.id, answer, by.principal, now, by.how);
    const listed = members && { members: members.map((one) => ({ ...one, ...decided })) };
    return { ok: true, question: { ...question, ...decided, ...listed } };
  }

  /**
   * One that a question lists is closed. That question goes with the last one.
   * @returns it, when it is closed now
   */
  closeListing(listedIn: string, how: string, now: number): Question | undefined {
    const listing = this.get(listedIn);
    if (!listing || listing.answer !== null) return undefined;
    if (listing.members?.some(({ answer }) => answer === null)) return undefined;
    this.close(listedIn, how, null, now);
    return listing;
  }

  close(id: string, answer: string, by: string | null, now: number, how: string | null = null): void {
    this.sql.exec`UPDATE question SET answer = ${answer}, answered_by = ${by}, answered_how = ${how},
      answered_at = ${now} WHERE id = ${id} AND answer IS NULL`;
    this.#notifySubscribers();
  }

  /** Deletes closed questions, as long after their end as the calls that they belong to. */
  prune(now: number): void {
    this.sql.exec("DELETE FROM question WHERE answered_at < ?", now - KEEP_CLOSED_MS);
  }

  /** What an agent asked before: it repeats until it has the answer. */
  known(call: string, agentQuestion: string): Question | undefined {
    return this.#ofAgent(call, agentQuestion);
  }

  expired(now: number): Question[] {
    // What lists others goes with the last of them, so it comes last.
    return this.#select(
      "WHERE answer IS NULL AND expires_at <= ? ORDER BY COALESCE(listed_in = id, 0), expires_at",
      now,
    );
  }

  /** Returns when the next one expires, and when more people have to be asked, epoch ms. */
  nextTimes(): { expiry?: number; asking?: number } {
    const { expiry, asking } = this.sql.one<{ expiry: number | null; asking: number | null }>(
      `SELECT MIN(expires_at) AS expiry, MIN(iif(${IS_SHOWN}, ask_more_at, NULL)) AS asking
       FROM question WHERE answer IS NULL`,
    );
    return { ...(expiry !== null && { expiry }), ...(asking !== null && { asking }) };
  }

  /** Those about which more people have to be asked. */
  toAskMore(now: number): Question[] {
    return this.#select(`WHERE answer IS NULL AND ask_more_at <= ? AND ${IS_SHOWN} ORDER BY asked_at`, now);
  }

  /** @param next when more people are asked, epoch ms; undefined: never */
  setAsked(id: string, asked: readonly Reached[], stage: AskingStage, next: number | undefined): void {
    const people = asked.length === 0 ? null : JSON.stringify(asked);
    this.sql.exec`UPDATE question SET asked = ${people}, stage = ${stage}, ask_more_at = ${next ?? null}
      WHERE id = ${id} AND answer IS NULL`;
    this.#notifySubscribers();
  }

  /** Approvals that were denied since, the oldest first. */
  deniedSince(time: number): Question[] {
    return this.#select(
      "WHERE answer = 'deny' AND answered_at > ? AND approval IS NOT NULL ORDER BY answered_at",
      time,
    );
  }

  #ofAgent(call: string, agentQuestion: string): Question | undefined {
    return this.#select("WHERE call = ? AND agent_question = ?", call, agentQuestion)[0];
  }

  #select(where: string, ...bindings: SqlStorageValue[]): Question[] {
    return this.sql
      .all<QuestionRow>(`SELECT * FROM question ${where}`, ...bindings)
      .map((row) =>
        row.listed_in === row.id
          ? withMembers(
              toQuestion(row),
              this.#select("WHERE listed_in = ? AND id <> listed_in ORDER BY asked_at", row.id),
            )
          : toQuestion(row),
      );
  }
}

function refuse(status: 400 | 403 | 404 | 409 | 410, code: string, message: string): AnswerResult {
  return { ok: false, status, code, message };
}

function toQuestion(row: QuestionRow): Question {
  return {
    id: row.id,
    call: row.call,
    conversation: row.conversation,
    agent: row.agent,
    agentQuestion: row.agent_question,
    text: row.text,
    options: JSON.parse(row.options) as string[],
    approval: row.approval === null ? null : (JSON.parse(row.approval) as ShownApproval),
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    told: row.told === 1,
    answer: row.answer,
    answeredBy: row.answered_by,
    answeredHow: row.answered_how,
    answeredAt: row.answered_at,
    groupKey: row.group_key ?? undefined,
    listedIn: row.listed_in,
    ...(row.asked !== null && { asked: JSON.parse(row.asked) as Reached[] }),
    stage: row.stage,
    askMoreAt: row.ask_more_at ?? undefined,
  };
}

/** The members say what is approved; the question that lists them stores nothing of it. */
function withMembers(question: Question, members: Question[]): Question {
  const { approval } = question;
  return {
    ...question,
    approval: approval && { ...approval, parameters: listedParameters(members) },
    members,
  };
}

export const questionsOf = slot(({ ctx }) => new Questions(ctx));

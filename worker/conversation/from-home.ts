/** What Home brings to a conversation: results, late ones too, and what a device asks. A row each; then the driver goes on. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Plan } from "../api/plan.ts";
import type { QuestionToPerson } from "../api/questions.ts";
import { AFTER_EXPIRY_MS } from "../api/questions.ts";
import { logInfo } from "../log.ts";
import type { CallStep } from "./call-step.ts";
import type { ChatDesk } from "./chat/desk.ts";
import type { ModelStep } from "./model-step.ts";
import type { MediaStore } from "./store/media.ts";
import type { Transcript } from "./store/transcript.ts";
import type { TurnTeller } from "./turn-teller.ts";
import { lateNote, shownApproval } from "./turn-words.ts";

export type FromHomeHost = {
  transcript: Transcript;
  media: MediaStore;
  calls: CallStep;
  model: ModelStep;
  chat: ChatDesk;
  tell: TurnTeller;
  /** True in a conversation that its client keeps itself: a turn there does not go on from the one before it. */
  isOneShot(): boolean;
  drive(): void;
};

export class FromHome {
  readonly #host: FromHomeHost;

  constructor(host: FromHomeHost) {
    this.#host = host;
  }

  async settle(callId: string, outcome: Outcome, plan: Plan | undefined): Promise<void> {
    const { media, calls, model } = this.#host;
    const separated = await media.separate(callId, outcome);
    if (!calls.settle(callId, separated.outcome)) return await this.#truth(callId, outcome);
    for (const picture of separated.added) media.add(picture);
    if (plan) model.planned(plan);
    this.#host.drive();
  }

  /** After an answer that says that nothing is known, Home's or (when it could not be reached) our own, it comes late. */
  async #truth(callId: string, outcome: Outcome): Promise<void> {
    const known = this.#host.transcript.call(callId)?.outcome;
    const isUnsure = known?.errorType === "outcome_unknown" || known?.errorType === "timeout";
    if (isUnsure && outcome.errorType !== "outcome_unknown" && outcome.text !== known.text)
      await this.late(callId, callId, outcome, false);
  }

  /** @throws while the call has no answer yet: Home brings it again in a moment */
  async late(callId: string, by: string, outcome: Outcome, isJob: boolean): Promise<void> {
    const { transcript, media, chat } = this.#host;
    const call = transcript.call(callId);
    if (!call) return;
    // It overtook the reply to submit.
    if (!call.outcome) throw new Error("the call has no answer yet that this could come after");
    // A queued call may turn out to begin a job: only the last word sets off a turn.
    const isLast = isJob && outcome.job === undefined;
    const ownTurn = isLast ? (this.#host.isOneShot() ? "apart" : "next") : undefined;
    const separated = await media.separate(by, outcome);
    const note = lateNote(call, separated.outcome);
    if (!transcript.settleLate(callId, by, separated.outcome, note, ownTurn)) return;
    for (const picture of separated.added) media.add(picture);
    const turn = transcript.turnAt(call.turn);
    if (turn) chat.forUser(turn, { ...call, outcome: separated.outcome });
    logInfo("call.late", { call: callId, by });
    const begun = ownTurn ? transcript.turns().at(-1) : undefined;
    if (begun) this.#host.tell.began(begun);
    this.#host.drive();
  }

  ask(asked: QuestionToPerson): void {
    const { transcript, calls, chat, tell } = this.#host;
    const call = transcript.call(asked.call);
    const turn = call && transcript.turnAt(call.turn);
    if (!turn || call.outcome) return;
    const { approval, expiresAt: expires_at, ...rest } = asked;
    const question = { ...rest, expires_at, ...(approval && { approval: shownApproval(approval) }) };
    if (!transcript.questions.add(question, turn.n)) return;
    calls.extend(call.id, expires_at + AFTER_EXPIRY_MS);
    tell.newest(turn);
    chat.asked(turn, asked.id);
    this.#host.drive();
  }

  closeQuestion(id: string, answer: string, by: string | null): void {
    const { transcript, chat, tell } = this.#host;
    const n = transcript.questions.close(id, answer, by);
    const turn = n === undefined ? undefined : transcript.turnAt(n);
    if (!turn) return;
    tell.newest(turn);
    chat.closed(turn, id);
  }
}

/** The methods of a conversation's object that the rest of the Worker calls. A feature has its own (`topicIn`). */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { AskedPerson, TurnQuestion, TurnResult } from "./answers.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "./backup.ts";
import type { Briefing } from "./briefing.ts";
import type { BroughtFiles, KeptFile } from "./files.ts";
import type { MediaContent, NewMedia } from "./media.ts";
import type { Handed, Notice, PressedButton } from "./notices.ts";
import type { QuestionToPerson } from "./questions.ts";
import type { StartRule } from "./start-turn.ts";
import type { CallProgress } from "./turn-events.ts";
import type { HistoryPage, HistoryPlace, NewTurn, TurnInput } from "./turns.ts";

export interface ConversationApi {
  /**
   * Accepts a turn, or recognises a repeat by its idempotency key. Durable when it returns.
   * @param withinMs waits so long for its end, while nothing but models and calls of less than a second take its time. An object of 0.3
   *   does not wait
   * @returns undefined: the rule does not take it, and nothing was accepted
   */
  start(request: NewTurn, rule: StartRule, withinMs?: number): Promise<TurnResult | undefined>;
  /** The client of a `start` that waits has hung up: it returns now. @param request the turn's id in it */
  letGo(request: string): Promise<void>;
  /** The turn that a client lost, for its second try of the same request; undefined: it asks anew. */
  adopt(request: string, principal: string): Promise<string | undefined>;
  /** The client of a turn hung up: nobody wants the answer any more, unless its second try is here already. */
  leave(turnId: string): Promise<void>;
  /** A question of this conversation, and who began the turn that it belongs to. */
  asked(question: string): Promise<{ question: TurnQuestion; principal: string } | undefined>;
  /**
   * The result of a call, from Home. The first one counts.
   * @param rosterVersion Home's at this moment: while it is that of the turn's plan, Home need not be asked again
   */
  settle(callId: string, outcome: Outcome, rosterVersion?: number): Promise<void>;
  /** A result that comes after the call was answered: a job's, a queued call's, or one that was given up. */
  late(callId: string, by: string, outcome: Outcome, isJob: boolean): Promise<void>;
  /**
   * A turn that one of this conversation's calls began in a session has ended. A repeat is recognised by the turn's id.
   * @param outcome what the model gets
   * @returns false: a device began it in the middle of this call, which is open, and may take the outcome itself. Tell it again later
   */
  sessionEnded(callId: string, turnId: string, outcome: Outcome): Promise<boolean>;
  /** Takes what a rule says, once for each id. Durable when it returns. */
  notice(notice: Notice): Promise<Handed>;
  /**
   * Whether something may be said here unasked.
   * @param by who has to have written here; null: anybody
   * @returns undefined: that person has not
   */
  canTell(by: string | null): Promise<Handed | undefined>;
  /** Begins a turn that a rule asks for, once for each id. It only reads. */
  brief(briefing: Briefing): Promise<Handed>;
  /**
   * A button of a rule was pressed: it goes.
   * @param words what came of it, for everybody here
   * @returns false: no message here has such a button
   */
  pressed(press: PressedButton, words: string): Promise<boolean>;
  /** A device (or the gateway, for it) asks the person something in the middle of a call. */
  ask(asked: QuestionToPerson): Promise<void>;
  /** More people were asked to decide a question here. @param all of them @param since who were asked now */
  askedMore(id: string, all: AskedPerson[], since: AskedPerson[]): Promise<void>;
  /** Whether a person waits for this call at the moment: a client is there, or it is a chat in which they have just written. */
  isAwaited(call: string): Promise<boolean>;
  /** An approval that another person's call needs, for the one here, who may decide it. The same again is the same question. */
  decide(asked: QuestionToPerson): Promise<Handed>;
  /**
   * A call waits for a person, who is asked a little later, together with what else its reply asks for.
   * @param until epoch ms; the call is not over before
   */
  waits(call: string, until: number): Promise<void>;
  /** It was answered, or nobody needs to any more. */
  closeQuestion(id: string, answer: string, by: string | null, name?: string, how?: string): Promise<void>;
  /**
   * Output of a device as it comes, for whoever watches. Never a row.
   * @param note words beside the call's line in a chat; "": none any more
   */
  progress(progress: CallProgress, note?: string): Promise<void>;
  /** A device has a call and works on it. For whoever watches; never a row. */
  accepted(call: string, at: number): Promise<void>;
  /** A turn as it stands, or undefined. */
  look(turnId: string): Promise<TurnResult | undefined>;
  /** The same of a turn whose client may fetch it: not of one that was asked for with `store: false`. */
  lookStored(turnId: string): Promise<TurnResult | undefined>;
  /** Such turns as they stand, without the words that devices sent, each in the place of its id. */
  answersOf(turnIds: readonly string[]): Promise<Array<TurnResult | undefined>>;
  /** What the client of such a turn sent. */
  inputOf(turnId: string): Promise<TurnInput[] | undefined>;
  /**
   * A turn as it stands, for a client that waits no longer: `waiting` and `meanwhile` say what a running turn waits for.
   * @param origin the gateway's address, for links
   * @param ends a sentence below the words. With it, the client gets these words in place of the answer, which then comes with the
   *   next message
   */
  meanwhile(turnId: string, origin: string, ends?: string): Promise<TurnResult | undefined>;
  /** The principal that began it, for `maySee`; undefined: nothing is here. */
  belongs(): Promise<{ principal: string | undefined } | undefined>;
  /** A page of the turns with what was said in them. */
  history(place: HistoryPlace): Promise<HistoryPage>;
  /** Ends a turn; what was done so far stays said. Undefined when there is no such turn. */
  cancel(turnId: string): Promise<TurnResult | undefined>;
  /**
   * Keeps what a device uploads.
   * @param principal who made the call that it belongs to: where no turn says it, this does
   * @returns false when something else is kept under this id
   */
  keep(media: NewMedia, principal?: string): Promise<boolean>;
  /** Keeps the pictures of a call that belongs to no turn. @returns those of its files that are here, pictures and uploads */
  keepBrought(brought: BroughtFiles): Promise<KeptFile[]>;
  /** A picture or file of this conversation; undefined when it is not kept (any more). */
  media(id: string): Promise<MediaContent | undefined>;
  /** Forgets everything, with the sessions that it began; asked again, also what its home listed meanwhile. @param isParents the conversation that began it is forgotten, and is not told */
  forget(isParents?: boolean): Promise<void>;
  backup(from: BackupPlace | undefined): Promise<BackupPage>;
  restore(step: RestoreStep): Promise<void>;
  /**
   * `/start`: `start` and `/attach` in one, for a client that wants the events; 409: the rule does not take the turn. `/attach?turn=…&after=seq`: the Worker's waiting room. `/follow`: all turns, those to come too; it stores nothing, and
   * lets the object sleep.
   */
  fetch(request: Request): Promise<Response>;
}

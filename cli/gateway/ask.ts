/** `edgecall ask` asks a question, shows the answer as it comes, and answers questions of devices. */
import { text as readAll } from "node:stream/consumers";
import { messageOf } from "@edgecall/node/log.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { askPerson, sentenceOf } from "./ask-person.ts";
import { readConnection } from "./connection.ts";
import { Gateway, GatewayError } from "./gateway.ts";
import { type Paint, paintFor } from "./paint.ts";
import { printableLine } from "./printable.ts";
import { type Question, Turn } from "./shapes.ts";
import { turnEvents } from "./turn-events.ts";
import { TurnView } from "./turn-view.ts";

/** A cancelled turn ends at once, unless the gateway is away. */
const CANCEL_WITHIN_MS = 10_000;

/** Exit code 0: the turn is done; 130: it was cancelled. */
export async function ask(call: CommandCall): Promise<number> {
  const { io, env } = call;
  const text = await questionText(call.positionals);
  const gateway = new Gateway(readConnection(env));
  const asking: Asking = {
    gateway,
    conversation: call.text("conversation") ?? `cli-${crypto.randomUUID()}`,
    view: new TurnView({
      io,
      streams: io.terminal && !call.flag("json"),
      tells: io.watched || call.flag("verbose"),
      paint: paintFor(io.watched, env),
    }),
    person: io.person,
    waits: io.person || !call.flag("no-wait"),
    paint: paintFor(io.watched, env),
  };
  const model = call.text("model");
  const turn = await follow(asking, { text, ...(model !== undefined && { model }) });
  if (turn === "gone") return EXIT.cancelled;
  if (call.flag("json")) io.out(`${JSON.stringify(turn)}\n`);
  else if (asking.nobody) asking.view.say(`edgecall ask: ${nobodyText(asking.nobody)}`);
  else asking.view.finish(turn);
  if (asking.nobody) return EXIT.failed;
  if (turn.status === "cancelled") return EXIT.cancelled;
  return turn.status === "done" ? EXIT.ok : EXIT.failed;
}

type Asking = {
  gateway: Gateway;
  conversation: string;
  view: TurnView;
  /** True if a person can be asked here. */
  person: boolean;
  /** False: a question to a person ends the turn. */
  waits: boolean;
  /** The question that ended it. */
  nobody?: Question;
  paint: Paint;
};

function nobodyText({ agent, text, approval }: Question): string {
  const why = "but there is no terminal here to ask in. The question was cancelled.";
  if (!approval)
    return `${printableLine(agent, 64)} asks "${printableLine(text, 200)}", ${why} Ask again in a terminal or in the console.`;
  return (
    `"${sentenceOf(text)}" waits for your approval, ${why} ` +
    "Nothing was run. To approve it, ask again in a terminal or in the console; " +
    "to allow it always, set a rule in [policy] of the device's agent.toml."
  );
}

/** The question: the words of the command line, or piped text (`edgecall ask < file`, `… | edgecall ask -`). */
async function questionText(words: readonly string[]): Promise<string> {
  const piped = words.length === 0 ? process.stdin.isTTY !== true : words.length === 1 && words[0] === "-";
  const text = (piped ? await readAll(process.stdin) : words.join(" ")).trim();
  if (text === "")
    throw new UsageError('a question is missing, e.g. edgecall ask "Which Pi is the warmest?"');
  return text;
}

/** @returns the turn at its end; "gone": given up before the gateway had begun it, or at the second Ctrl-C */
async function follow(asking: Asking, message: { text: string; model?: string }): Promise<Turn | "gone"> {
  const giveUp = new AbortController();
  const ended = new AbortController();
  let turn: string | undefined;
  let interrupted = false;
  const onInterrupt = () => {
    if (interrupted || turn === undefined) return giveUp.abort(new Error("given up"));
    interrupted = true;
    asking.view.say(asking.paint("dim", "cancelling; Ctrl-C once more leaves at once"));
    // The turn's end comes as an event.
    void cancel(asking, turn).catch((error: unknown) => giveUp.abort(error));
  };
  /** @returns true if the question ends the turn */
  const unanswered = (question: Question): boolean => {
    if (asking.waits || turn === undefined || question.answer !== undefined) return false;
    if (asking.nobody === undefined) void cancel(asking, turn).catch((error: unknown) => giveUp.abort(error));
    asking.nobody ??= question;
    return true;
  };
  const questions = new TerminalQuestions(asking, ended.signal, onInterrupt);
  process.on("SIGINT", onInterrupt);
  try {
    for await (const event of turnEvents(asking.gateway, asking.conversation, message, giveUp.signal)) {
      if (event.event === "turn") turn = event.turn;
      if (event.event === "question" && !unanswered(event.question)) questions.note(event.question);
      if (event.event === "done") return event.turn;
      asking.view.show(event);
    }
    throw new Error("the gateway told no end of it");
  } catch (error) {
    if (!giveUp.signal.aborted) throw error;
    if (error instanceof GatewayError) throw error;
    return "gone";
  } finally {
    process.off("SIGINT", onInterrupt);
    ended.abort();
  }
}

function cancel({ gateway, conversation }: Asking, turn: string): Promise<Turn> {
  return gateway.json(Turn, "POST /v1/conversations/{id}/turns/{turn}/cancel", {
    path: { id: conversation, turn },
    withinMs: CANCEL_WITHIN_MS,
  });
}

/** The questions of this turn. They are asked one after another, unless somebody else has already answered. */
class TerminalQuestions {
  readonly #asking: Asking;
  readonly #ended: AbortSignal;
  readonly #onInterrupt: () => void;
  readonly #open = new Map<string, AbortController>();
  #last: Promise<void> = Promise.resolve();

  constructor(asking: Asking, ended: AbortSignal, onInterrupt: () => void) {
    this.#asking = asking;
    this.#ended = ended;
    this.#onInterrupt = onInterrupt;
  }

  note(question: Question): void {
    const { view, person } = this.#asking;
    if (question.answer !== undefined) {
      this.#open.get(question.id)?.abort();
      return;
    }
    // It comes again when more people were asked.
    if (this.#open.has(question.id)) return;
    const answered = new AbortController();
    this.#open.set(question.id, answered);
    if (!person) {
      const what = question.approval
        ? sentenceOf(question.text)
        : `${printableLine(question.agent, 64)} asks ${printableLine(question.text, 200)}:`;
      view.say(`${what} waiting for an answer over the console or a chat`);
      return;
    }
    const signal = AbortSignal.any([answered.signal, this.#ended]);
    this.#last = this.#last.then(() => this.#put(question, signal));
  }

  async #put(question: Question, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { gateway, view, paint } = this.#asking;
    const terminal = {
      input: process.stdin,
      output: process.stderr,
      paint,
      onInterrupt: this.#onInterrupt,
    };
    const answer = await askPerson(question, terminal, signal);
    if (answer === undefined) return;
    try {
      await gateway.text("POST /v1/questions/{id}", {
        path: { id: question.id },
        body: { answer },
        signal: this.#ended,
      });
    } catch (error) {
      if (!this.#ended.aborted) view.say(`not answered: ${messageOf(error)}`);
    }
  }
}

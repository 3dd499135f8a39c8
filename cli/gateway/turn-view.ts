/** Shows a turn at a terminal: the text as it comes, and a line for each call. */

import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { failedWithin } from "@edgecall/core/text/failed-within.ts";
import type { Io } from "../command.ts";
import type { Paint } from "./paint.ts";
import { printable, printableLine } from "./printable.ts";
import type { Call, Turn } from "./shapes.ts";
import { took } from "./times.ts";
import type { TurnEvent } from "./turn-events.ts";

export type TurnViewOptions = {
  io: Io;
  /** True: show the answer's text as it comes. False: show it when it is complete. */
  streams: boolean;
  /** True: show a line for each call. */
  tells: boolean;
  /** Colours for `err`. */
  paint: Paint;
};

export class TurnView {
  readonly #o: TurnViewOptions;
  /** Text of the step that is being shown. */
  #shown = "";
  /** Some text of this step did not come, so the shown text is incomplete. */
  #gap = false;
  /** The cursor is behind a text without a line break. */
  #inLine = false;

  constructor(options: TurnViewOptions) {
    this.#o = options;
  }

  show(event: TurnEvent): void {
    switch (event.event) {
      case "delta":
        this.#delta(event.text, event.at);
        break;
      case "reset":
        this.#reset();
        break;
      case "message":
        this.#endStep();
        for (const call of event.calls)
          if (call.same_as === undefined) this.#print("dim", `→ ${callText(call)}`);
        break;
      case "call":
        if (event.call.same_as === undefined) this.#call(event.call);
        break;
      case "waiting": {
        const seconds = Math.max(1, Math.round((event.until - Date.now()) / 1_000));
        this.#print("dim", `  waits ${seconds} s: ${printableLine(event.text, 200)}`);
        break;
      }
      case "progress":
        this.#print("dim", `  ${printableLine(event.text, 200)}`);
        break;
      default:
        break;
    }
  }

  /** Shows the answer, unless it is already shown. Problems go to `err`. */
  finish(turn: Turn): void {
    const answer = printable(turn.answer ?? "").trim();
    const stands = !this.#gap && this.#shown.trim() === answer && answer !== "";
    this.#endStep();
    if (turn.status === "done" && !stands) this.#o.io.out(`${this.#o.io.terminal ? answer : turn.answer}\n`);
    // The gateway's own words of what was made, which no model writes.
    for (const { text } of turn.rules ?? []) if (text !== undefined) this.#o.io.out(`${printable(text)}\n`);
    for (const notice of turn.notices ?? []) this.say(`note: ${printableLine(notice)}`);
    if (turn.status === "done") return;
    this.say(`edgecall ask: ${answer || `the turn ended as ${turn.status}`}`);
  }

  /** Shows a message on a line of its own. */
  say(text: string): void {
    this.#endLine();
    this.#o.io.err(`${text}\n`);
  }

  #delta(text: string, at: number): void {
    if (!this.#o.streams) return;
    if (at !== this.#shown.length) this.#gap = true;
    this.#shown += text;
    const shown = printable(text);
    if (shown === "") return;
    this.#o.io.out(shown);
    this.#inLine = !shown.endsWith("\n");
  }

  #call(call: Call): void {
    // A device may answer although a call that it made for the answer was denied, or failed.
    const inner = failedWithin(call.calls);
    const fine = call.status === "success" && inner === undefined;
    // 0 means that the gateway ended the call itself, so there is no time from a device.
    const time = call.elapsed_ms ? `  ${took(call.elapsed_ms)}` : "";
    const outcome = fine
      ? "success"
      : inner !== undefined
        ? `answered, and ${inner}`
        : (call.error_type ?? "error");
    const waited = call.waited_ms ? ` (and ${took(call.waited_ms)} of waiting)` : "";
    const why = fine || call.error === undefined ? "" : `  ${printableLine(call.error, 200)}`;
    if (call.asked === false) this.#print("dim", `– ${callText(call)}  ${NO_TOOL_CALLED}${time}${waited}`);
    else
      this.#print(
        fine ? "green" : "red",
        `${fine ? "✓" : "✗"} ${callText(call)}  ${outcome}${time}${waited}${why}`,
      );
    if (call.for_user !== undefined) this.#print("dim", printable(call.for_user).trimEnd());
  }

  #reset(): void {
    if (this.#shown !== "") this.#print("dim", "… again:");
    this.#shown = "";
    this.#gap = false;
  }

  #endStep(): void {
    this.#endLine();
    this.#shown = "";
    this.#gap = false;
  }

  #endLine(): void {
    if (this.#inLine) this.#o.io.out("\n");
    this.#inLine = false;
  }

  #print(style: "dim" | "green" | "red", text: string): void {
    if (this.#o.tells) this.say(this.#o.paint(style, text));
  }
}

/** "pi-1 temperature", "pi-1 \"how warm is it?\"", or a tool of the gateway's own. */
function callText({ name, agent, action, query }: Call): string {
  const what = action ?? (query === undefined ? name : `"${query}"`);
  return printableLine(agent === undefined ? name : `${agent} ${what}`, 120);
}

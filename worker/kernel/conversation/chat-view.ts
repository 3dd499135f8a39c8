/** What a chat app shows of the conversation that takes place in it. The feature for chat apps makes it. */
import type { AskedPerson } from "../api/answers.ts";
import type { PressedButton } from "../api/notices.ts";
import type { Address } from "../api/turns.ts";
import type { StoredCall, Turn } from "./store/rows.ts";

export interface ChatView {
  /** Sends what was left unsent by an object that was replaced. */
  wake(): void;
  /** Fetches what the messages of a turn came with, before the model is asked. @returns false when there was nothing */
  fetch(turn: Turn): Promise<boolean>;
  asked(turn: Turn, question: string): void;
  /** More people were asked to decide. */
  askedMore(turn: Turn, people: readonly AskedPerson[]): void;
  closed(turn: Turn, question: string): void;
  /** The model has asked for calls, or one of them was answered. */
  progress(turn: Turn): void;
  /** Words about a call that has no outcome yet; "": none any more. */
  note(call: string, words: string): void;
  /** Sends a call's text for the person as a message of its own; the model reads another one. */
  forUser(turn: Turn, call: StoredCall): void;
  /** Sends what a rule says, with the buttons that its turn or call has. @param id of the notice's turn, or of the call that made the rule */
  notify(turn: Turn, text: string, id: string): void;
  /** The model's words as they come. @param at how many characters of its step came before; 0 makes those before void */
  delta(turn: Turn, text: string, at: number): void;
  /** The turn has ended; its row stands. */
  ended(turn: Turn): void;
  /** A button of a rule was pressed: it goes. @param words what came of it @returns false: no message has such a button */
  pressed(press: PressedButton, words: string): boolean;
  /**
   * Where something may be said without a question.
   * @param last where the person who wrote last was answered; undefined: nobody has written yet
   */
  unsolicitedPlace(last: Address | undefined): Promise<{ place: Address } | { refused: string }>;
}

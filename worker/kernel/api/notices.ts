/** What a home tells people unasked, and the buttons below it. */
import type { Source } from "@edgecall/core/loop/taint.ts";
import type { MessageKey } from "@edgecall/core/phrases/languages/phrase-data.ts";
import type { Said } from "@edgecall/core/phrases/said-text.ts";

/**
 * @property occurrence names the firing; 0: none @property do `stop` removes a watch or reminder, and pauses a rule that acts; `undo`
 *   takes back what a run of that did
 */
export type RuleButton = {
  label: string;
  do: "ack" | "snooze" | "stop" | "undo";
  rule: string;
  occurrence: number;
};

/** A button as it was pressed. */
export type PressedButton = Omit<RuleButton, "label">;

/**
 * A question that a notice is about. @property answers buttons; none where it has to be opened @property kind in place of the text
 * where a lock screen shows no words @property isOver it needs no answer any more: the notification goes
 */
export type NoticeQuestion = {
  id: string;
  answers: Array<{ label: string; answer: string }>;
  kind: string;
  expiresAt: number;
  isOver?: true;
};

/** What rules say to one conversation. The same id again is the same notice. `at`: epoch ms. */
export type Notice = {
  id: string;
  text: string;
  /** Ids of the rules that it is about. */
  rules: string[];
  buttons: RuleButton[];
  critical: boolean;
  at: number;
  /** The same text, and the buttons' labels, for each reader in their own language. */
  said?: { parts: Said[]; labels: MessageKey[]; zone: string };
  /** Only browsers and topics are sent one. */
  question?: NoticeQuestion;
  /** Whose words may be in the text. Absent: nobody's. */
  sources?: Source[];
  /** Recipients in place of one that takes nothing, in their order. Only Home reads it. */
  next?: string[];
};

/** A conversation had a notice, and its chat app refuses it for good. @property why for people */
export type LostNotice = { conversation: string; notice: Notice; why: string };

/** @property why in words: nobody can be told there, and a repetition would not help */
export type Handed = { accepted: true } | { accepted: false; why: string };

/** A person answers a firing, or ends a rule. @property minutes of `snooze` @property privateChat as in `Origin` */
export type RulePress = {
  do: RuleButton["do"];
  rule: string;
  occurrence?: number;
  minutes?: number;
  by: {
    principal: string;
    /** As the person's chat app calls them. */
    displayName?: string;
    role: "owner" | "member" | "guest";
    conversation?: string;
    privateChat?: string | undefined;
  };
};

/** @property done false: this person may not, and nothing changed @property text for people */
export type Pressed = { done: boolean; text: string };

/** Where a person is told what rules say and what waits for their yes or no, beside the conversation: browsers (Web Push) and topics of ntfy. */
import type { Language } from "@edgecall/core/text/languages.ts";
import type { RuleButton } from "../../kernel/api/notices.ts";

/** Of a browser's subscription, base64url. @property p256dh its public key, 65 bytes @property auth 16 bytes */
export type PushKeys = { p256dh: string; auth: string };

/** @property endpoint of the browser's push service */
export type BrowserTarget = { kind: "browser"; endpoint: string; keys: PushKeys };
/** @property server its origin @property token an access token of the server */
export type NtfyTarget = { kind: "ntfy"; server: string; topic: string; token?: string };

/**
 * @property principal whose rules are told there @property token the id of the token that a home made, by which the person signed in
 * @property origin where this person reaches the gateway @property language of the page where it was turned on; null: not known
 */
export type NewSubscription = {
  principal: string;
  token: string | null;
  origin: string;
  name: string;
  language: Language | null;
  target: BrowserTarget | NtfyTarget;
};

/** What a lock screen shows: everything, or that there is something. */
export type ShownWords = "all" | "kind";

/** @property name of the browser, or the topic's address @property problem why the newest message was not taken */
export type SubscriptionView = {
  id: string;
  kind: "browser" | "ntfy";
  name: string;
  words: ShownWords;
  made_at: number;
  problem: string | null;
};

/** @property public_key with which browsers subscribe */
export type PushView = { public_key: string; outlets: SubscriptionView[] };

/** What a button's link does: it answers a firing of a rule, or a question. */
type LinkedPress = Omit<RuleButton, "label"> | LinkedAnswer;

export type LinkedAnswer = { question: string; answer: string };

/** @property outlet where the message went: the link ends with it */
export type NewPress = LinkedPress & { home: string; outlet: string };

/** Of a button's link. @property until epoch ms @property once the link's own id */
export type PressClaims = NewPress & { until: number; once: string };

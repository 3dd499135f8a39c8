/** What people do with rules in the chats of the fake platforms, and rows of Home that are set back. */
import type { DatabaseSync } from "node:sqlite";
import type { DeliveryRecord } from "@edgecall/core/rules/delivery.ts";
import type { Person, SentMessage } from "../platforms/people.ts";
import type { ChatMessage } from "../platforms/server.ts";
import { waitForMessage } from "../platforms/waiting.ts";
import type { Step } from "../scripted-model.ts";
import type { Stack } from "./stack.ts";
import { changeRows } from "./stored-rows.ts";

/** An agent checks a reading each minute, a watch is over when it was so for a minute, and its message may wait for 30 s. */
export const CHECKED_MS = 200_000;

/** The model's call of a tool. */
export const tool = (name: string, args: object): Step => ({ calls: [{ name, arguments: args }] });

/** The data of a message's button. */
export function button(message: ChatMessage, label: string): string {
  const found = message.buttons.find((one) => one.label === label);
  if (!found) throw new Error(`no button ${label} below: ${message.text}`);
  return found.data;
}

/** Waits for a message with these words, and a button with this label. */
export function messageWith(
  sent: SentMessage,
  text: string,
  label: string,
  within?: number,
): Promise<ChatMessage> {
  const fits = (message: ChatMessage) =>
    shown(message).includes(text) && message.buttons.some((one) => one.label === label);
  return waitForMessage(sent, fits, `'${text}' with the button ${label}`, within);
}

/** Waits until the buttons are gone and the words of what came of it are there. WhatsApp and a webhook cannot change a message. */
export async function isAnswered(person: Person, sent: SentMessage, asked: ChatMessage, words: RegExp) {
  const isFixed = person.channel === "whatsapp" || person.channel === "generic";
  const fits = ({ id, text, buttons }: ChatMessage) =>
    words.test(text) && (isFixed || (id === asked.id && buttons.length === 0));
  await waitForMessage(sent, fits, `${words} and no buttons, on ${person.channel}`);
}

/** A message as it is read: without the unseen characters that keep names from being links. */
export function shown({ text }: Pick<ChatMessage, "text">): string {
  return text.replaceAll("\u2060", "");
}

/** How many messages of a chat have these words. */
export function count(sent: SentMessage, words: string): number {
  return sent.messages().filter((message) => shown(message).includes(words)).length;
}

type ListedRule = { id: string; name: string };

export async function rulesOf(stack: Stack): Promise<ListedRule[]> {
  const { rules } = (await (await stack.gateway.fetch("/v1/rules")).json()) as { rules: ListedRule[] };
  return rules;
}

/** Deletes all rules, so that a file's next test is told of its own alone. */
export async function forgetRules(stack: Stack): Promise<void> {
  for (const { id } of await rulesOf(stack))
    await stack.gateway.fetch(`/v1/rules/${id}`, { method: "DELETE" });
}

type StoredRule = { id: string; rule: { name?: string; text?: string }; record: DeliveryRecord };

/**
 * Sets times of rules back, in Home's rows, while the gateway is down: to Home it is as if so much time had passed without
 * the gateway. What is due is then told when it starts.
 */
export async function setBack(stack: Stack, change: (rule: StoredRule, home: DatabaseSync) => void) {
  await stack.worker.stop();
  changeRows(stack.gatewayDir, "rule", (home) => {
    for (const { id, rule, record } of home.prepare("SELECT id, rule, record FROM rule").all())
      change({ id: String(id), rule: JSON.parse(String(rule)), record: JSON.parse(String(record)) }, home);
  });
  await stack.startWorker();
}

/** A watch was told so long ago, and is due now. */
export function toldBefore(ms: number, { id, record }: StoredRule, home: DatabaseSync): void {
  const { told } = record;
  if (!told) throw new Error(`${id} was not told`);
  const back = {
    ...record,
    told: { ...told, at: told.at - ms, last_at: told.last_at - ms },
    ...(record.snoozed_until !== undefined && { snoozed_until: record.snoozed_until - ms }),
  };
  home
    .prepare("UPDATE rule SET record = ?, due = ? WHERE id = ?")
    .run(JSON.stringify(back), Date.now() - 1, id);
}

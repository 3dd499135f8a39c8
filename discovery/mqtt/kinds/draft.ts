/** Collects the parts of an entity from its config. Each kind's file says which ones it has. */

import { utf8 } from "@edgecall/core/encoding.ts";
import { IS_SETTING } from "@edgecall/core/protocol/devices.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { EntityDraft, type Setting, type Written } from "../../model/entity/draft.ts";
import type { SlotValue } from "../../model/entity/entity.ts";
import { harmless } from "../../model/names.ts";
import type { Component } from "../config/components.ts";
import { type Config, flagField, numberField, textField } from "../config/fields.ts";
import type { MqttEntity, Slot } from "../entity/entity.ts";
import { payloadWriter, type Variables, valueReader, type WritePayload } from "../states/templates.ts";
import { type Prefixes, refusedCommandTopic, refusedStateTopic } from "../topics/topics.ts";
import { coveredKeys } from "../trust/allow-hash.ts";
import { coveredBy03 } from "../trust/allow-hash-0-3.ts";
import { availabilityOf } from "./availability.ts";

/** A topic that takes commands, with what writes their payloads. */
export type Output = { topic: string; write: WritePayload };

const NAME_MAX = 60;
const CLASS = /^[a-z0-9_]{1,40}$/;
/** Characters of a text that is kept. Fewer are shown, and no command has as many. */
const TEXT_MAX = 1_000;

export class MqttDraft extends EntityDraft {
  readonly kind: string;
  readonly config: Config;
  readonly slots: Slot[] = [];
  /** Names that its command templates read. */
  readonly variables: Record<string, unknown> = {};
  readonly class: string | undefined;
  /** Nothing is ever confirmed: the publisher says that it does not report. */
  readonly optimistic: boolean;
  /** It brings a picture. */
  hasPicture = false;
  readonly #component: Component;
  readonly #prefixes: Prefixes;
  readonly #name: string | undefined;
  /** The entity as its templates see it: `this.state` is its state before the message. Commands do not see it. */
  readonly #this: { main?: string; state: string; name: string; entity_id: string; attributes: Config };

  constructor(component: Component, prefixes: Prefixes) {
    super();
    this.kind = component.kind;
    this.config = component.config;
    this.#component = component;
    this.#prefixes = prefixes;
    // A trigger has no name of its own, and is never what a device is.
    const trigger = [this.text("subtype"), this.text("type")].filter((one) => one !== undefined).join(" ");
    const own =
      this.text("name") ?? (this.kind === "device_automation" ? trigger.replaceAll("_", " ") : undefined);
    const name = [component.device.part, own].filter((one) => one !== undefined).join(" ");
    this.#name = harmless(name, NAME_MAX) || undefined;
    const deviceClass = textField(this.config, "device_class")?.toLowerCase();
    this.class = deviceClass !== undefined && CLASS.test(deviceClass) ? deviceClass : undefined;
    this.optimistic = flagField(this.config, "optimistic", false);
    const { name: title, entity_id } = this.#names();
    const attributes = { friendly_name: title };
    this.#this = { state: "unknown", name: String(title), entity_id: String(entity_id), attributes };
  }

  /** The entity's name for people. */
  get title(): string {
    return this.#name ?? this.class?.replaceAll("_", " ") ?? this.kind.replaceAll("_", " ");
  }

  text(key: string): string | undefined {
    return textField(this.config, key);
  }

  has(key: string): boolean {
    return this.text(key) !== undefined;
  }

  /**
   * A value that a topic brings.
   * @param templates keys of its template; the first that is there counts
   * @returns false where the config has no such topic
   */
  slot(
    name: string,
    topicKey: string,
    templates: readonly string[],
    parse: (text: string) => SlotValue | undefined,
    more: Partial<Slot> & { variables?: Variables } = {},
  ): boolean {
    const { variables, ...rest } = more;
    const template = templates.map((key) => this.text(key)).find((one) => one !== undefined);
    const self = this.#this;
    const { read, problem } = valueReader(template, { ...this.#names(), this: self, ...variables });
    self.main ??= name;
    const isSlot = this.slotOf(
      name,
      topicKey,
      (message) => {
        const text = read(message);
        if (typeof text !== "string") return text;
        const value = shortText(parse(text));
        if (self.main === name && value !== undefined) self.state = stateText(value, text);
        return value;
      },
      problem === undefined ? rest : { ...rest, unreadable: true },
    );
    if (isSlot && problem !== undefined) this.leave(name, `it is not readable. ${problem}`);
    return isSlot;
  }

  /** The same for a value that is read without a template. */
  slotOf(name: string, topicKey: string, read: Slot["read"], more: Partial<Slot> = {}): boolean {
    const topic = this.text(topicKey);
    if (topic === undefined) return false;
    const refused = refusedStateTopic(topic, this.#prefixes.ownPrefix);
    if (refused !== undefined) {
      this.leave(name, `nothing is read from its ${topicKey}: ${refused}`, { unread: true });
      return false;
    }
    for (const one of [topic, ...(this.#component.also ?? [])])
      if (refusedStateTopic(one, this.#prefixes.ownPrefix) === undefined)
        this.slots.push({ name, topic: one, read, ...more });
    return true;
  }

  /** @returns undefined where the config has no such topic, or nothing may be sent there; then it says why */
  output(topicKey: string, templateKey?: string): Output | undefined {
    const topic = this.text(topicKey);
    if (topic === undefined) return undefined;
    const refused = refusedCommandTopic(topic, this.#prefixes);
    if (refused !== undefined) {
      this.leave("", `nothing is sent to its ${topicKey}: ${refused}`);
      return undefined;
    }
    const template = templateKey === undefined ? undefined : this.text(templateKey);
    // A template gets the names alone that it mentions: what it gets is covered by an allowance.
    const names = Object.entries(this.#names()).filter(([name]) => template?.includes(name));
    const writer = payloadWriter(template, Object.fromEntries(names));
    Object.assign(this.variables, Object.fromEntries(names));
    if (writer.ok) return { topic, write: writer.write };
    this.leave("", `its ${templateKey} cannot be used. ${writer.problem}`);
    return undefined;
  }

  reports(slot: string): boolean {
    return !this.optimistic && this.slots.some((one) => one.name === slot && !one.unreadable && !one.live);
  }

  /** @see EntityDraft.addSimple */
  simple(
    action: string,
    description: string,
    send: () => Written[],
    output: Output,
    more: Parameters<EntityDraft["addSimple"]>[4],
  ): void {
    this.addSimple(action, description, send, topicsOf([output]), more);
  }

  /** @see EntityDraft.addSettings */
  settings(
    description: string,
    settings: readonly (Setting | undefined)[],
    outputs: readonly (Output | undefined)[],
  ): void {
    this.addSettings(description, settings, topicsOf(outputs));
  }

  finish(): MqttEntity {
    const { config, kind } = this;
    const variables = Object.keys(this.variables).length > 0 ? this.variables : undefined;
    const wholeName = this.text("name");
    const qos = numberField(config, "qos", 0);
    const { refused, ...availability } = availabilityOf(config, this.#prefixes.ownPrefix, this.#names());
    if (refused !== undefined) this.leave("availability", refused);
    const aside = asideOf(config);
    return {
      kind,
      unique: this.#component.unique,
      config,
      ...(this.#name !== undefined && { name: this.#name }),
      ...(wholeName !== undefined && { wholeName }),
      title: this.title,
      ...(this.class !== undefined && { class: this.class }),
      ...(aside !== undefined && { aside }),
      isSetting: textField(config, "entity_category") === "config",
      qos: qos === 1 || qos === 2 ? qos : 0,
      retain: flagField(config, "retain", false),
      slots: this.slots,
      readings: this.readings,
      commands: this.commands,
      details: this.details,
      left: this.left,
      availability,
      ...(this.hasPicture && { hasPicture: true }),
      ...(taintsErrors(config) && { taintsErrors: true }),
      covered: () => ({ config: coveredKeys(config), ...(variables && { variables }) }),
      coveredBefore: () => (variables ? undefined : coveredBy03(kind, config)),
      ...(this.danger !== undefined && { danger: this.danger }),
    };
  }

  /** Names by which Home Assistant's templates know the entity, as far as they are known here. */
  #names(): Variables {
    return { name: this.title, entity_id: `${this.kind}.${this.#component.unique}`, this: {} };
  }
}

/** An error lists the options that there are, or the pattern, as the config has them. */
function taintsErrors(config: Config): boolean {
  const quoted = [...Object.values(config).filter(Array.isArray).flat(), config.pattern];
  return quoted.some((one) => typeof one === "string" && !isLabel(one));
}

/** A copy, since a part of a text keeps all of it in memory. */
function shortText<Value extends SlotValue | undefined>(value: Value): Value | string {
  if (typeof value !== "string" || value.length <= TEXT_MAX) return value;
  return new TextDecoder().decode(utf8(value.slice(0, TEXT_MAX)));
}

/** Home Assistant's word for a value. */
function stateText(value: SlotValue, text: string): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  return value === null ? "unknown" : shortText(text);
}

export function topicsOf(outputs: readonly (Output | undefined)[]): string[] {
  return [...new Set(outputs.flatMap((output) => (output ? [output.topic] : [])))];
}

export function write({ topic, write }: Output, value: unknown, variables: Variables = {}): Written {
  const written = write(value, variables);
  if (!written.ok) return { error: `the command cannot be written. ${written.problem}` };
  return { topic, payload: written.text };
}

function asideOf(config: Config): string | undefined {
  const category = textField(config, "entity_category");
  if (category === "config") return IS_SETTING;
  if (category === "diagnostic") return "it is diagnostic";
  if (!flagField(config, "enabled_by_default", true)) return "its publisher has it disabled by default";
  return undefined;
}

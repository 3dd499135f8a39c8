/**
 * What a person keeps with a yes: it asks again, or not in this conversation, or not for this action within these bounds. Nothing but "ask
 * me again" is chosen before the person chooses. The gateway takes an offer as it is, or less.
 */
import type { PermissionOffer, Routes } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useId, useState } from "preact/hooks";
import { locale, say } from "./texts/say.ts";

export type Keep = NonNullable<Routes["POST /v1/questions/{id}"]["body"]["keep"]>;
type Bound = PermissionOffer["bounds"][string];
type Range = { name: string; from: number; to: number };

const DAY_MS = 86_400_000;
/** Days until a permission ends, beside the latest end that is offered. */
const ENDS = [1, 7, 30];
const VALUES_SHOWN = 6;

/** @param several the question lists several calls: each device keeps what was offered for it */
export function NextTime({
  offers,
  several,
  onKeep,
}: {
  offers: readonly PermissionOffer[];
  several: boolean;
  onKeep: (keep: Keep | undefined) => void;
}) {
  const [chosen, setChosen] = useState<PermissionOffer>();
  const name = useId();
  const choose = (offer: PermissionOffer | undefined) => {
    setChosen(offer);
    onKeep(offer && keepOf(offer));
  };
  // Of several calls each has the same offers: one of each kind is shown.
  const shown = offers.filter(({ id }, at) => offers.findIndex((one) => one.id === id) === at);
  const option = (offer: PermissionOffer) => (
    <div key={offer.id} class="option">
      <label>
        <input type="radio" name={name} checked={chosen === offer} onChange={() => choose(offer)} />
        <span>
          <strong>{TITLES[offer.id](several)}</strong>
          <span class="quiet">
            {several ? "" : `${boundsText(offer)}; `}
            {endText(offer)}
          </span>
        </span>
      </label>
      {chosen === offer && offer.id === "always" && <Less offer={offer} several={several} onKeep={onKeep} />}
    </div>
  );
  const plain = shown.filter(({ tainted }) => !tainted);
  const tainted = shown.filter((offer) => offer.tainted);
  return (
    <fieldset class="next-time">
      <legend>{say("nextTime")}</legend>
      <label class="option">
        <input type="radio" name={name} checked={chosen === undefined} onChange={() => choose(undefined)} />
        <strong>{say("askAgain")}</strong>
      </label>
      {plain.map(option)}
      {tainted.length > 0 && (
        <details>
          <summary>{say("more")}</summary>
          {tainted.map(option)}
        </details>
      )}
    </fieldset>
  );
}

const TITLES: Readonly<Record<PermissionOffer["id"], (several: boolean) => string>> = {
  conversation: () => say("notInConversation"),
  always: (several) => say(several ? "notOnDevices" : "notOnDevice"),
};

function keepOf({ id, tainted }: PermissionOffer): Keep {
  return { offer: id, ...(tainted && { tainted: true as const }) };
}

/** For whom, until when, and the ends of its ranges. */
function Less({
  offer,
  several,
  onKeep,
}: {
  offer: PermissionOffer;
  several: boolean;
  onKeep: (keep: Keep) => void;
}) {
  const [who, setWho] = useState(0);
  const [days, setDays] = useState(0);
  const [ranges, setRanges] = useState<readonly Range[]>(several ? [] : rangesOf(offer));
  const tell = (next: { who?: number; days?: number; ranges?: readonly Range[] }) => {
    const now = { who, days, ranges, ...next };
    const one = offer.who[now.who];
    const bounds = Object.fromEntries(
      Object.entries(offer.bounds).map(([name, bound]) => [name, narrowed(name, bound, now.ranges)]),
    );
    onKeep({
      ...keepOf(offer),
      ...(now.who > 0 && one !== undefined && { who: one }),
      ...(now.ranges.length > 0 && { bounds }),
      ...(now.days > 0 && { until: Date.now() + now.days * DAY_MS }),
    });
  };
  const change = (at: number, end: Partial<Range>) => {
    const next = ranges.map((range, index) => (index === at ? { ...range, ...end } : range));
    setRanges(next);
    tell({ ranges: next });
  };
  return (
    <div class="less">
      {ranges.map(({ name, from, to }, at) => {
        const [least, most] = endsOf(offer.bounds[name]);
        const label = labelOf(name) || "value";
        return (
          <span key={name} class="range">
            <label>
              {say("keepFrom", { name: label })}
              <input
                type="number"
                min={least}
                max={to}
                step="any"
                value={from}
                onInput={({ currentTarget }) => change(at, { from: Number(currentTarget.value) })}
              />
            </label>
            <label>
              {say("keepTo")}
              <input
                type="number"
                aria-label={`${label} to`}
                min={from}
                max={most}
                step="any"
                value={to}
                onInput={({ currentTarget }) => change(at, { to: Number(currentTarget.value) })}
              />
            </label>
          </span>
        );
      })}
      {offer.who.length > 1 && (
        <label>
          {say("keepFor")}
          <select
            value={who}
            onChange={({ currentTarget }) => {
              setWho(Number(currentTarget.value));
              tell({ who: Number(currentTarget.value) });
            }}
          >
            {offer.who.map((one, at) => (
              <option key={whoText(one)} value={at}>
                {whoText(one)}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {say("keepUntil")}
        <select
          value={days}
          onChange={({ currentTarget }) => {
            setDays(Number(currentTarget.value));
            tell({ days: Number(currentTarget.value) });
          }}
        >
          <option value={0}>{dateText(offer.until)}</option>
          {ENDS.map((count) => (
            <option key={count} value={count}>
              {dateText(Date.now() + count * DAY_MS)}
            </option>
          ))}
        </select>
      </label>
      <p class="quiet">{say("anythingElse")}</p>
    </div>
  );
}

function rangesOf({ bounds }: PermissionOffer): Range[] {
  return Object.entries(bounds).flatMap(([name, bound]) =>
    "from" in bound ? [{ name, from: bound.from, to: bound.to }] : [],
  );
}

function endsOf(bound: Bound | undefined): [least: number, most: number] {
  return bound && "from" in bound ? [bound.from, bound.to] : [0, 0];
}

function narrowed(name: string, bound: Bound, ranges: readonly Range[]): Bound {
  const range = ranges.find((one) => one.name === name);
  return range && "from" in bound ? { ...bound, from: range.from, to: range.to } : bound;
}

function endText({ id, until, who }: PermissionOffer): string {
  if (id === "conversation") return say("untilQuiet");
  return say("keptFor", { who: who.map(whoText)[0] ?? "", date: dateText(until) });
}

/** "on and off, brightness pct 1–100" */
function boundsText({ bounds }: PermissionOffer): string {
  const parts = Object.entries(bounds).map(([name, bound]) => `${labelOf(name)} ${boundText(bound)}`.trim());
  return parts.length > 0 ? visible(parts.join(", ")) : "as it is";
}

/** `on` says itself what it is. */
function labelOf(name: string): string {
  return name === "on" ? "" : visible(name.replaceAll("_", " "));
}

function boundText(bound: Bound): string {
  if ("is" in bound) return valueText(bound.is);
  if ("oneOf" in bound) {
    const shown = bound.oneOf.slice(0, VALUES_SHOWN).map(valueText);
    const more = bound.oneOf.length - shown.length;
    return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(" and ");
  }
  if ("from" in bound) return `${bound.from.toLocaleString()}–${bound.to.toLocaleString()}`;
  if ("each" in bound) return "any colour";
  return "under" in bound ? `in ${bound.under}` : "any text";
}

function valueText(value: string | number | boolean | null): string {
  return typeof value === "boolean" ? (value ? "on" : "off") : String(value);
}

function whoText(who: PermissionOffer["who"][number]): string {
  if (who === "everybody") return say("everybody");
  if ("person" in who) return visible(who.person);
  if ("program" in who) return "this program";
  return "home" in who ? visible(who.home) : "this rule";
}

function dateText(at: number): string {
  return new Date(at).toLocaleDateString(locale(), { day: "numeric", month: "short", year: "numeric" });
}

/**
 * What a person keeps with a yes: it asks again, or not in this conversation, or not for this action within these bounds. Nothing but "ask
 * me again" is chosen before the person chooses. The gateway takes an offer as it is, or less.
 */
import type { PermissionOffer, Routes, TurnQuestion } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useContext, useId, useState } from "preact/hooks";
import { Me } from "./me.ts";
import { boundsText, dateText, endText, labelOf, whoText } from "./permission-text.ts";
import { say } from "./texts/say.ts";

export type Keep = NonNullable<Routes["POST /v1/questions/{id}"]["body"]["keep"]>;
type Bound = PermissionOffer["bounds"][string];
type Line = NonNullable<TurnQuestion["members"]>[number];
type Range = { name: string; from: number; to: number };

const DAY_MS = 86_400_000;
/** Days until a permission ends, beside the latest end that is offered. */
const ENDS = [1, 7, 30];

/** @param members of a question that lists several calls: those that are ticked keep what was offered for them, each a permission of its own */
export function NextTime({
  offers,
  members,
  onKeep,
}: {
  offers: readonly PermissionOffer[];
  members: TurnQuestion["members"];
  onKeep: (keep: Keep | undefined) => void;
}) {
  const [chosen, setChosen] = useState<PermissionOffer>();
  const name = useId();
  const me = useContext(Me);
  const several = members !== undefined;
  const choose = (offer: PermissionOffer | undefined) => {
    setChosen(offer);
    onKeep(offer && keepOf(offer, linesOf(offer)));
  };
  const linesOf = ({ id }: PermissionOffer): readonly Line[] =>
    (members ?? []).filter((line) => offers.some((one) => one.id === id && one.question === line.id));
  // Of several calls each has the same offers: one of each kind is shown.
  const shown = offers.filter(({ id }, at) => offers.findIndex((one) => one.id === id) === at);
  const option = (offer: PermissionOffer) => (
    <div key={offer.id} class="option">
      <label>
        <input type="radio" name={name} checked={chosen === offer} onChange={() => choose(offer)} />
        <span>
          <strong>{TITLES[offer.id](several)}</strong>
          <span class="quiet">
            {[several ? "" : boundsText(offer.bounds), endText(offer, me)].filter(Boolean).join("; ")}
            {(offer.tainted || offer.chain) && `. ${say("evenForOthers")}`}
          </span>
        </span>
      </label>
      {chosen === offer && (offer.id === "always" || several) && (
        <Less offer={offer} lines={linesOf(offer)} several={several} onKeep={onKeep} />
      )}
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

/** @param lines those that are ticked; without one nothing is kept */
function keepOf({ id, tainted, chain, question }: PermissionOffer, lines: readonly Line[]): Keep | undefined {
  if (question !== undefined && lines.length === 0) return undefined;
  return {
    offer: id,
    ...(question !== undefined && { questions: lines.map((line) => line.id) }),
    ...(tainted && { tainted: true as const }),
    ...(chain && { chain: true as const }),
  };
}

/** For which calls, for whom, until when, and the ends of its ranges. */
function Less({
  offer,
  lines,
  several,
  onKeep,
}: {
  offer: PermissionOffer;
  lines: readonly Line[];
  several: boolean;
  onKeep: (keep: Keep | undefined) => void;
}) {
  const me = useContext(Me);
  const [ticked, setTicked] = useState(lines);
  const [who, setWho] = useState(0);
  const [days, setDays] = useState(0);
  const [ranges, setRanges] = useState<readonly Range[]>(several ? [] : rangesOf(offer));
  const tell = (next: {
    who?: number;
    days?: number;
    ranges?: readonly Range[];
    ticked?: readonly Line[];
  }) => {
    const now = { who, days, ranges, ticked, ...next };
    const kept = keepOf(offer, now.ticked);
    if (!kept) return onKeep(undefined);
    const one = offer.who[now.who];
    const bounds = Object.fromEntries(
      Object.entries(offer.bounds).map(([name, bound]) => [name, narrowed(name, bound, now.ranges)]),
    );
    onKeep({
      ...kept,
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
      {lines.map((line) => (
        <label key={line.id} class="permission-line">
          <input
            type="checkbox"
            checked={ticked.includes(line)}
            onChange={({ currentTarget }) => {
              const next = lines.filter((one) =>
                one === line ? currentTarget.checked : ticked.includes(one),
              );
              setTicked(next);
              tell({ ticked: next });
            }}
          />
          {visible(line.text)}
        </label>
      ))}
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
      {offer.id === "always" && offer.who.length > 1 && (
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
              <option key={whoText(one, me)} value={at}>
                {whoText(one, me)}
              </option>
            ))}
          </select>
        </label>
      )}
      {offer.id === "always" && (
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
      )}
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

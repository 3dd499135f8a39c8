/** What Home, Devices and the indexes are made of. style/parts.css draws it; /dev/parts of a checkout shows each. */
import type { ComponentChildren, JSX } from "preact";
import { Icon } from "./icon.tsx";
import type { IconName, Tone } from "./icon-paths.ts";

export function Mark({
  icon,
  tone = "plain",
  large = false,
}: {
  icon: IconName;
  tone?: Tone;
  large?: boolean;
}) {
  return (
    <span class={`mark ${tone}${large ? " large" : ""}`}>
      <Icon name={icon} />
    </span>
  );
}

type RoundProps = { icon: IconName; label: string; count?: number } & Omit<
  JSX.IntrinsicElements["button"],
  "type" | "class" | "aria-label" | "icon"
>;

/** @param props.label what it does, and what the count counts */
export function Round({ icon, label, count = 0, ...button }: RoundProps) {
  return (
    <button {...button} type="button" class="round" aria-label={label}>
      <Icon name={icon} />
      {count > 0 && (
        <span class="count" aria-hidden="true">
          {count > 99 ? "99+" : count}
        </span>
      )}
    </button>
  );
}

type OnOffProps = {
  label: string;
  on: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
};

/** It shows what is so: a press asks for a change, and what is reported moves it. */
export function OnOff({ label, on, disabled = false, onChange }: OnOffProps) {
  return (
    <input
      type="checkbox"
      role="switch"
      class="on-off"
      aria-label={label}
      checked={on}
      aria-checked={on}
      disabled={disabled}
      onChange={({ currentTarget }) => {
        currentTarget.checked = on;
        onChange(!on);
      }}
    />
  );
}

type TileProps = {
  icon: IconName;
  tone: Tone;
  /** Its state, in words. */
  is: string;
  about: string;
  /** Only for what a press changes: whether it is on; undefined for what has no such state. */
  pressed?: boolean | undefined;
  busy?: boolean;
  onPress?: (() => void) | undefined;
  /** Where it leads, when a press changes nothing. */
  href?: string;
};

export function Tile({ icon, tone, is, about, pressed, busy = false, onPress, href }: TileProps) {
  const inside = (
    <>
      <Mark icon={icon} tone={tone} />
      <span class="grow">
        <span class="is two">{is}</span>
        <span class="about two">{about}</span>
      </span>
    </>
  );
  if (onPress)
    return (
      <button
        type="button"
        class={`tile ${tone}`}
        aria-pressed={pressed}
        aria-busy={busy}
        onClick={() => {
          if (!busy) onPress();
        }}
      >
        {inside}
      </button>
    );
  return href === undefined ? (
    <div class={`tile ${tone}`}>{inside}</div>
  ) : (
    <a class={`tile ${tone}`} href={href}>
      {inside}
    </a>
  );
}

type LineProps = {
  mark?: ComponentChildren;
  title: ComponentChildren;
  second?: ComponentChildren;
  children?: ComponentChildren;
};

/** A row of a list: what it is, a second line, and at its end what can be done. */
export function Line({ mark, title, second, children }: LineProps) {
  return (
    <li class="line">
      {mark}
      <div class="grow">
        <p class="title">{title}</p>
        {second !== undefined && second !== "" && <p class="second">{second}</p>}
      </div>
      {children}
    </li>
  );
}

/** A row that leads somewhere. */
export function LinkLine({
  icon,
  title,
  second,
  href,
}: {
  icon: IconName;
  title: string;
  second: string;
  href: string;
}) {
  return (
    <li>
      <a class="tile" href={href}>
        <Mark icon={icon} tone="on" />
        <span class="grow">
          <span class="is">{title}</span>
          <span class="about">{second}</span>
        </span>
        <Icon name="right" />
      </a>
    </li>
  );
}

/** @param props.kind `bad`: nothing works as long as it stands; `wait`: a part does not */
export function Banner({
  kind,
  icon,
  text,
  children,
}: {
  kind: "bad" | "wait";
  icon: IconName;
  text: string;
  children?: ComponentChildren;
}) {
  return (
    <div class={`banner ${kind}`} role="status">
      <Icon name={icon} />
      <span class="grow">{text}</span>
      {children}
    </div>
  );
}

export function Fine({ text }: { text: string }) {
  return (
    <p class="fine">
      <Icon name="check" />
      {text}
    </p>
  );
}

/** A screen that has nothing yet. */
export function Nothing({
  icon,
  title,
  text,
  children,
}: {
  icon: IconName;
  title: string;
  text: string;
  children?: ComponentChildren;
}) {
  return (
    <section class="card nothing">
      <Mark icon={icon} tone="on" large />
      <h2>{title}</h2>
      <p class="quiet">{text}</p>
      {children}
    </section>
  );
}

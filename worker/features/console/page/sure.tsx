/** A button for actions that cannot be undone. When pressed, it asks for confirmation in its place. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Small } from "./controls.tsx";

type Props = {
  label: string;
  /** The object of the action, for screen readers. */
  about?: string;
  /** The consequence, when it is not obvious. */
  note?: string;
  disabled?: boolean;
  /** The buttons' words, where the screen is not English. */
  buttons?: { sure: string; cancel: string };
  /** A choice that belongs to the action. */
  children?: ComponentChildren;
  onSure: () => void;
};

export function Sure({ label, about, note, disabled, buttons, children, onSure }: Props) {
  const [asked, setAsked] = useState(false);
  const first = useRef<HTMLButtonElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const was = useRef(false);
  useEffect(() => {
    if (asked) cancel.current?.focus();
    else if (was.current) first.current?.focus();
    was.current = asked;
  }, [asked]);
  const named = about ? { "aria-label": `${label} ${about}` } : {};
  if (!asked)
    return (
      <button
        ref={first}
        type="button"
        class="small bad"
        disabled={disabled}
        {...named}
        onClick={() => setAsked(true)}
      >
        {label}
      </button>
    );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be inline
    <span class="row sure" role="group" aria-label={`${label}${about ? ` ${about}` : ""}?`}>
      {note && <small>{note}</small>}
      {children}
      <Small
        kind="bad"
        onClick={() => {
          setAsked(false);
          onSure();
        }}
      >
        {buttons?.sure ?? `Yes, ${label.charAt(0).toLowerCase()}${label.slice(1)}`}
      </Small>
      <button ref={cancel} type="button" class="small" onClick={() => setAsked(false)}>
        {buttons?.cancel ?? "Cancel"}
      </button>
    </span>
  );
}

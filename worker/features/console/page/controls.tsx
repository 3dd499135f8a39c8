/** What forms and lists are made of. */
import type { ComponentChildren, JSX } from "preact";

type PanelProps = { id: string; title: string; children: ComponentChildren };

/** A part of a screen, which its heading names. */
export function Panel({ id, title, children }: PanelProps) {
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** What may be wider than its place, such as a table: it is scrolled. */
export function Wide({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: it contains no form fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  );
}

type FormProps = Omit<JSX.IntrinsicElements["form"], "onSubmit"> & { onSend: () => unknown };

export function Form({ onSend, ...form }: FormProps) {
  return (
    <form
      {...form}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    />
  );
}

type FieldProps = {
  label: string;
  value: string;
  onValue: (text: string) => void;
  type?: "password" | "time" | "url";
  required?: boolean;
  maxLength?: number;
  pattern?: string;
  title?: string;
  placeholder?: string;
  autocomplete?: "off" | "one-time-code";
  list?: string;
};

export function Field({ label, onValue, ...input }: FieldProps) {
  return (
    <label>
      {label}
      {/* SAFETY: Preact's type is one for each `type`, and lets those of `FieldProps` together only where they are literal. */}
      <input
        {...(input as JSX.IntrinsicElements["input"])}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </label>
  );
}

type CheckProps = { checked: boolean; onCheck: (checked: boolean) => void; children: ComponentChildren };

export function Check({ checked, onCheck, children }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onCheck(event.currentTarget.checked)} />
      {children}
    </label>
  );
}

type SelectProps<V> = { label: string; value: V; onChoose: (value: V) => void; children: ComponentChildren };

/** @param props.children the options, whose values are of the type of `value` */
export function Select<V extends string>({ label, value, onChoose, children }: SelectProps<V>) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value as V)}>
        {children}
      </select>
    </label>
  );
}

type SmallProps = Omit<JSX.IntrinsicElements["button"], "type" | "class"> & {
  kind?: "good" | "bad" | "bare" | "main";
};

/** A small button within a form or a list. */
export function Small({ kind, ...button }: SmallProps) {
  return <button {...button} type="button" class={kind ? `small ${kind}` : "small"} />;
}

/** Below the fields of a form. */
export function SaveRow({ busy, onCancel }: { busy: boolean; onCancel: () => void }) {
  return (
    <div class="row">
      <button type="submit" class="small good" disabled={busy}>
        Save
      </button>
      <Small onClick={onCancel}>Cancel</Small>
    </div>
  );
}

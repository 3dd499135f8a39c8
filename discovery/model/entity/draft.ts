/** Collects the parts of an entity from its description. Each source has a draft of its own, and a file for each kind that fills it. */
import type {
  Command,
  Expectation,
  Left,
  Parameter,
  Parameters,
  ReadingSpec,
  Run,
  SlotValue,
  Step,
} from "./entity.ts";
import type { Matches } from "./fit.ts";

/** One parameter of a `set` action that is sent, or reported, by itself. */
export type Setting = {
  name: string;
  parameter: Parameter;
  words: (value: unknown) => string;
  /** In their order; an error's text names what is wrong. */
  steps: (value: unknown, all: Parameters) => Written[];
  /** Absent: nothing reports it. */
  confirmed?: { slot: string; by: Matches };
  /** Settings with a lower number are sent first. */
  order?: number;
};

export type Written = Step | { error: string };

export abstract class EntityDraft {
  abstract readonly slots: readonly { name: string }[];
  readonly readings: ReadingSpec[] = [];
  readonly commands: Command[] = [];
  readonly details: string[] = [];
  readonly left: Left[] = [];
  danger: string | undefined;

  /** The entity's name for people. */
  abstract get title(): string;

  /** Tells whether a slot can confirm a command. */
  abstract reports(slot: string): boolean;

  /** Says why something of the entity is left out. */
  leave(what: string, why: string, more: Pick<Left, "unread"> = {}): void {
    this.left.push({ what: `${this.title}${what === "" ? "" : `: ${what}`}`, why, ...more });
  }

  /** A reading of a slot. */
  reading(
    slot: string,
    words: ReadingSpec["words"],
    more: Partial<Omit<ReadingSpec, "slot" | "words">> = {},
  ): void {
    const found = this.slots.find(({ name }) => name === slot);
    if (!found) return;
    this.readings.push({ free: false, ...more, slot, words });
  }

  /** An action without parameters. `is` tells the state that it ends in; without a slot nothing reports that. */
  addSimple(
    action: string,
    description: string,
    send: () => Written[],
    targets: readonly string[],
    {
      slot,
      words,
      is,
      ...more
    }: { slot?: string; words: string; is: (value: SlotValue) => boolean } & Partial<Command>,
  ): void {
    this.commands.push({
      action,
      description,
      parameters: {},
      required: [],
      idempotent: true,
      wait: "value",
      targets,
      ...more,
      run: () => {
        const isReported = slot !== undefined && this.reports(slot);
        const expects = isReported ? [this.expectation(slot, undefined, words, (_, value) => is(value))] : [];
        return withSteps(send(), expects, isReported ? [] : [words]);
      },
    });
  }

  /** The action `set` of settings that are each sent by themselves. */
  addSettings(
    description: string,
    settings: readonly (Setting | undefined)[],
    targets: readonly string[],
  ): void {
    const all = settings.filter((one) => one !== undefined);
    if (all.length === 0) return;
    const names = all.map(({ name }) => name);
    this.commands.push({
      action: "set",
      description,
      parameters: Object.fromEntries(all.map(({ name, parameter }) => [name, parameter])),
      required: all.length === 1 ? names : [],
      ...(all.length > 1 && { anyOf: true }),
      idempotent: true,
      lasting: true,
      wait: "value",
      targets,
      run: (parameters) => {
        const asked = all
          .filter(({ name }) => parameters[name] !== undefined)
          .sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
        const written = asked.flatMap(({ name, steps }) => steps(parameters[name], parameters));
        const expects = asked.flatMap(({ name, words, confirmed }) =>
          confirmed && this.reports(confirmed.slot)
            ? [this.expectation(confirmed.slot, parameters[name], words(parameters[name]), confirmed.by)]
            : [],
        );
        const unreported = asked.filter(({ confirmed }) => !confirmed || !this.reports(confirmed.slot));
        return withSteps(
          written,
          expects,
          unreported.map(({ name, words }) => words(parameters[name])),
        );
      },
    });
  }

  /** A slot has to report what was asked. */
  expectation(slot: string, asked: unknown, words: string, by: Matches): Expectation {
    return {
      slots: [slot],
      words,
      met: (fresh, before) => {
        const value = fresh(slot);
        return value !== undefined && by(asked, value.value, before(slot)?.value);
      },
    };
  }
}

export function withSteps(
  written: readonly Written[],
  expects: Expectation[],
  unreported: string[],
): Run | { error: string } {
  const failed = written.find((one) => "error" in one);
  if (failed && "error" in failed) return failed;
  return { steps: written.filter((one): one is Step => !("error" in one)), expects, unreported };
}

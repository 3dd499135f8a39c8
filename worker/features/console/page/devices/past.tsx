/** The last days of a device's readings, drawn from what its bridge keeps at home. Grey: nothing is known. */
import type { PastLine } from "@edgecall/core/protocol/past.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useState } from "preact/hooks";
import { Problem, Skeleton, useLoaded } from "../load.tsx";
import { capital, numberText, say, spanText, stateText, timeText } from "../texts/say.ts";
import type { Reading } from "../things.ts";

const DAY_MS = 86_400_000;
const DAYS = [1, 7, 31];
const STATES_MAX = 6;
/** In the drawing's own units; the drawing is stretched to its place. */
const WIDTH = 1_000;
const HEIGHT = 100;
const DIGITS = 3;

type Piece = { from: number; to: number; value: PastLine["values"][number] };
type Drawn = {
  pieces: readonly Piece[];
  x: (at: number) => number;
  label: string;
  /** Runs of a rule within the line, epoch ms. */
  runs: readonly number[];
};
type Props = { device: string; readings: readonly Reading[]; runs?: readonly number[] };

export function Past({ device, readings, runs = [] }: Props) {
  const [name, setName] = useState(readings[0]?.name ?? "");
  const [days, setDays] = useState(1);
  const { value, stale, problem } = useLoaded("GET /v1/devices/{device}/past", {
    path: { device },
    query: { reading: name, days },
  });
  const reading = readings.find((one) => one.name === name);
  return (
    <div class="past">
      <div class="row">
        <select
          aria-label={say("reports")}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        >
          {readings.map((one) => (
            <option key={one.name} value={one.name}>
              {visible(one.name)}
            </option>
          ))}
        </select>
        {DAYS.map((count) => (
          <button
            key={count}
            type="button"
            class="chip"
            aria-pressed={count === days}
            onClick={() => setDays(count)}
          >
            {spanText(count * DAY_MS)}
          </button>
        ))}
      </div>
      <Problem text={problem} />
      {!value && !problem && <Skeleton lines={3} />}
      {value && !problem && (
        <div class={stale ? "quiet" : undefined}>
          {value.line && reading ? (
            <Line line={value.line} reading={reading} runs={runs} />
          ) : (
            <p lang="en">{visible(value.text)}</p>
          )}
        </div>
      )}
    </div>
  );
}

type LineProps = { line: PastLine; reading: Reading; runs: readonly number[] };

function Line({ line, reading, runs }: LineProps) {
  const { from, to, at, values } = line;
  const pieces = at.map((begun, nth) => ({
    from: begun,
    to: at[nth + 1] ?? to,
    value: values[nth] ?? null,
  }));
  const x = (time: number) => ((time - from) / (to - from)) * WIDTH;
  const now = Date.now();
  const span = `${timeText(from, now)} – ${timeText(to, now)}`;
  const shown = runs.filter((run) => run >= from && run <= to);
  const drawn = { pieces, x, label: `${visible(reading.name)}, ${span}`, runs: shown };
  const isNumber = values.some((value) => typeof value === "number");
  const unknown = pieces.reduce((ms, piece) => ms + (piece.value === null ? piece.to - piece.from : 0), 0);
  return (
    <div class="chart">
      {isNumber ? <Numbers {...drawn} unit={reading.unit} /> : <States {...drawn} of={reading.class} />}
      <p class="ends" aria-hidden="true">
        {[from, (from + to) / 2, to].map((time) => (
          <span key={time}>{timeText(time, now)}</span>
        ))}
      </p>
      {unknown >= 60_000 && (
        <p class="legend">
          <span class="key gap-key" /> {capital(say("notKnown"))}: {spanText(unknown)}
        </p>
      )}
      {shown.length > 0 && (
        <p class="legend">
          <span class="key run-key" /> {say("actRuns", { count: shown.length })}
        </p>
      )}
    </div>
  );
}

function Numbers({ pieces, x, label, runs, unit = "" }: Drawn & { unit: string | undefined }) {
  const known = pieces.flatMap(({ value }) => (typeof value === "number" ? [value] : []));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const y = (value: number) => HEIGHT * (high > low ? 0.95 - (0.9 * (value - low)) / (high - low) : 0.5);
  // The last value before a gap holds until then.
  const path = pieces.map(({ from, to, value }, nth) => {
    if (typeof value !== "number") return "";
    const isBegun = typeof pieces[nth - 1]?.value === "number";
    const isEnded = typeof pieces[nth + 1]?.value !== "number";
    return `${isBegun ? "L" : "M"}${x(from)} ${y(value)}${isEnded ? `H${x(to)}` : ""}`;
  });
  const range = [...new Set([low, high])].map((value) => numberText(value, DIGITS)).join(" – ");
  return (
    <>
      <p class="legend">
        <strong class="num">{range}</strong> {visible(unit)}
      </p>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${range} ${unit}`}
      >
        <Gaps pieces={pieces} x={x} />
        <path class="line" d={path.join("")} />
        <Runs runs={runs} x={x} />
      </svg>
    </>
  );
}

/** A row for each state, with the time for which it was so. */
function States({ pieces, x, label, runs, of }: Drawn & { of: string | undefined }) {
  const wordOf = (value: Piece["value"]) =>
    typeof value === "boolean"
      ? stateText(value ? "on" : "off", { class: of, value })
      : stateText(visible(String(value)));
  const known = pieces.filter(({ value }) => value !== null);
  const words = [...new Set(known.map(({ value }) => wordOf(value)))].slice(0, STATES_MAX);
  return (
    <>
      {words.map((word) => {
        const own = known.filter(({ value }) => wordOf(value) === word);
        const ms = own.reduce((sum, { from, to }) => sum + to - from, 0);
        return (
          <div key={word} class="state-row">
            <p class="legend">
              {word} · {spanText(ms)}
            </p>
            <svg
              viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
              preserveAspectRatio="none"
              role="img"
              aria-label={`${label}, ${word}: ${spanText(ms)}`}
            >
              <Gaps pieces={pieces} x={x} />
              {own.map(({ from, to }) => (
                <rect
                  key={from}
                  class="p50"
                  x={x(from)}
                  width={Math.max(2, x(to) - x(from))}
                  height={HEIGHT}
                />
              ))}
              <Runs runs={runs} x={x} />
            </svg>
          </div>
        );
      })}
      {words.length === 0 && (
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          <Gaps pieces={pieces} x={x} />
        </svg>
      )}
    </>
  );
}

function Runs({ runs, x }: Pick<Drawn, "runs" | "x">) {
  return <path class="run-mark" d={runs.map((at) => `M${x(at)} 0V${HEIGHT}`).join("")} />;
}

function Gaps({ pieces, x }: Pick<Drawn, "pieces" | "x">) {
  return (
    <>
      {pieces.map(({ from, to, value }) =>
        value === null ? (
          <rect key={from} class="gap" x={x(from)} width={x(to) - x(from)} height={HEIGHT} />
        ) : null,
      )}
    </>
  );
}

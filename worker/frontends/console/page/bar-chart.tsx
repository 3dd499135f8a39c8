/** Bars over time, each of one or two parts, below a limit where there is one. Its words are HTML, so that no width bends them. */

export type Bar = { key: string; parts: ReadonlyArray<{ class: string; value: number }> };

type Props = {
  bars: readonly Bar[];
  /** What a person who does not see it is told. */
  label: string;
  /** Of the first, the middle and the last bar. */
  ends: readonly [string, string, string];
  /** A line across; the bars are then measured against it. */
  limit?: number | undefined;
};

/** The drawing's own units: it is stretched to its place. */
const HEIGHT = 100;
const STEP = 10;
const GAP = 2;

export function BarChart({ bars, label, ends, limit }: Props) {
  const sums = bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const top = Math.max(...sums, limit === undefined ? 0 : limit * 1.1) || 1;
  const width = bars.length * STEP;
  const tall = (value: number) => (value / top) * HEIGHT;
  return (
    <div class="chart">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {bars.map(({ key, parts }, at) => {
          let below = 0;
          return (
            <g key={key} transform={`translate(${at * STEP + GAP / 2} 0)`}>
              {parts.map((part) => {
                const height = tall(part.value);
                below += height;
                return <rect class={part.class} y={HEIGHT - below} width={STEP - GAP} height={height} />;
              })}
            </g>
          );
        })}
        {limit !== undefined && (
          <line class="limit" x1="0" x2={width} y1={HEIGHT - tall(limit)} y2={HEIGHT - tall(limit)} />
        )}
      </svg>
      <p class="ends" aria-hidden="true">
        {ends.map((text) => (
          <span>{text}</span>
        ))}
      </p>
    </div>
  );
}

/** Bars over time with one or two parts each, and a line for a limit. Labels are HTML, so that scaling does not distort them. */

type Bar = { key: string; parts: ReadonlyArray<{ class: string; value: number }> };

type Props = {
  bars: readonly Bar[];
  /** A description for people who do not see the chart. */
  label: string;
  /** Labels of the first, middle and last bar. */
  ends: readonly [string, string, string];
  /** The value of a line across the chart, which is then part of the scale. */
  limit?: number | undefined;
};

/** In the drawing's own units; the drawing is stretched to its place. */
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

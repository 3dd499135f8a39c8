/** Writes metrics in Prometheus' text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). */
import { cumulative, type Histogram } from "./histogram.ts";

export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;
export type Sample = { labels?: Labels; value: number };

export type MetricFamily = {
  /** Follows Prometheus' conventions: `edgecall_`, the subject, the unit, and `_total` for counters. */
  name: string;
  help: string;
} & (
  | { type: "counter" | "gauge"; samples: readonly Sample[] }
  | { type: "histogram"; series: ReadonlyArray<{ labels?: Labels; histogram: Histogram }> }
);

type Samples = readonly Sample[];
export const gauge = (name: string, help: string, samples: Samples): MetricFamily => ({
  name,
  help,
  type: "gauge",
  samples,
});
export const counter = (name: string, help: string, samples: Samples): MetricFamily => ({
  name,
  help,
  type: "counter",
  samples,
});

/** Returns the page's text. A family without samples is left out. */
export function exposition(families: readonly MetricFamily[]): string {
  return families.map(page).join("");
}

function page(family: MetricFamily): string {
  const lines =
    family.type === "histogram"
      ? family.series.flatMap((it) => buckets(family.name, it))
      : family.samples.map(({ labels = {}, value }) => line(family.name, labels, value));
  if (lines.length === 0) return "";
  const help = family.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return `# HELP ${family.name} ${help}\n# TYPE ${family.name} ${family.type}\n${lines.join("")}`;
}

function buckets(
  name: string,
  { labels = {}, histogram }: { labels?: Labels; histogram: Histogram },
): string[] {
  const counts = cumulative(histogram);
  const total = counts.at(-1)?.count ?? 0;
  return [
    ...counts.map(({ le, count }) => line(`${name}_bucket`, { ...labels, le: number(le) }, count)),
    line(`${name}_sum`, labels, histogram.sum),
    line(`${name}_count`, labels, total),
  ];
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${number(value)}\n`;
}

/** Escapes a label's value. It may come from an agent or a model, and must not end its line or its quotes. */
function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

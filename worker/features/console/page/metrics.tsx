/** Metrics: calls of the last day, each agent's response times, errors, and model usage against the budgets. */

import type { SessionView } from "@edgecall/client/routes.ts";
import { counted } from "@edgecall/core/text/counted.ts";
import { useMemo } from "preact/hooks";
import { BarChart } from "./bar-chart.tsx";
import { Panel, Wide } from "./controls.tsx";
import { type AuditLine, byAgent, byHour, type ErrorFigures, errorsByKind, type Hour } from "./figures.ts";
import { Problem, Skeleton, useLoaded } from "./load.tsx";
import { Spending } from "./spending.tsx";
import { duration } from "./times.ts";

const HOURS = 24;
const LINES = 1_000;

export function Metrics({ session }: { session: SessionView }) {
  // The figures of all of them come with any page.
  const agents = useLoaded("GET /v1/agents", { query: { limit: 1 } });
  const usage = useLoaded("GET /v1/console/usage");
  const mayRecord = session.scopes?.includes("admin") ?? false;
  const { counts, online } = agents.value ?? {};
  return (
    <>
      <Problem text={agents.problem ?? usage.problem} />
      <dl class="sums">
        {/* With access to the devices' records these two figures are shown below, from the records. */}
        {!mayRecord && (
          <>
            <Tile name="Calls, two days" value={counts?.calls} />
            <Tile name="Failed" value={counts?.error} bad={(counts?.error ?? 0) > 0} />
          </>
        )}
        <Tile name="Running now" value={counts?.open} />
        <Tile name="Agents online" value={online} />
      </dl>
      {usage.value ? <Spending usage={usage.value} /> : !usage.problem && <Skeleton lines={3} />}
      {mayRecord ? (
        <Recorded />
      ) : (
        <p class="quiet">
          Times per agent come from the audit record, which needs a token with the scope 'admin'.
        </p>
      )}
    </>
  );
}

/** @param value undefined until it is known */
function Tile({ name, value, bad = false }: { name: string; value: number | undefined; bad?: boolean }) {
  return (
    <div class={bad ? "sum bad-sum" : "sum"}>
      <dt>{name}</dt>
      <dd>{value?.toLocaleString() ?? "–"}</dd>
    </div>
  );
}

function Recorded() {
  const since = useMemo(() => new Date(Date.now() - HOURS * 3_600_000).toISOString().slice(0, 19), []);
  const { value, problem } = useLoaded("GET /v1/audit", { query: { since: `${since}Z`, limit: LINES } });
  if (!value) return problem ? <Problem text={problem} /> : <Skeleton lines={6} />;
  const lines = value.entries;
  return (
    <>
      <Problem text={problem} />
      <section class="panel" aria-labelledby="calls">
        <h2 id="calls">Calls on the devices, the last {HOURS} hours</h2>
        <HourChart hours={byHour(lines, Date.now(), HOURS)} />
        <p class="quiet">
          From the devices' records, which arrive within five minutes: the newest calls may be missing.
        </p>
        {lines.length === LINES && <p class="quiet">Of more than {LINES} calls, the newest.</p>}
      </section>
      <Panel id="times" title="Time per agent">
        {lines.length === 0 ? (
          <p class="quiet">No calls are recorded in this time.</p>
        ) : (
          <Times lines={lines} />
        )}
      </Panel>
      <Errors errors={errorsByKind(lines)} />
    </>
  );
}

function Times({ lines }: { lines: readonly AuditLine[] }) {
  const figures = byAgent(lines);
  const slowest = Math.max(1, ...figures.map(({ p95 }) => p95));
  return (
    <>
      <Wide label="times of each agent">
        <table class="figures">
          <thead>
            <tr>
              <th>Agent</th>
              <th class="number">Calls</th>
              <th class="number">Errors</th>
              <th class="number">p50</th>
              <th class="number">p95</th>
              <td class="bar-cell" />
            </tr>
          </thead>
          <tbody>
            {figures.map(({ agent, calls, errors, p50, p95 }) => (
              <tr>
                <th scope="row">{agent}</th>
                <td class="number">{calls}</td>
                <td class={errors > 0 ? "number problem" : "number"}>{errors}</td>
                <td class="number">{duration(p50)}</td>
                <td class="number">{duration(p95)}</td>
                <td class="bar-cell">
                  <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                    <rect class="p95" width={(p95 / slowest) * 100} height="8" />
                    <rect class="p50" width={(p50 / slowest) * 100} height="8" />
                  </svg>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <p class="legend">Half of an agent's calls took p50 or less, 95 of 100 took p95 or less.</p>
    </>
  );
}

function Errors({ errors }: { errors: readonly ErrorFigures[] }) {
  if (errors.length === 0) return null;
  return (
    <Panel id="errors" title="What failed">
      <Wide label="errors">
        <table class="figures">
          <thead>
            <tr>
              <th>Error</th>
              <th class="number">Times</th>
              <th>On</th>
            </tr>
          </thead>
          <tbody>
            {errors.map(({ kind, count, agents }) => (
              <tr>
                <th scope="row">{kind.replaceAll("_", " ")}</th>
                <td class="number">{count}</td>
                <td>{agents.join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <p class="legend">
        See each of them in <a href="#/record">Record</a>.
      </p>
    </Panel>
  );
}

function HourChart({ hours }: { hours: Hour[] }) {
  const total = hours.reduce((all, { success, error }) => all + success + error, 0);
  const errors = hours.reduce((all, { error }) => all + error, 0);
  const most = Math.max(...hours.map(({ success, error }) => success + error));
  return (
    <>
      <BarChart
        bars={hours.map(({ start, success, error }) => ({
          key: String(start),
          parts: [
            { class: "ok", value: success },
            { class: "err", value: error },
          ],
        }))}
        label={`${counted(total, "call")}, ${errors} failed; at most ${most} in one hour`}
        ends={["a day ago", "12 h ago", "now"]}
      />
      <p class="legend">
        <span class="key ok-key" /> {total - errors} succeeded <span class="key err-key" /> {errors} failed;
        at most {most} in an hour
      </p>
    </>
  );
}

/** Metrics: calls over the last day, how long each agent takes, and what models took of the budgets. */
import { useMemo } from "preact/hooks";
import { byAgent, byHour, type Hour } from "./figures.ts";
import { Problem, Screen, useLoaded } from "./load.tsx";
import type { Agent, AuditLine, Session, Usage } from "./shapes.ts";
import { duration } from "./times.ts";

const HOURS = 24;
const LINES = 1_000;

export function Metrics({ session }: { session: Session }) {
  const agents = useLoaded<{ agents: Agent[] }>("/v1/agents");
  const usage = useLoaded<Usage>("/v1/console/usage");
  const counts = agents.value?.agents.map((agent) => agent.counts) ?? [];
  const sum = (name: keyof Agent["counts"]) => counts.reduce((total, count) => total + count[name], 0);
  return (
    <Screen title="Metrics">
      <Problem text={agents.problem ?? usage.problem} />
      <dl class="tiles">
        <Tile name="Calls, two days" value={String(sum("calls"))} />
        <Tile name="Failed" value={String(sum("error"))} bad={sum("error") > 0} />
        <Tile name="Running now" value={String(sum("open"))} />
        <Tile
          name="Agents online"
          value={`${agents.value?.agents.filter(({ online }) => online).length ?? 0}`}
        />
      </dl>
      {usage.value && <Spending usage={usage.value} />}
      {session.scopes?.includes("admin") ? (
        <Recorded />
      ) : (
        <p class="quiet">
          Times per agent come from the audit record, which takes a token with the scope 'admin'.
        </p>
      )}
    </Screen>
  );
}

function Tile({ name, value, bad = false }: { name: string; value: string; bad?: boolean }) {
  return (
    <div class={bad ? "tile bad-tile" : "tile"}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Spending({ usage }: { usage: Usage }) {
  const { day, budgets, models } = usage;
  const limits = budgets.day ?? {};
  return (
    <section class="panel" aria-labelledby="spending">
      <h2 id="spending">Models today</h2>
      {day.counted ? (
        <>
          <Meter name="Tokens" used={day.tokens} limit={limits.tokens} />
          <Meter name="Model calls" used={day.model_calls} limit={limits.model_calls} />
        </>
      ) : (
        <p class="quiet">
          A day is counted only where it has a budget: set BUDGET_DAY_TOKENS or BUDGET_DAY_MODEL_CALLS.
        </p>
      )}
      <p class="quiet">
        {models.length === 0
          ? "No model is configured."
          : models
              .map(({ name, failures }) =>
                failures > 0 ? `${name}: failed ${failures} times` : `${name}: well`,
              )
              .join(" · ")}
      </p>
    </section>
  );
}

function Meter({ name, used, limit }: { name: string; used: number; limit: number | undefined }) {
  const words =
    limit === undefined
      ? `${used.toLocaleString()}, not limited`
      : `${used.toLocaleString()} of ${limit.toLocaleString()}`;
  return (
    <div class="meter">
      <span>{name}</span>
      {limit !== undefined && (
        <meter aria-label={name} value={used} max={limit || 1} high={limit * 0.8} optimum={0} />
      )}
      <span class="quiet">{words}</span>
    </div>
  );
}

function Recorded() {
  const since = useMemo(() => new Date(Date.now() - HOURS * 3_600_000).toISOString().slice(0, 19), []);
  const { value, problem } = useLoaded<{ entries: AuditLine[] }>(`/v1/audit?since=${since}Z&limit=${LINES}`);
  const lines = value?.entries ?? [];
  const figures = byAgent(lines);
  const slowest = Math.max(1, ...figures.map(({ p95 }) => p95));
  return (
    <>
      <Problem text={problem} />
      <section class="panel" aria-labelledby="calls">
        <h2 id="calls">Calls on the devices, the last {HOURS} hours</h2>
        <HourChart hours={byHour(lines, Date.now(), HOURS)} />
        {lines.length === LINES && <p class="quiet">Of more than {LINES} calls, the newest.</p>}
      </section>
      <section class="panel" aria-labelledby="times">
        <h2 id="times">Time per agent</h2>
        {figures.length === 0 ? (
          <p class="quiet">
            No calls are recorded in this time; a device brings its record within five minutes.
          </p>
        ) : (
          <table class="figures">
            <thead>
              <tr>
                <th>Agent</th>
                <th>Calls</th>
                <th>Errors</th>
                <th>p50</th>
                <th>p95</th>
                <td class="bar-cell" />
              </tr>
            </thead>
            <tbody>
              {figures.map(({ agent, calls, errors, p50, p95 }) => (
                <tr>
                  <th scope="row">{agent}</th>
                  <td>{calls}</td>
                  <td>{errors}</td>
                  <td>{duration(p50)}</td>
                  <td>{duration(p95)}</td>
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
        )}
      </section>
    </>
  );
}

const BAR = { width: 24, gap: 6, height: 120 };

function HourChart({ hours }: { hours: Hour[] }) {
  const most = Math.max(1, ...hours.map(({ success, error }) => success + error));
  const total = hours.reduce((all, { success, error }) => all + success + error, 0);
  const errors = hours.reduce((all, { error }) => all + error, 0);
  const step = BAR.width + BAR.gap;
  const tall = (count: number) => (count / most) * BAR.height;
  return (
    <>
      <svg
        class="chart"
        viewBox={`0 0 ${hours.length * step} ${BAR.height + 24}`}
        role="img"
        aria-label={`${total} calls, ${errors} failed; at most ${most} in one hour`}
      >
        {hours.map(({ start, success, error }, at) => (
          <g transform={`translate(${at * step} 0)`}>
            <rect class="track" y={0} width={BAR.width} height={BAR.height} rx={3} />
            <rect class="ok" y={BAR.height - tall(success)} width={BAR.width} height={tall(success)} />
            <rect class="err" y={BAR.height - tall(success + error)} width={BAR.width} height={tall(error)} />
            {at % 6 === 5 && (
              <text x={BAR.width / 2} y={BAR.height + 18} text-anchor="middle">
                {new Date(start).getHours()}:00
              </text>
            )}
          </g>
        ))}
      </svg>
      <p class="legend">
        <span class="key ok-key" /> succeeded <span class="key err-key" /> failed
      </p>
    </>
  );
}

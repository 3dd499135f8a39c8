/** Fleet: shows the devices and their response times, and tries their actions. A large home is searched, and shown in pages. */

import type { AgentView, SessionView } from "@edgecall/client/routes.ts";
import { counted } from "@edgecall/core/text/counted.ts";
import { useEffect, useState } from "preact/hooks";
import { Actions } from "./actions.tsx";
import { client, errorText } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Conditions, Readmit } from "./conditions.tsx";
import { Small } from "./controls.tsx";
import { Devices } from "./devices.tsx";
import { Problem, Screen, Skeleton, useLoaded } from "./load.tsx";
import { NewText } from "./new-text.tsx";
import { Pager, SearchBox } from "./pager.tsx";
import { Sure } from "./sure.tsx";
import { ago, duration } from "./times.ts";
import { AgentUpdate, Bridge } from "./update-program.tsx";
import { usePages } from "./use-pages.ts";

/** Cards on a page; each has some 25 elements. */
const SHOWN = 36;
const WORDS_MAX = 200;

export function Fleet({ session }: { session: SessionView }) {
  const [words, setText] = useState("");
  const [online, setOnline] = useState<"yes" | "no">();
  const filter = { q: words || undefined, online };
  const { value, problem, reload, paging } = usePages("GET /v1/agents", filter, SHOWN);
  const home = useLoaded("GET /v1/status");
  const look = () => {
    reload();
    home.reload();
  };
  const isFiltered = words !== "" || online !== undefined;
  const isLarge = (value?.total ?? 0) > SHOWN;
  const [searches, setSearches] = useState(false);
  useEffect(() => {
    // The box stays while it is used, however few are found.
    if (isLarge) setSearches(true);
  }, [isLarge]);
  const agents = isLarge || isFiltered ? value?.agents : value?.agents.toSorted(byPresence);
  const pages = paging(agents?.length ?? 0);
  const counts = home.value?.agents;
  return (
    <Screen
      title="Fleet"
      tools={
        <>
          {counts && (
            <span class="quiet">
              {counts.online.toLocaleString()} of {counts.known.toLocaleString()} online
            </span>
          )}
          <Small onClick={look}>Refresh</Small>
        </>
      }
    >
      <Problem text={problem ?? home.problem} />
      {!agents && !problem && <Skeleton lines={6} />}
      <Conditions of={home.value?.conditions} />
      {home.value && <Bridge status={home.value} session={session} look={home.reload} />}
      {searches && (
        <search class="row">
          <SearchBox label="Search devices" maxLength={WORDS_MAX} onText={setText} />
          <label>
            Show
            <select
              value={online ?? ""}
              onChange={({ currentTarget: { value } }) =>
                setOnline(value === "yes" || value === "no" ? value : undefined)
              }
            >
              <option value="">all devices</option>
              <option value="yes">online</option>
              <option value="no">offline</option>
            </select>
          </label>
          {isFiltered && value && (
            <span class="quiet" role="status">
              {value.total.toLocaleString()} found
            </span>
          )}
        </search>
      )}
      <Pager paging={pages} what="devices" />
      {agents?.length === 0 && isFiltered && <p class="empty">No device matches.</p>}
      {agents?.length === 0 && !isFiltered && (
        <p class="empty">No device has been seen yet. 'Add a device' below shows the command for one.</p>
      )}
      <div class="cards">
        {agents?.map((agent) => (
          <AgentCard
            key={agent.id}
            agent={agent}
            gateway={home.value?.version}
            session={session}
            look={look}
          />
        ))}
      </div>
      <Pager paging={pages} what="devices" isLast />
      {session.scopes?.includes("admin") && <Devices onJoined={look} />}
    </Screen>
  );
}

function byPresence(a: AgentView, b: AgentView): number {
  return Number(b.online) - Number(a.online) || (a.id < b.id ? -1 : 1);
}

type CardProps = {
  agent: AgentView;
  /** The gateway's version; undefined until it is known. */
  gateway: string | undefined;
  session: SessionView;
  look: () => void;
};

function AgentCard({ agent, gateway, session, look }: CardProps) {
  const [opened, setOpened] = useState(false);
  const { failed, attempt } = useAttempt();
  const mayCommand = session.scopes?.includes("command") ?? false;
  // A paired device cannot be removed before its key is revoked, below.
  const mayRemove = !agent.online && !agent.paired && (session.scopes?.includes("admin") ?? false);
  const remove = () =>
    attempt(async () => {
      await client.json("DELETE /v1/agents/{agent}", { path: { agent: agent.id } });
      look();
    });
  return (
    <article class={`card ${agent.online ? "online" : "offline"}`} aria-labelledby={`agent-${agent.id}`}>
      <header>
        <h2 id={`agent-${agent.id}`}>{agent.id}</h2>
        <span class={`state ${agent.online ? "online" : ""}`}>{agent.status}</span>
      </header>
      <p class="advert">{agent.capabilities}</p>
      <dl class="facts">
        <Fact name="Last seen" value={agent.online ? "now" : ago(agent.last_seen, Date.now())} />
        {agent.group !== undefined && <Fact name="Group" value={agent.group} />}
        <Fact name="Last used" value={ago(agent.last_active, Date.now())} />
        <Fact name="Version" value={agent.version ?? (agent.foreign ? "a foreign agent" : "unknown")} />
        <Fact name="Calls" value={countsOf(agent)} />
      </dl>
      {agent.conditions === undefined && !agent.online && agent.reason && <p class="quiet">{agent.reason}</p>}
      <Conditions of={agent.conditions} />
      <Readmit agent={agent} session={session} look={look} />
      {agent.hosted && (
        <p class="quiet">
          A device of the broker:{" "}
          <a href={`#/devices/${agent.id}`}>what {agent.id} reports, and what is allowed</a>
        </p>
      )}
      <NewText agent={agent} session={session} look={look} />
      {mayCommand && (
        <div class="row">
          <Ping agent={agent.id} disabled={!agent.online} />
          {agent.actions.length > 0 && (
            <Small aria-expanded={opened} onClick={() => setOpened(!opened)}>
              {opened ? "Close" : counted(agent.actions.length, "action")}
            </Small>
          )}
        </div>
      )}
      {mayRemove && (
        <div class="row">
          <Sure label="Remove" about={agent.id} onSure={() => void remove()} />
        </div>
      )}
      <Problem text={failed} />
      {mayCommand && gateway !== undefined && (
        <AgentUpdate agent={agent} gateway={gateway} session={session} onDone={look} />
      )}
      {opened && <Actions agent={agent} session={session} />}
    </article>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function countsOf({ counts }: AgentView): string {
  const { calls, error, open } = counts;
  return [`${calls}`, error > 0 && `${error} failed`, open > 0 && `${open} open`].filter(Boolean).join(", ");
}

function Ping({ agent, disabled }: { agent: string; disabled: boolean }) {
  const [text, setText] = useState("");
  const [asking, setAsking] = useState(false);
  async function ping() {
    setAsking(true);
    const began = performance.now();
    try {
      const reply = await client.json("POST /v1/agents/{agent}/commands", {
        path: { agent },
        body: { command: "ping" },
      });
      const there = performance.now() - began;
      setText(
        "status" in reply
          ? "no answer within 25 s"
          : `${duration(there)} round trip, ${duration(reply.elapsed_ms)} of it from the gateway`,
      );
    } catch (error) {
      setText(errorText(error));
    }
    setAsking(false);
  }
  return (
    <>
      <Small disabled={disabled || asking} onClick={() => ping()}>
        {asking ? "Asking…" : "Ping"}
      </Small>
      <output class="quiet">{text}</output>
    </>
  );
}

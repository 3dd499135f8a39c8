/** Lends agents to other homes, and borrows theirs. For owners. */
import type { BorrowedView, GrantScope, LentView } from "@edgecall/client/routes.ts";
import { useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import { type Attempt, useAttempt } from "./attempt.ts";
import { Check, Field, Form, Panel, Select, Small } from "./controls.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Problem, Skeleton, useLoaded } from "./load.tsx";
import { Pre } from "./markdown-view.tsx";
import { ScopeBoxes } from "./scope-boxes.tsx";
import { Sure } from "./sure.tsx";
import { ago, endOf } from "./times.ts";

const SCOPES: Record<GrantScope, string> = { ask: "ask questions in words", command: "call actions by name" };
const GRANT_SCOPES = Object.keys(SCOPES) as GrantScope[];
const DAYS = [1, 7, 30, 90, 365];

export function Lending() {
  const { value, problem, reload } = useLoaded("GET /v1/lending");
  const { failed, attempt } = useAttempt(reload);
  return (
    <>
      <Panel id="lending" title="Lending">
        <p class="quiet">
          People of another home may use the agents that you lend. They see nothing else of your home. What is
          not a read waits for an approval here.
        </p>
        <Problem text={problem ?? failed} />
        {!value && !problem && <Skeleton lines={3} />}
        {value?.lent.length === 0 && <p class="quiet">Nothing is lent.</p>}
        {value?.lent.map((one) => (
          <Lent key={one.id} one={one} attempt={attempt} />
        ))}
        <NewLending onMade={reload} />
      </Panel>
      <Panel id="borrowing" title="Borrowing">
        {value?.borrowed.length === 0 && <p class="quiet">Nothing is borrowed.</p>}
        {value?.borrowed.map((one) => (
          <Borrowed key={one.name} one={one} attempt={attempt} />
        ))}
        <NewBorrowing onMade={reload} />
      </Panel>
    </>
  );
}

function Lent({ one, attempt }: { one: LentView; attempt: Attempt }) {
  const counts = one.state === "offered" || one.state === "lent";
  return (
    <div class="row">
      <span>
        <strong>{one.label}</strong> {one.agents.join(", ")}; {termsOf(one)}
        <small> {factsOf(one, Date.now())}</small>
      </span>
      {counts && (
        <Sure
          label="Take back"
          about={`what ${one.label} may use`}
          note="Calls that are running are stopped."
          onSure={() =>
            void attempt(() => client.json("DELETE /v1/lending/{grant}", { path: { grant: one.id } }))
          }
        />
      )}
    </div>
  );
}

function termsOf({ scopes, reads_only }: Pick<LentView, "scopes" | "reads_only">): string {
  const may = scopes.map((scope) => SCOPES[scope]).join(", ");
  return `may ${may}${reads_only ? ", reads only" : ""}`;
}

const STATES: Record<LentView["state"], string> = {
  offered: "the invitation was not used yet",
  lent: "lent",
  expired: "expired",
  revoked: "taken back",
};

function factsOf({ state, made_by, made_at, used_at, expires_at }: LentView, now: number): string {
  const facts = [STATES[state], `made by ${made_by} ${ago(made_at, now)}`];
  if (used_at !== null) facts.push(`used ${ago(used_at, now)}`);
  if (state === "offered" || state === "lent") facts.push(endOf(expires_at, now));
  return facts.join(", ");
}

function NewLending({ onMade }: { onMade: () => void }) {
  const [label, setLabel] = useState("");
  const [agents, setAgents] = useState("");
  const [scopes, setScopes] = useState<GrantScope[]>(["ask", "command"]);
  const [readsOnly, setReadsOnly] = useState(true);
  const [days, setDays] = useState("30");
  const [made, setMade] = useState<{ label: string; invitation: string }>();
  const { failed, attempt } = useAttempt();
  const shown = useRef<HTMLDivElement>(null);

  const make = () =>
    attempt(async () => {
      // An older invitation could be mistaken for the new one.
      setMade(undefined);
      const body = {
        label: label.trim(),
        agents: agents.split(/[\s,]+/).filter((id) => id !== ""),
        scopes,
        reads_only: readsOnly,
        expires_in_days: Number(days),
      };
      const { invitation } = await client.json("POST /v1/lending", { body });
      setMade({ label: body.label, invitation });
      setLabel("");
      setAgents("");
      onMade();
      shown.current?.scrollIntoView({ block: "nearest" });
    });

  return (
    <Form class="list" aria-label="Lend agents" onSend={make}>
      <h3>Lend agents</h3>
      <div class="row">
        <Field label="Name of the other home" required maxLength={64} value={label} onValue={setLabel} />
        <Field label="Agents" required placeholder="lathe, press" value={agents} onValue={setAgents} />
        <Select label="Ends" value={days} onChoose={setDays}>
          {DAYS.map((count) => (
            <option value={count}>in {count === 1 ? "a day" : `${count} days`}</option>
          ))}
        </Select>
      </div>
      <fieldset>
        <legend>Its people may</legend>
        <ScopeBoxes
          offered={GRANT_SCOPES.map((scope) => ({ scope, name: SCOPES[scope] }))}
          scopes={scopes}
          onChange={setScopes}
        />
        <Check checked={readsOnly} onCheck={setReadsOnly}>
          <span>only what reads</span>
        </Check>
      </fieldset>
      <div class="row">
        <button type="submit" disabled={scopes.length === 0}>
          Make the invitation
        </button>
      </div>
      <Problem text={failed} />
      <div ref={shown} role="status" class="list">
        {made && (
          <>
            <p>
              The invitation for <strong>{made.label}</strong>. Give it to an owner of that home within a day.
              It can be used once, and is not shown again.
            </p>
            <Pre text={made.invitation} label="the invitation" />
            <CopyButton text={made.invitation} label="Copy the invitation" />
          </>
        )}
      </div>
    </Form>
  );
}

function Borrowed({ one, attempt }: { one: BorrowedView; attempt: Attempt }) {
  const path = { name: one.name };
  const isNew = one.agents.some((agent) => agent.new_text);
  return (
    <div class="row">
      <span>
        <strong>{one.name}</strong> from {one.url ?? "a home of this gateway"}; {termsOf(one)}
        <small>
          {" "}
          borrowed by {one.by} {ago(one.at, Date.now())}, seen {ago(one.seen_at, Date.now())},{" "}
          {endOf(one.expires_at, Date.now())}
        </small>
        {one.problem !== null && <small class="bad"> {one.problem}</small>}
        {one.agents.map(({ id, online, line, actions }) => (
          <div key={id}>
            <code>{id}</code> {online ? "online" : "offline"}: {line}
            {actions.length > 0 && <small> {actions.join(", ")}</small>}
          </div>
        ))}
      </span>
      {isNew && (
        <Small
          aria-label={`Accept the new words of ${one.name}`}
          onClick={() => attempt(() => client.json("POST /v1/borrowing/{name}/accept-text", { path }))}
        >
          Accept the new words
        </Small>
      )}
      <Sure
        label="Give back"
        about={one.name}
        note="Calls that are running are stopped."
        onSure={() => void attempt(() => client.json("DELETE /v1/borrowing/{name}", { path }))}
      />
    </div>
  );
}

/** Reads the lender out of an invitation, so that an owner sees whom they ask; undefined: it is no invitation. */
function lenderOf(invitation: string): string | undefined {
  try {
    const text = invitation.trim().replace(/^ecl_/, "").replaceAll("-", "+").replaceAll("_", "/");
    const { url, home } = JSON.parse(atob(text)) as { url?: string; home?: string };
    return url && home ? `home '${home}' at ${url}` : undefined;
  } catch {
    return undefined;
  }
}

function NewBorrowing({ onMade }: { onMade: () => void }) {
  const [invitation, setInvitation] = useState("");
  const [name, setName] = useState("");
  const [said, setSaid] = useState<string>();
  const { failed, busy, attempt } = useAttempt();

  const borrow = () =>
    attempt(async () => {
      setSaid(undefined);
      const body = { invitation: invitation.trim(), name };
      const { borrowed } = await client.json("POST /v1/borrowing", { body });
      setSaid(`Borrowed: ${borrowed.agents.map(({ id }) => id).join(", ")}.`);
      setInvitation("");
      setName("");
      onMade();
    });

  const lender = lenderOf(invitation);
  return (
    <Form class="list" aria-label="Borrow agents" onSend={borrow}>
      <h3>Borrow agents</h3>
      <div class="row">
        <Field
          label="Invitation"
          required
          autocomplete="off"
          placeholder="ecl_…"
          value={invitation}
          onValue={setInvitation}
        />
        <Field
          label="Call that home"
          required
          pattern="[a-z0-9][a-z0-9\-]{0,62}"
          title="a-z, 0-9 and -"
          placeholder="work"
          value={name}
          onValue={setName}
        />
      </div>
      {lender && <p class="quiet">It is from {lender}. Your gateway tells that one its own address.</p>}
      <div class="row">
        <button type="submit" disabled={busy}>
          Borrow
        </button>
      </div>
      <Problem text={failed} />
      <output class="quiet">{said}</output>
    </Form>
  );
}

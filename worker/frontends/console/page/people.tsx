/** People of the chat apps: those waiting to be let in, and those let in by a code. */
import { useState } from "preact/hooks";
import { send, wordsOf } from "./api.ts";
import { Problem, useLoaded } from "./load.tsx";
import { Pager, useSlice } from "./pager.tsx";
import { ago } from "./times.ts";

type Sender = { channel: string; connection: string; sender: string; name: string };
type People = {
  pairings: Array<Sender & { code: string; asked_at: number }>;
  senders: Array<Sender & { role: string; approved_by: string; approved_at: number }>;
};

/** The role with the fewest rights first, so that a person let in by mistake can do little. */
const ROLES = ["guest", "member", "owner"];
/** People on a page. */
const SHOWN = 25;

export function PeopleList() {
  const { value, problem, reload } = useLoaded<People>("/v1/senders/requests");
  const { slice, paging } = useSlice(value?.senders ?? [], SHOWN);
  const [failed, setFailed] = useState<string>();

  async function change(path: string, method: string, body?: object) {
    try {
      await send(path, { method, ...(body && { body }) });
      setFailed(undefined);
    } catch (error) {
      setFailed(wordsOf(error));
    }
    reload();
  }

  return (
    <section class="panel" aria-labelledby="people">
      <h2 id="people">People waiting to be let in</h2>
      <Problem text={problem ?? failed} />
      {value?.pairings.length === 0 && (
        <p class="quiet">
          Nobody is waiting. An unknown person who writes to a bot gets a code and is listed here.
        </p>
      )}
      {value?.pairings.map((one) => (
        <Waiting key={one.code} one={one} change={change} />
      ))}
      {value && value.senders.length > 0 && <h2>Let in by a code</h2>}
      <Pager paging={paging} what="people" />
      {slice.map((one) => (
        <div key={addressOf(one)} class="row">
          <span>
            <strong>{one.name || one.sender}</strong> over {one.channel} ({one.connection}), {one.role}
            <small>
              {" "}
              by {one.approved_by}, {ago(one.approved_at, Date.now())}
            </small>
          </span>
          <button
            type="button"
            class="small bad"
            aria-label={`Remove ${one.name || one.sender}`}
            onClick={() => void change(`/v1/senders/${addressOf(one)}`, "DELETE")}
          >
            Remove
          </button>
        </div>
      ))}
    </section>
  );
}

type Change = (path: string, method: string, body?: object) => Promise<void>;

function Waiting({ one, change }: { one: People["pairings"][number]; change: Change }) {
  const [role, setRole] = useState(ROLES[0] ?? "");
  const name = one.name || one.sender;
  return (
    <div class="row">
      <span>
        <strong>{name}</strong> over {one.channel} ({one.connection}), code <code>{one.code}</code>
        <small> {ago(one.asked_at, Date.now())}</small>
      </span>
      <select
        aria-label={`Role of ${name}`}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value)}
      >
        {ROLES.map((known) => (
          <option value={known}>{known}</option>
        ))}
      </select>
      <button
        type="button"
        class="small good"
        aria-label={`Let ${name} in`}
        onClick={() => void change(`/v1/senders/requests/${one.code}`, "POST", { role })}
      >
        Let in
      </button>
      <button
        type="button"
        class="small bad"
        aria-label={`Dismiss ${name}`}
        onClick={() => void change(`/v1/senders/requests/${one.code}`, "DELETE")}
      >
        Dismiss
      </button>
    </div>
  );
}

function addressOf({ channel, connection, sender }: Sender): string {
  return [channel, connection, sender].map(encodeURIComponent).join("/");
}

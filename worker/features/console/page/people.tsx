/** People of the chat apps: those waiting to be let in, and those let in by a code. */
import type { PairingRequest } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { type Attempt, useAttempt } from "./attempt.ts";
import { Panel, Small } from "./controls.tsx";
import { Problem, useLoaded } from "./load.tsx";
import { Pager, useSlice } from "./pager.tsx";
import { ago } from "./times.ts";
import { ROLES, type Role } from "./tokens.tsx";
import { useRepeated } from "./use-repeated.ts";

/** People on a page. */
const SHOWN = 25;

export function PeopleList() {
  const { value, problem, reload } = useLoaded("GET /v1/senders/requests");
  useRepeated(reload);
  const { slice, paging } = useSlice(value?.senders ?? [], SHOWN);
  const { failed, attempt } = useAttempt(reload);
  return (
    <Panel id="people" title="People waiting to be let in">
      <Problem text={problem ?? failed} />
      {value?.pairings.length === 0 && (
        <p class="quiet">
          Nobody is waiting. An unknown person who writes to a bot gets a code and is listed here.
        </p>
      )}
      {value?.pairings.map((one) => (
        <Waiting key={one.code} one={one} attempt={attempt} />
      ))}
      {value && value.senders.length > 0 && <h2>Let in by a code</h2>}
      <Pager paging={paging} what="people" />
      {slice.map(({ channel, connection, sender, ...one }) => (
        <div key={`${channel}/${connection}/${sender}`} class="row">
          <span>
            <strong>{one.name || sender}</strong> over {channel} ({connection}), {one.role}
            <small>
              {" "}
              by {one.approved_by}, {ago(one.approved_at, Date.now())}
            </small>
          </span>
          <Small
            kind="bad"
            aria-label={`Remove ${one.name || sender}`}
            onClick={() =>
              attempt(() =>
                client.json("DELETE /v1/senders/{channel}/{connection}/{sender}", {
                  path: { channel, connection, sender },
                }),
              )
            }
          >
            Remove
          </Small>
        </div>
      ))}
    </Panel>
  );
}

function Waiting({ one, attempt }: { one: PairingRequest; attempt: Attempt }) {
  // A person who is let in by mistake can do little.
  const [role, setRole] = useState<Role>("guest");
  const name = one.name || one.sender;
  const request = { path: { code: one.code } };
  return (
    <div class="row">
      <span>
        <strong>{name}</strong> over {one.channel} ({one.connection}), code <code>{one.code}</code>
        <small> {ago(one.asked_at, Date.now())}</small>
      </span>
      <select
        aria-label={`Role of ${name}`}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as Role)}
      >
        {ROLES.map((known) => (
          <option value={known}>{known}</option>
        ))}
      </select>
      <Small
        kind="good"
        aria-label={`Let ${name} in`}
        onClick={() =>
          attempt(() => client.json("POST /v1/senders/requests/{code}", { ...request, body: { role } }))
        }
      >
        Let in
      </Small>
      <Small
        kind="bad"
        aria-label={`Dismiss ${name}`}
        onClick={() => attempt(() => client.json("DELETE /v1/senders/requests/{code}", request))}
      >
        Dismiss
      </Small>
    </div>
  );
}

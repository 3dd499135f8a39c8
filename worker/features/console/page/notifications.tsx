/** Where the person is told what rules say when no page is open: this browser (Web Push), and topics of ntfy. */
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Problem, useLoaded } from "./load.tsx";
import { subscribe } from "./service-worker.ts";
import { ago } from "./times.ts";

export function Notifications() {
  const { value, problem, reload } = useLoaded("GET /v1/push");
  const { failed, busy, attempt } = useAttempt(reload);
  const [url, setUrl] = useState("");
  const [token, setToken] = useState("");
  const addTopic = async () => {
    await client.json("POST /v1/push/topics", { body: { url, ...(token && { token }) } });
    setUrl("");
    setToken("");
  };
  return (
    <section class="panel" aria-labelledby="notifications">
      <h2 id="notifications">Notifications</h2>
      <p class="quiet">Your rules also speak here, when no page is open.</p>
      <Problem text={problem ?? failed} />
      {value?.outlets.map(({ id, name, made_at, problem: fault }) => (
        <div key={id} class="row">
          <span>
            <strong>{name}</strong>
            <small>
              {" "}
              since {ago(made_at, Date.now())}
              {fault !== null && `; not delivered: ${fault}`}
            </small>
          </span>
          <button
            type="button"
            class="small bad"
            aria-label={`Remove ${name}`}
            onClick={() =>
              void attempt(() => client.json("DELETE /v1/push/{outlet}", { path: { outlet: id } }))
            }
          >
            Remove
          </button>
        </div>
      ))}
      {value && (
        <button
          type="button"
          class="small good"
          disabled={busy}
          onClick={() => void attempt(() => subscribe(value.public_key))}
        >
          Turn on in this browser
        </button>
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(addTopic);
        }}
      >
        <label>
          Topic of ntfy
          <input
            type="url"
            required
            placeholder="https://ntfy.sh/my-topic"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </label>
        <label>
          Access token, if it wants one
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="small" disabled={busy}>
          Add
        </button>
      </form>
    </section>
  );
}

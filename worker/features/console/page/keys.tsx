/** The keys of devices: replacing one, and revoking it. For administrators. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { useEffect, useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Panel, Small } from "./controls.tsx";
import { Joining } from "./joining.tsx";
import { Problem } from "./load.tsx";
import { Pager, SearchBox } from "./pager.tsx";
import { Sure } from "./sure.tsx";
import { ago } from "./times.ts";
import { usePages } from "./use-pages.ts";

/** Keys on a page. */
const SHOWN = 25;
const WORDS_MAX = 200;

export function Keys() {
  const [code, setCode] = useState<AnswerOf<"POST /v1/device-codes">>();
  const [words, setText] = useState("");
  const { value, problem, reload, paging } = usePages("GET /v1/keys", { q: words || undefined }, SHOWN);
  const [searches, setSearches] = useState(false);
  const isLarge = (value?.total ?? 0) > SHOWN;
  useEffect(() => {
    if (isLarge) setSearches(true);
  }, [isLarge]);
  const { failed, attempt } = useAttempt(reload);
  const revoke = (agent: string) =>
    attempt(() => client.json("DELETE /v1/agents/{agent}/key", { path: { agent } }));

  const replace = (agent: string) =>
    attempt(async () => {
      // An older code could be mistaken for the new one.
      setCode(undefined);
      setCode(await client.json("POST /v1/device-codes", { body: { agent } }));
    });

  return (
    <Panel id="keys" title="Keys of devices">
      <Problem text={problem ?? failed} />
      {code && <Joining key={code.code} code={code} onJoined={reload} />}
      {searches && (
        <search class="row">
          <SearchBox label="Search keys" maxLength={WORDS_MAX} onText={setText} />
        </search>
      )}
      <Pager paging={paging(value?.keys.length ?? 0)} what="keys" />
      {value?.keys
        .toSorted((a, b) => (a.revoked_at ?? 0) - (b.revoked_at ?? 0))
        .map(({ agent, fingerprint, enrolled_at, revoked_at }) => (
          <div key={agent} class="row">
            <span>
              <strong>{agent}</strong> <code>{fingerprint}</code>
              <small>
                {" "}
                {revoked_at === null
                  ? `paired ${ago(enrolled_at, Date.now())}`
                  : `revoked ${ago(revoked_at, Date.now())}`}
              </small>
            </span>
            <Small aria-label={`Replace the key of ${agent}`} onClick={() => replace(agent)}>
              Replace
            </Small>
            {revoked_at === null && (
              <Sure label="Revoke" about={`the key of ${agent}`} onSure={() => void revoke(agent)} />
            )}
          </div>
        ))}
    </Panel>
  );
}

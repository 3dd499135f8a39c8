/** Setup: how other programs connect to this home, and the state of the bridge and the chat apps. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { SessionView } from "@edgecall/client/routes.ts";
import { languageNames } from "@edgecall/core/text/languages.ts";
import { useState } from "preact/hooks";
import { betaText } from "./beta-languages.ts";
import { ChatApps } from "./chat-apps.tsx";
import { Panel, Select, Small } from "./controls.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Lending } from "./lending.tsx";
import { Problem, Screen, Skeleton, useLoaded } from "./load.tsx";
import { Pre } from "./markdown-view.tsx";
import { PeopleList } from "./people.tsx";
import { Programs } from "./programs.tsx";
import { SNIPPETS } from "./snippets.ts";
import { ago } from "./times.ts";
import { Tokens } from "./tokens.tsx";

export function Setup({ session }: { session: SessionView }) {
  const { value, problem, reload } = useLoaded("GET /v1/status");
  return (
    <Screen title="Setup" tools={<Small onClick={reload}>Refresh</Small>}>
      <Problem text={problem} />
      {value ? <Gateway status={value} session={session} /> : !problem && <Skeleton lines={4} />}
      <Programs session={session} />
      {session.scopes?.includes("admin") ? (
        <>
          <PeopleList />
          <ChatApps home={session.home ?? ""} />
          <Tokens session={session} />
          {session.role === "owner" && <Lending />}
        </>
      ) : (
        <p class="quiet">
          Chat apps, tokens and people waiting to be let in need a token with the scope 'admin'.
        </p>
      )}
      <Snippets />
    </Screen>
  );
}

type Status = AnswerOf<"GET /v1/status">;

/** Says that there are more agents than a home can have. */
function overText({ max, over }: Status["agents"]): string {
  return over === undefined ? "" : `; at least ${over} more are not listed, since a home has at most ${max}`;
}

function Gateway({ status, session }: { status: Status; session: SessionView }) {
  const { bridge } = status;
  const facts = [
    ["Gateway", `version ${status.version}, home '${status.home}'`],
    [
      "Bridge",
      bridge.online
        ? `online${bridge.id ? ` (${bridge.id}, ${bridge.version})` : ""}`
        : `offline, last seen ${ago(bridge.last_seen, Date.now())}; ${bridge.problem ?? "start it at home with: npm run bridge"}`,
    ],
    ["Agents", `${status.agents.online} of ${status.agents.known} online${overText(status.agents)}`],
    ["Plain sentences", `${languageNames().reviewed.join(", ")}. ${betaText()}`],
    ["You", `${session.name}, ${session.role}; may ${session.scopes?.join(", ")}`],
  ];
  return (
    <Panel id="gateway" title="This gateway">
      <dl class="facts wide-facts">
        {facts.map(([name, text]) => (
          <div>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Snippets() {
  const [chosen, setChosen] = useState(SNIPPETS[0]?.name ?? "");
  const snippet = SNIPPETS.find(({ name }) => name === chosen);
  const text = snippet?.text(location.origin) ?? "";
  return (
    <Panel id="clients" title="Connect a client">
      <div class="row">
        <Select label="Client" value={chosen} onChoose={setChosen}>
          {SNIPPETS.map(({ name }) => (
            <option value={name}>{name}</option>
          ))}
        </Select>
        <CopyButton text={text} />
      </div>
      <p class="quiet">{snippet?.about}</p>
      <Pre text={text} label={`settings for ${chosen}`} />
      {snippet?.link && (
        <p>
          <a href={snippet.link(location.origin)}>Open {chosen} with it</a>
        </p>
      )}
    </Panel>
  );
}

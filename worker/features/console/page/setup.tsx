/** Setup: an index, and one task a page: how people, programs and other homes connect to this one, and what it uses. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { SessionView } from "@edgecall/client/routes.ts";
import { languageNames } from "@edgecall/core/text/languages.ts";
import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { addressOfPlace } from "./address.ts";
import { betaText } from "./beta-languages.ts";
import { ChatApps } from "./chat-apps.tsx";
import { Conditions } from "./conditions.tsx";
import { Panel, Select } from "./controls.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Keys } from "./keys.tsx";
import { LanguageChoice } from "./language-choice.tsx";
import { lazyPart, type ScreenProps } from "./lazy.tsx";
import { Problem, Screen, Skeleton, useLoaded } from "./load.tsx";
import { Pre } from "./markdown-view.tsx";
import { Metrics } from "./metrics.tsx";
import { Notifications } from "./notifications.tsx";
import type { IconName } from "./parts/icon-paths.ts";
import { LinkLine } from "./parts/parts.tsx";
import { Passkeys } from "./passkeys.tsx";
import { PeopleList } from "./people.tsx";
import { Programs } from "./programs.tsx";
import { SNIPPETS } from "./snippets.ts";
import { ago } from "./times.ts";
import { Tokens } from "./tokens.tsx";
import { Bridge } from "./update-program.tsx";

type Task = {
  id: string;
  icon: IconName;
  title: string;
  about: string;
  /** Absent: for everybody. */
  for?: "admin" | "owner";
  /** Its heading stands in it, unless it names itself. */
  namesItself?: true;
  page: (session: SessionView) => ComponentChildren;
};

const TASKS: readonly Task[] = [
  {
    ...{ id: "gateway", icon: "home", title: "This gateway", about: "Its version, its bridge, and you" },
    page: (session) => <Gateway session={session} />,
  },
  {
    ...{
      id: "profile",
      icon: "check",
      title: "What it may do",
      about: "Only look, ask you, or let trusted devices act",
      for: "owner",
    },
    page: () => <Profiles />,
  },
  {
    ...{
      id: "permissions",
      icon: "shield",
      title: "Permissions",
      about: "What asks no more, for whom and until when",
    },
    page: () => <Permissions />,
  },
  {
    ...{ id: "people", icon: "person", title: "People and chat apps", for: "admin" },
    about: "Telegram, Slack and others, and who waits to be let in",
    page: ({ home = "" }) => (
      <>
        <PeopleList />
        <ChatApps home={home} />
      </>
    ),
  },
  {
    ...{
      id: "passkeys",
      icon: "person",
      title: "Passkeys",
      about: "Your fingerprint, face or PIN for what is dangerous",
    },
    page: (session) => <Passkeys session={session} />,
  },
  {
    ...{ id: "programs", icon: "globe", title: "Connected programs", about: "ChatGPT, Claude and others" },
    page: (session) => <Programs session={session} />,
  },
  {
    ...{
      id: "model",
      icon: "rules",
      title: "Model",
      about: "Which one answers, its key, and a trial of it",
      for: "owner",
    },
    page: () => <ModelCard />,
  },
  {
    ...{
      id: "home-assistant",
      icon: "home",
      title: "Home Assistant",
      about: "Its devices beside those of the broker",
      for: "admin",
    },
    page: () => <HomeAssistantCard />,
  },
  {
    ...{
      id: "clients",
      icon: "rules",
      title: "Connect a client",
      about: "Settings to paste, for each program",
    },
    page: () => <Snippets />,
  },
  {
    ...{
      id: "notifications",
      icon: "bell",
      title: "Notifications",
      about: "This browser, and topics of ntfy",
    },
    page: () => <Notifications />,
  },
  {
    ...{ id: "tokens", icon: "lock", title: "Tokens", about: "For programs and people", for: "admin" },
    page: (session) => <Tokens session={session} />,
  },
  {
    ...{
      id: "keys",
      icon: "machine",
      title: "Keys of devices",
      about: "Replace or revoke one",
      for: "admin",
    },
    page: () => <Keys />,
  },
  {
    ...{
      id: "lending",
      icon: "devices",
      title: "Lending",
      about: "To other homes, and from them",
      for: "owner",
    },
    page: () => <Lending />,
  },
  {
    ...{
      id: "usage",
      icon: "gauge",
      title: "Use and cost",
      about: "Calls, times, errors, models and budgets",
    },
    namesItself: true,
    page: (session) => <Metrics session={session} />,
  },
  {
    ...{ id: "language", icon: "chats", title: "Language", about: "Of Home and Devices in this browser" },
    page: () => <LanguageChoice />,
  },
];

const Lending = lazyPart(async () => (await import("./lending.tsx")).Lending);
const Permissions = lazyPart(async () => (await import("./permissions.tsx")).Permissions);
const Profiles = lazyPart(async () => (await import("./profiles.tsx")).Profiles);
const ModelCard = lazyPart(async () => (await import("./model-card.tsx")).ModelCard);
const HomeAssistantCard = lazyPart(async () => (await import("./home-assistant.tsx")).HomeAssistantCard);

export function Setup({ session, item }: ScreenProps) {
  const tasks = TASKS.filter((task) => isFor(task, session));
  const task = tasks.find(({ id }) => id === item);
  if (task)
    return (
      <Screen title={task.namesItself ? task.title : "Setup"}>
        <p>
          <a href={addressOfPlace("setup")}>← All of Setup</a>
        </p>
        <Fragment key={task.id}>{task.page(session)}</Fragment>
      </Screen>
    );
  return (
    <Screen title="Setup">
      <ul class="card rows tasks">
        {tasks.map(({ id, icon, title, about }) => (
          <LinkLine key={id} icon={icon} title={title} second={about} href={addressOfPlace("setup", id)} />
        ))}
      </ul>
      {tasks.length < TASKS.length && (
        <p class="quiet">
          Chat apps, tokens and people waiting to be let in need a token with the scope 'admin'.
        </p>
      )}
    </Screen>
  );
}

function isFor(task: Task, { role, scopes }: SessionView): boolean {
  if (task.for === undefined) return true;
  return (scopes?.includes("admin") ?? false) && (task.for === "admin" || role === "owner");
}

type Status = AnswerOf<"GET /v1/status">;

/** Says that there are more agents than a home can have. */
function overText({ max, over }: Status["agents"]): string {
  return over === undefined ? "" : `; at least ${over} more are not listed, since a home has at most ${max}`;
}

function Gateway({ session }: { session: SessionView }) {
  const { value, problem, reload } = useLoaded("GET /v1/status");
  if (!value) return problem ? <Problem text={problem} /> : <Skeleton lines={4} />;
  return (
    <>
      <Problem text={problem} />
      <Conditions of={value.conditions} />
      <Facts status={value} session={session} />
      <Bridge status={value} session={session} look={reload} />
    </>
  );
}

function Facts({ status, session }: { status: Status; session: SessionView }) {
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
